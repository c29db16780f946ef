package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// Session is one run of the program.
type Session struct {
	Context context.Context
	Line    *CommandLine
	Console *Console
	Costs   *Costs
	ends    []func() // see AtEnd
	inputs  *inputSums

	Progress *Display

	Threads int
	Seed    int64
	debug   bool

	// For the message about an interruption: the state of the output, and the progress.
	OutputState string
	Reached     string

	Origin       *sides.Origin // origin of the graph, with the weights of edges that were learned from; nil: the run has no graph
	droppedLoops int64         // self loops of the input that the graph leaves out

	// Try runs other arguments without stdin and outputs and returns the error; nil: paste must not try them.
	Try     func(ctx context.Context, args []string) error
	Err     error // error of the command, set by Guard
	IsTrial bool  // this run is of Try, and must read tables even if its plan does not

	// Network connects this process with others that run the same command and share the rows of the graph.
	// Process 0 is the leader: it prints and writes files. The others are followers. Nil: the process is
	// alone.
	Network sparse.Network

	// Commands returns the commands of a call of a server that replace the usual commands; nil: the usual
	// commands.
	Commands func() []*cobra.Command

	server *Server    // has the open graphs; nil: the run is not a call
	kept   *keptGraph // the open graph that the arguments name; nil: none
}

// CommandLine is the command line of a run, and the mistakes in it, which are reported
// together.
type CommandLine struct {
	Context    context.Context // context of checks that read files
	Args       []string
	Command    *cobra.Command // nil before its flags are known
	problems   []Problem
	inputFiles []string // paths, also "" and "-", that side files of outputs must not replace
	Documents  bool     // a JSON document goes to stdout
}

// Console has the streams of a run: results and summaries go to stdout; progress, warnings and
// errors go to stderr.
type Console struct {
	name     string // beginning of lines on stderr
	Stdin    io.Reader
	Stdout   *output
	Stderr   io.Writer
	Started  time.Time
	progress *Display
	warning  sync.Mutex
	warnings []string
	locks    sync.Once // warns of a file system without locks

	// Flags of every command.
	JSON      bool
	quiet     bool
	showAs    string
	LogFormat string
}

// NewSession returns a run in one of the processes of a network, or in the only process if network is nil.
func NewSession(ctx context.Context, network sparse.Network, args []string, stdin io.Reader, stdout,
	stderr io.Writer) *Session {
	inputs := &inputSums{sums: map[string]textio.Sum{}}
	ctx = textio.WithSums(ctx, inputs.record)
	display := NewDisplay(stderr, "none", true, false) // until the flags are known
	run := &Session{
		inputs:  inputs,
		Context: ctx, Network: network, Line: &CommandLine{Context: ctx, Args: args}, Costs: new(Costs),
		Console: &Console{
			name: "heatwalk", Stdin: stdin, Stdout: &output{w: stdout}, Stderr: stderr,
			Started: time.Now(), progress: display,
		},
		Progress: display,
	}
	if run.IsFollower() {
		run.Console.Stdout.w = io.Discard
		run.Console.name = fmt.Sprintf("heatwalk: process %d of %d", network.Rank(), network.Size())
	}
	return run
}

// Guard runs the command, then the functions of AtEnd, the last one first, and returns the exit code.
func (run *Session) Guard(do func() error) (code int) {
	defer func() {
		if r := recover(); r != nil {
			code = run.fail(NewCrash(r))
		}
	}()
	err := func() error {
		defer func() {
			for _, end := range slices.Backward(run.ends) {
				end()
			}
		}()
		return do()
	}()
	run.Progress.Close()
	run.Err = cmp.Or(err, run.Console.Stdout.Err)
	return run.fail(run.Err)
}

// AtEnd calls end when the command ends, also after an error, a panic or a signal.
func (run *Session) AtEnd(end func()) {
	run.ends = append(run.ends, end)
}

// Prepare runs before every subcommand: it applies the flags of every command, and rejects empty names of
// files. A subcommand must check its own flags and then call JoinProblems.
func (run *Session) Prepare(cmd *cobra.Command) error {
	run.Line.Command = cmd
	run.Line.Documents = run.Console.JSON
	messages := run.Console.Stderr
	if run.IsFollower() {
		messages = io.Discard
	}
	run.Progress = NewDisplay(messages, run.Console.showAs, run.Console.quiet,
		run.Console.LogFormat == "json")
	run.Console.progress = run.Progress
	if IsTerminal(run.Console.Stdout.w) {
		run.Console.Stdout.progress = run.Progress
	}
	empty := false
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" { // for example a shell variable that is not set
			run.Line.MissingValue(f)
			empty = true
		}
	})
	if empty {
		return run.Line.JoinProblems()
	}
	if err := run.limitMemory(); err != nil {
		return err
	}
	if err := run.join(cmd); err != nil {
		return err
	}
	if run.Threads > 0 && !run.Costs.isShared {
		runtime.GOMAXPROCS(min(run.Threads, runtime.NumCPU()))
	}
	return nil
}

// JoinProblems returns all problems of the command line as one error, or nil. An interruption takes
// precedence, because it may have aborted a check.
func (line *CommandLine) JoinProblems() error {
	if line.Context.Err() != nil {
		return context.Cause(line.Context)
	}
	if len(line.problems) == 0 {
		return nil
	}
	return UsageErrors(line.problems)
}

// NewCommand returns a command and its options. Words in capitals in use are its arguments. own, which may be
// nil, checks the flags. If no problems are recorded, do is called with the first argument.
func NewCommand[O any](run *Session, use, short string,
	own func(*CommandLine, *O, []string),
	do func(*Session, *O, string) error) (*cobra.Command, *O, *FlagSet) {
	o := new(O)
	cmd := &cobra.Command{Use: use, Short: short, Args: run.Line.arguments(use)}
	flags := &FlagSet{FlagSet: cmd.Flags(), Line: run.Line}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		for i, arg := range args {
			if slices.Contains(stdinNames, arg) {
				args[i] = "-"
			}
		}
		run.Line.checkPaths(args)
		for _, check := range flags.checks {
			check(run.Line, args)
		}
		if own != nil {
			own(run.Line, o, args)
		}
		if err := run.Line.JoinProblems(); err != nil {
			return err
		}
		err := do(run, o, strings.Join(args[:min(1, len(args))], ""))
		if errors.Is(err, errPlanned) {
			return run.printPlan()
		}
		return err
	}
	return cmd, o, flags
}

// fail prints err, unless it is nil or printed already, and returns the exit code.
func (run *Session) fail(err error) int {
	if errors.Is(err, heatwalk.ErrFollower) {
		return Done
	}
	code := ExitCode(err)
	if code == Done {
		return code
	}
	run.Progress.Close()
	switch code {
	case Interrupted:
		err = run.interruption()
	case OverLimit:
		err = run.Costs.overLimit(err, run.smaller())
	}
	if run.IsFollower() {
		select {
		case <-run.Context.Done():
			return code
		case <-time.After(FollowerPause):
		}
	}
	pasted := run.paste(err)
	for _, r := range ErrorReports(run.Line.namedFlag(err)) {
		r.Code = code
		if fault := new(nodefile.ParseError); pasted != "" && errors.As(err, &fault) {
			r.addCommand(pasted, *fault)
			pasted = "" // it is for all problems
		}
		if c := new(Crash); run.debug && errors.As(err, &c) {
			r.Stack = string(c.Stack)
		}
		run.Console.printReport(r)
	}
	return code
}

// namedFlag adds the name of the flag to an error about a parameter. No flag can change a parameter of a
// saved model; the remedy is to learn another model.
func (line *CommandLine) namedFlag(err error) error {
	wrong := new(param.ParameterError)
	if line.Command == nil || !errors.As(err, &wrong) {
		return err
	}
	if model := line.Command.Flags().Lookup("model"); model != nil && model.Changed {
		what, _, _ := strings.Cut(wrong.Error(), "; ")
		return DataError(model.Value.String(), "%s; learn a model of this graph from its labels, with classify --save-model", what)
	}
	if line.Command.Flags().Lookup(wrong.Parameter) != nil {
		return err
	}
	for _, flag := range []string{"method", "kernel", "function", "learner"} {
		if line.Command.Flags().Lookup(flag) != nil {
			return UsageError("--"+flag, "%s", wrong.Error())
		}
	}
	return err
}

// smaller returns the flags that make a run smaller, as the end of a message.
func (run *Session) smaller() string {
	flags := run.Line.Command.Flags()
	effort, method := flags.Lookup("effort"), flags.Lookup("method")
	switch {
	case effort == nil || method == nil || effort.Value.String() == "low":
		return ""
	case method.Changed && method.Value.String() != "auto":
		return ", or pass --effort low in place of --method"
	}
	return ", or pass --effort low"
}

// overLimit adds a sufficient --max-memory, and the flags in smaller, to an error about the memory limit.
func (costs *Costs) overLimit(err error, smaller string) error {
	var (
		over  *budget.Error
		room  *ingest.LimitError
		what  string
		short int64
	)
	switch {
	case errors.As(err, &over):
		// The limit may be the limit of a part of the plan.
		short = over.Need - over.Limit
		// See [budget.Resident].
		what = over.Largest.What
		short += short/8 + 1
		if costs.planned != nil { // the data asks for optional memory, and may ask again
			what += " (" + words.Bytes(over.Largest.Bytes) + ")"
			short = max(short, budget.Resident(costs.planned.Enough())-costs.Memory)
		}
	case !errors.As(err, &room):
		return err
	case room.Dir == "":
		what = "the edges"
		short = budget.Resident(room.Need) - costs.Memory
	default:
		if parent, ours := durable.InTempDir(room.Dir); ours {
			return LimitError(parent, "temporary files may need %s, %s are free; make room, or name another disk with --temp-dir",
				words.Bytes(room.Need), words.Bytes(room.Limit))
		}
		return fmt.Errorf("%s: %s may need %s, %s are free; %s", room.Dir,
			room.What, words.Bytes(room.Need), words.Bytes(room.Limit), room.Fix)
	}
	limit := costs.Memory + costs.libraries
	enough := limit + short
	need := costs.limitWith(short)
	otherwise := ""
	if room != nil && room.Unordered {
		otherwise = ", or pass --order none"
	}
	if over != nil {
		otherwise = smaller
	}
	switch {
	case costs.limitedBy == system.AddressLimit && costs.Memory != costs.maxMemory:
		return LimitError(system.AddressLimit, "it leaves %s, too little for %s, which takes %s or more; raise it by %s%s",
			words.Bytes(limit), what, need,
			words.Bytes(enough-limit+enough/10), otherwise)
	case costs.maxMemory == 0:
		return LimitError("memory",
			"this machine has too little for %s; it takes %s or more%s", what,
			need, otherwise)
	}
	return LimitError("--max-memory",
		"%s is too little for %s; allow %s or more%s", words.Bytes(limit), what,
		need, otherwise)
}

// limitWith returns the memory limit with further resident bytes.
func (costs *Costs) limitWith(further int64) string {
	enough := costs.Memory + costs.libraries + further
	return words.Bytes(enough + enough/100) // because the printed number is rounded
}

// LimitWithData returns a memory limit with room for further bytes of data, see [budget.Resident].
func (costs *Costs) LimitWithData(further int64) string {
	return costs.limitWith(further + further/8 + 1)
}

// unsolved replaces the message of an iteration that did not converge, because that message counts steps and
// columns. LoosenTolerance is the remedy for kernels, and AnotherMethod for methods.
const (
	unsolved        = "systems of equations of this graph were not solved to their tolerance within the limit on steps"
	LoosenTolerance = "loosen --tolerance, or take parameters farther from the end of their range"
	AnotherMethod   = "take parameters farther from the end of their range, or another --method"
)

// GraphError adds the name of the graph and a remedy to an error about the weights or the direction of its edges, about
// processes that share its rows, or about an iteration. advice is the remedy for errors of rounding and convergence.
func (costs *Costs) GraphError(err error, graph, advice string) error {
	limited := new(problem.Error)
	isLimited := errors.As(err, &limited)
	switch {
	case errors.Is(err, kernel.ErrTolerance):
		return MachineError(nil, graph,
			"rounding errors are too large here; %s", advice)
	case errors.Is(err, kernel.ErrRange):
		return DataError(graph,
			"a value is out of the range of float64, because weights of edges are too large or too small; multiply all weights by a factor, or leave out the smallest")
	case isLimited && errors.Is(err, problem.ErrDirected):
		return RefuseDirected(graph, limited.Method, "--method=auto")
	case errors.Is(err, sparse.ErrDivided):
		what := "this method"
		if isLimited {
			what = limited.Method
		}
		return UsageError(graph,
			"%s needs all rows of the graph in one process; run heatwalk without mpirun, or take another --method", what)
	case isLimited:
		return MachineError(err, graph, unsolved+"; take another --method")
	case errors.Is(err, iterative.ErrIterationLimit):
		return MachineError(err, graph, "%s; %s", unsolved, advice)
	}
	return err
}

// ToleranceError is [Costs.GraphError] for a command with --tolerance. given is 0 without the flag.
func (costs *Costs) ToleranceError(err error, graph string, given float64) error {
	missed := new(kernel.ToleranceError)
	switch {
	case !errors.As(err, &missed):
		return costs.GraphError(err, graph, LoosenTolerance)
	case given != 0:
		return UsageError("--tolerance", "%v", err)
	case missed.Reached < 1:
		return MachineError(nil, graph,
			"rounding errors may exceed the default tolerance, %.2g; pass --tolerance %.2g", missed.Asked, missed.Reached)
	}
	return MachineError(nil, graph,
		"rounding errors may be as large as the values; take parameters farther from the end of their range")
}

func (run *Session) interruption() error {
	reached := cmp.Or(run.Reached, words.Seconds(time.Since(run.Console.Started)))
	if run.OutputState == "" {
		return fmt.Errorf("interrupted after %s", reached)
	}
	return fmt.Errorf("interrupted after %s; %s", reached, run.OutputState)
}

// IsFollower reports whether another process prints and writes files.
func (run *Session) IsFollower() bool {
	return run.Network != nil && run.Network.Rank() > 0
}

// FollowerPause is the time before a follower reports an error. If all processes fail alike, the leader reports it,
// and mpirun ends the followers during this time.
var FollowerPause = 3 * time.Second

// stdinError is the error of reading stdin, which mpirun connects only to the leader.
type stdinError struct{}

func (stdinError) Read([]byte) (int, error) {
	return 0, UsageError("-",
		"stdin reaches only one of several processes; give a file")
}

// join prepares a command that several processes run. It divides processors and memory among the processes of
// a host, and makes the limits equal in all processes, because they decide how blocks are cut. Commands
// that share no rows run only in the leader; followers get [heatwalk.ErrFollower].
func (run *Session) join(cmd *cobra.Command) error {
	if run.Network == nil {
		return nil
	}
	if err := run.sameCommand(); err != nil {
		return err
	}
	if !isShared(cmd) {
		if run.IsFollower() {
			return heatwalk.ErrFollower
		}
		run.Console.Note(fmt.Sprintf("%s runs in one of %d processes",
			strings.TrimPrefix(cmd.CommandPath(), "heatwalk "), run.Network.Size()))
		run.Network = nil
		return nil
	}
	if err := run.sameInputs(cmd); err != nil {
		return err
	}
	run.Console.Stdin = stdinError{}
	host, processors := placeOf()
	mine := []float64{float64(run.Costs.Memory), float64(runtime.NumCPU()), host,
		processors}
	table := make([]float64, run.Network.Size()*len(mine))
	run.Network.AllGather(table, mine)
	memory := int64(0)
	threads := math.MaxInt
	onHost := map[float64]int{}
	onProcessors := map[float64]int{}
	for row := range slices.Chunk(table, len(mine)) {
		onHost[row[2]]++
		onProcessors[row[3]]++
	}
	for row := range slices.Chunk(table, len(mine)) {
		share := int64(row[0])
		if run.Costs.maxMemory == 0 {
			share /= int64(onHost[row[2]])
		}
		if memory == 0 || share > 0 && share < memory {
			memory = share
		}
		threads = min(threads, max(1, int(row[1])/onProcessors[row[3]]))
	}
	if memory > 0 {
		memory = max(1, memory-libraryBytes)
		run.Costs.libraries = libraryBytes
	}
	run.Costs.Memory = memory
	if run.Threads == 0 {
		run.Threads = threads
	}
	run.Console.Note(fmt.Sprintf("%d processes, %s each", run.Network.Size(),
		words.Counted(min(run.Threads, runtime.NumCPU()), "thread")))
	return nil
}

// libraryBytes is the resident memory of the libraries that connect processes.
const libraryBytes = 64 << 20

// isShared reports whether several processes share the rows of the graph in a command with its flags.
func isShared(cmd *cobra.Command) bool {
	if f := cmd.Flags().Lookup("multi-label"); f != nil && f.Changed {
		return false
	}
	for cmd.HasParent() && cmd.Parent().HasParent() {
		cmd = cmd.Parent()
	}
	_, shared := cmd.Annotations[SharedRows]
	return shared
}

func Annotate(cmd *cobra.Command, mark string) {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[mark] = ""
}

// SharedRows marks the commands whose work several processes can share.
const SharedRows = "heatwalk shared rows"

// allowedProcessors matches the processors of this process in its status in Linux.
var allowedProcessors = regexp.MustCompile(`(?m)^Cpus_allowed_list:.*$`)

// placeOf returns numbers that differ between hosts, and between sets of processors to which
// processes are bound.
func placeOf() (host, processors float64) {
	sum := fnv.New32a()
	name, _ := os.Hostname() // without names, all processes count as one host
	sum.Write([]byte(name))
	host = float64(sum.Sum32())
	status, _ := os.ReadFile("/proc/self/status") // Linux has this file
	sum.Write(allowedProcessors.Find(status))
	return host, float64(sum.Sum32())
}

func NewGroup(name, short string) *cobra.Command {
	return &cobra.Command{Use: name, Short: short,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
}

func (run *Session) DeclareShared(flags *FlagSet) {
	NumberVar(flags, &run.Threads, "threads", 0, param.Range{Most: 4096}, "N",
		"number of threads (0: one a processor); never changes a result")
	flags.addSize(&run.Costs.maxMemory, "max-memory",
		"largest resident memory, 256MiB or more, such as 4GiB or 4G (= 4GB); auto names the stages that it leaves out to fit, and nothing else changes a result")
	flags.BoolVar(&run.Costs.DryRun, "dry-run", false,
		"print memory, disk and sweeps of the run, and end before it")
	NumberVar(flags, &run.Seed, "seed", 1, param.From(0), "N",
		"rng seed of splits, folds and random graphs")
	flags.BoolVar(&run.Console.JSON, "json", run.Console.JSON,
		"print one JSON document on stdout; errors as JSON on stderr")
	flags.BoolVar(&run.Console.quiet, "quiet", false,
		"print neither progress nor a closing summary")
	flags.AddChoice(&run.Console.showAs, "progress", "auto",
		[]string{"auto", "plain", "json", "none"},
		"progress on stderr; json: a line of JSON for each update, at most ten a second")
	flags.AddChoice(&run.Console.LogFormat, "log-format", "text", []string{"text", "json"},
		"warnings and errors on stderr")
	flags.BoolVar(&run.debug, "debug", false,
		"print the place of an internal error in the program")
}

// RefuseDirected returns the error for a directed graph in a computation called what. instead is a flag for
// an alternative, or "".
func RefuseDirected(graph, what, instead string) error {
	text := "is directed, and " + what +
		" needs an undirected graph; ingest with --undirected"
	if instead != "" {
		text += " or use " + instead
	}
	return UsageError(graph, "%s", text)
}

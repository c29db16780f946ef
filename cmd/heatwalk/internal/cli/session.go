package cli

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
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/progress"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// session is one run of the program. A function takes the part of it that it needs.
type session struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	line    *commandLine
	console *streams
	costs   *runCosts
	ends    []func() // see atEnd

	progress *progress.Display // that of the console

	threads  int
	seed     int64
	debug    bool
	untilEOF bool // the end of stdin interrupts the run

	// For the message about an interruption: the state of the output, and the progress.
	doing   string
	reached string

	droppedLoops int64 // self loops of the input that the graph leaves out

	// network connects this process with others that run the same command and share the
	// rows of the graph. Process 0 is the leader: it prints and writes files. The others
	// are followers. Nil: the process is alone.
	network sparse.Network
}

// commandLine is the command line of a run, and the mistakes in it, which are reported
// together.
type commandLine struct {
	ctx        context.Context // of checks that read files
	args       []string
	command    *cobra.Command // nil before its flags are known
	problems   []fault.Problem
	inputFiles []string // "" and "-" included; side files of outputs must not replace them
	documents  bool     // a JSON document goes to stdout
}

// streams are those of a run: results and summaries on stdout; progress, warnings and
// errors on stderr.
type streams struct {
	name     string // at the beginning of lines on stderr
	stdin    io.Reader
	stdout   *output
	stderr   io.Writer
	started  time.Time
	progress *progress.Display
	warning  sync.Mutex
	warnings []string  // printed so far
	locks    sync.Once // warns of a file system without locks

	// Flags of every command.
	json      bool
	quiet     bool
	showAs    string
	logFormat string
}

// runCosts are the limits of memory of a run, and its plan.
type runCosts struct {
	maxMemory int64  // 0 if not given
	memory    int64  // bytes to plan with; 0 if not known
	libraries int64  // further bytes, for the libraries that connect several processes
	limitedBy string // the limit of the machine
	timed     bool   // a benchmark: no limit of the heap, because collections would be timed

	estimating bool         // the run ends when it has been planned
	planned    *budget.Plan // of an estimated run
	ranks      int          // processes of an estimated run; 0: one, with all rows
	cut        *rankCost    // of these processes
	disk       int64        // bytes of the files of the run
	reading    budget.Item  // memory of reading the input, freed before the run computes
}

func newSession(ctx context.Context, args []string, stdin io.Reader, stdout,
	stderr io.Writer) *session {
	ctx, cancel := context.WithCancelCause(ctx)
	display := progress.New(stderr, "none", true, false) // until the flags are known
	return &session{
		ctx: ctx, cancel: cancel, line: &commandLine{ctx: ctx, args: args}, costs: new(runCosts),
		console: &streams{
			name: "heatwalk", stdin: stdin, stdout: &output{w: stdout}, stderr: stderr,
			started: time.Now(), progress: display,
		},
		progress: display,
	}
}

// guard runs the command, then the functions of atEnd, the last one first, and returns the exit code.
func guard(run *session, do func() error) (code int) {
	defer func() {
		if r := recover(); r != nil {
			code = fail(run, fault.CrashOf(r))
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
	run.progress.Close()
	return fail(run, cmp.Or(err, run.console.stdout.err))
}

// atEnd calls end when the command ends, also after an error, a panic or a signal.
func (run *session) atEnd(end func()) {
	run.ends = append(run.ends, end)
}

// prepare runs before every subcommand: it applies the flags of every command, and rejects
// empty names of files. A subcommand checks its own flags and then calls joinProblems.
func prepare(run *session, cmd *cobra.Command) error {
	run.line.command = cmd
	run.line.documents = run.console.json
	messages := run.console.stderr
	if run.isFollower() {
		messages = io.Discard
	}
	run.progress = progress.New(messages, run.console.showAs, run.console.quiet,
		run.console.logFormat == "json")
	run.console.progress = run.progress
	if progress.IsTerminal(run.console.stdout.w) {
		run.console.stdout.progress = run.progress
	}
	empty := false
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" { // for example a shell variable that is not set
			missingValue(run.line, f)
			empty = true
		}
		if slices.Contains(stdoutNames, f.Value.String()) {
			_ = f.Value.Set("-") // a string flag takes every text
		}
	})
	if empty {
		return run.line.joinProblems()
	}
	if run.untilEOF && !run.isFollower() {
		stopAtEOF(run)
	}
	if err := limitMemory(run); err != nil {
		return err
	}
	if err := join(run, cmd); err != nil {
		return err
	}
	if run.threads > 0 {
		runtime.GOMAXPROCS(min(run.threads, runtime.NumCPU()))
	}
	return nil
}

// stopAtEOF interrupts the run at the end of stdin, so that a program that holds the other end of a
// pipe leaves no run behind when it is killed. The run cannot read anything else from stdin.
func stopAtEOF(run *session) {
	stdin := run.console.stdin
	run.console.stdin = strings.NewReader("")
	go func() {
		_, _ = io.Copy(io.Discard, stdin) // an error ends it like the end
		run.cancel(fault.ErrInterrupted)
	}()
}

// stdoutNames are other names of stdout.
var stdoutNames = []string{"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}

// joinProblems returns all problems of the command line as one error, or nil. An interruption takes
// precedence, because it may have aborted a check.
func (line *commandLine) joinProblems() error {
	if line.ctx.Err() != nil {
		return context.Cause(line.ctx)
	}
	if len(line.problems) == 0 {
		return nil
	}
	return fault.UsageOf(line.problems)
}

// newCommand returns a command and its options. The words of its use in capitals are its arguments. do gets the
// first argument, and runs only if neither the groups of flags nor own, unless it is nil, have recorded problems.
func newCommand[O any](run *session, use, short string,
	own func(*commandLine, *O, []string),
	do func(*session, *O, string) error) (*cobra.Command, *O, *flagSet) {
	o := new(O)
	cmd := &cobra.Command{Use: use, Short: short, Args: argumentsOf(run.line, use)}
	flags := &flagSet{FlagSet: cmd.Flags(), line: run.line}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		checkPaths(run.line, args)
		for _, check := range flags.checks {
			check(run.line, args)
		}
		if own != nil {
			own(run.line, o, args)
		}
		if err := run.line.joinProblems(); err != nil {
			return err
		}
		return do(run, o, strings.Join(args[:min(1, len(args))], ""))
	}
	return cmd, o, flags
}

// fail prints err, unless it is nil or printed already, and returns the exit code.
func fail(run *session, err error) int {
	if errors.Is(err, heatwalk.ErrFollower) {
		return fault.Done
	}
	code := fault.Code(err)
	if code == fault.Done {
		return code
	}
	run.progress.Close()
	switch code {
	case fault.Interrupted:
		err = interruption(run)
	case fault.OverLimit:
		err = overLimit(run.costs, err)
	}
	if run.isFollower() {
		select {
		case <-run.ctx.Done():
			return code
		case <-time.After(followerPause):
		}
	}
	for _, r := range fault.Reports(namedFlag(run.line, err)) {
		r.Code = code
		if c := new(fault.Crash); run.debug && errors.As(err, &c) {
			r.Stack = string(c.Stack)
		}
		printReport(run.console, r)
	}
	return code
}

// namedFlag adds the flag that accepts a parameter to an error about the parameter.
func namedFlag(line *commandLine, err error) error {
	wrong := new(param.ParameterError)
	if line.command == nil || !errors.As(err, &wrong) ||
		line.command.Flags().Lookup(wrong.Parameter) != nil {
		return err
	}
	for _, flag := range []string{"method", "kernel", "function", "learner"} {
		if line.command.Flags().Lookup(flag) != nil {
			return fault.Usage("--"+flag, "%s", wrong.Error())
		}
	}
	return err
}

// overLimit adds a sufficient --max-memory to an error about the memory limit.
func overLimit(costs *runCosts, err error) error {
	var (
		over  *budget.Error
		room  *ingest.LimitError
		what  string
		short int64
	)
	switch {
	case errors.As(err, &over):
		// The limit may be that of a part.
		short = over.Need - over.Limit
		// see budget.Resident
		what = over.Largest.What
		short = short + short/8 + 1
	case !errors.As(err, &room):
		return err
	case room.Dir == "":
		what = "the edges"
		short = budget.Resident(room.Need) - costs.memory
	default:
		if parent, ours := durable.InTempDir(room.Dir); ours {
			return fault.Limit(parent, "temporary files may need %s, %s are free; make room, or name another disk with --temp-dir",
				words.Bytes(room.Need), words.Bytes(room.Limit))
		}
		return fmt.Errorf("%s: %s may need %s, %s are free; %s", room.Dir,
			room.What, words.Bytes(room.Need), words.Bytes(room.Limit), room.Fix)
	}
	limit := costs.memory + costs.libraries
	enough := limit + short
	need := words.Bytes(enough + enough/100) // because the printed number is rounded
	otherwise := ""
	if room != nil && room.Unordered {
		otherwise = ", or pass --order none"
	}
	if over != nil && over.Instead != "" {
		otherwise = ", or pass --method " + over.Instead
	}
	switch {
	case costs.limitedBy == system.AddressLimit && costs.memory != costs.maxMemory:
		return fault.Limit(system.AddressLimit, "it leaves %s, too little for %s, which takes %s or more; raise it by %s%s",
			words.Bytes(limit), what, need,
			words.Bytes(enough-limit+enough/10), otherwise)
	case costs.maxMemory == 0:
		return fault.Limit("memory",
			"this machine has too little for %s; it takes %s or more%s", what,
			need, otherwise)
	}
	return fault.Limit("--max-memory",
		"%s is too little for %s; allow %s or more%s", words.Bytes(limit), what,
		need, otherwise)
}

// unsolved replaces the message of an iteration that did not converge, which counts steps and columns.
// loosened is the remedy for a kernel, another the remedy for a method.
const (
	unsolved = "systems of equations of this graph were not solved to their tolerance within the limit on steps"
	loosened = "loosen --tolerance, or take parameters farther from the end of their range"
	another  = "take parameters farther from the end of their range, or another --method"
)

// graphError adds the name of the graph to an error about its direction, about processes that share its rows, or about
// an iteration that did not converge.
func graphError(costs *runCosts, err error, graph, advice string) error {
	limited := new(problem.Error)
	switch {
	case errors.Is(err, kernel.ErrTolerance):
		return fault.Machine(nil, graph,
			"rounding errors are too large here; %s", advice)
	case errors.Is(err, kernel.ErrRange):
		return fault.Data(graph,
			"a value is out of the range of float64, because weights of edges are too large or too small; multiply all weights by a factor, or leave out the smallest")
	case errors.As(err, &limited) && errors.Is(err, problem.ErrDirected):
		return asymmetric(graph, limited.Method, "--method=auto")
	case errors.Is(err, sparse.ErrDivided):
		what := "this method"
		if errors.As(err, &limited) {
			what = limited.Method
		}
		return fault.Usage(graph,
			"%s needs all rows of the graph in one process; run heatwalk without mpirun, or take another --method", what)
	case errors.As(err, &limited) && limited.Short > 0:
		return fault.Machine(err, graph, unsolved+"; allow --max-memory %s or more for a factor of the graph, or take another --method",
			words.Bytes(costs.memory+costs.libraries+limited.Short+limited.Short/4))
	case errors.As(err, &limited):
		return fault.Machine(err, graph, unsolved+"; take another --method")
	case errors.Is(err, iterative.ErrIterationLimit):
		return fault.Machine(err, graph, "%s; %s", unsolved, advice)
	}
	return err
}

// toleranceError is graphError for a command with --tolerance, which is given unless it is 0.
func toleranceError(costs *runCosts, err error, graph string, given float64) error {
	missed := new(kernel.ToleranceError)
	switch {
	case !errors.As(err, &missed):
		return graphError(costs, err, graph, loosened)
	case given != 0:
		return fault.Usage("--tolerance", "%v", err)
	case missed.Reached < 1:
		return fault.Machine(nil, graph,
			"rounding errors may exceed the default tolerance, %.2g; pass --tolerance %.2g", missed.Asked, missed.Reached)
	}
	return fault.Machine(nil, graph,
		"rounding errors may be as large as the values; take parameters farther from the end of their range")
}

// interruption returns the error of an interrupted run, with its progress and the state of its output.
func interruption(run *session) error {
	reached := cmp.Or(run.reached, words.Seconds(time.Since(run.console.started)))
	if run.doing == "" {
		return fmt.Errorf("interrupted after %s", reached)
	}
	return fmt.Errorf("interrupted after %s; %s", reached, run.doing)
}

// isFollower reports whether another process prints and writes files.
func (run *session) isFollower() bool {
	return run.network != nil && run.network.Rank() > 0
}

// followerPause is the time before a follower reports an error. If all processes fail alike, the leader reports it,
// and mpirun ends the followers during this time.
var followerPause = 3 * time.Second

// stdinError is the error of reading stdin, which mpirun connects only to the leader.
type stdinError struct{}

// Read implements [io.Reader].
func (stdinError) Read([]byte) (int, error) {
	return 0, fault.Usage("-",
		"stdin reaches only one of several processes; give a file")
}

// join prepares a command that several processes run. It divides processors and memory among the processes of
// a host, and makes the limits equal in all processes, because they decide how blocks are cut. Commands
// that share no rows run only in the leader; followers get [heatwalk.ErrFollower].
func join(run *session, cmd *cobra.Command) error {
	if run.network == nil {
		return nil
	}
	if err := sameCommand(run); err != nil {
		return err
	}
	if !isShared(cmd) {
		if run.isFollower() {
			return heatwalk.ErrFollower
		}
		run.console.note(fmt.Sprintf("%s runs in one of %d processes",
			strings.TrimPrefix(cmd.CommandPath(), "heatwalk "), run.network.Size()))
		run.network = nil
		return nil
	}
	if err := sameInputs(run, cmd); err != nil {
		return err
	}
	run.console.stdin = stdinError{}
	host, processors := placeOf()
	mine := []float64{float64(run.costs.memory), float64(runtime.NumCPU()), host,
		processors}
	table := make([]float64, run.network.Size()*len(mine))
	run.network.AllGather(table, mine)
	memory := int64(0)
	threads := math.MaxInt
	onHost := map[float64]int{} // numbers of processes
	onProcessors := map[float64]int{}
	for row := range slices.Chunk(table, len(mine)) {
		onHost[row[2]]++
		onProcessors[row[3]]++
	}
	for row := range slices.Chunk(table, len(mine)) {
		share := int64(row[0])
		if run.costs.maxMemory == 0 {
			share /= int64(onHost[row[2]])
		}
		if memory == 0 || share > 0 && share < memory {
			memory = share
		}
		threads = min(threads, max(1, int(row[1])/onProcessors[row[3]]))
	}
	if memory > 0 {
		memory = max(1, memory-libraryBytes)
		run.costs.libraries = libraryBytes
	}
	run.costs.memory = memory
	if run.threads == 0 {
		run.threads = threads
	}
	run.console.note(fmt.Sprintf("%d processes, %s each", run.network.Size(),
		words.Counted(min(run.threads, runtime.NumCPU()), "thread")))
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
	for _, c := range commands() {
		if c.name == cmd.Name() {
			return c.shared
		}
	}
	return false
}

// allowedProcessors matches the processors to which this process is bound, in its status in Linux.
var allowedProcessors = regexp.MustCompile(`(?m)^Cpus_allowed_list:.*$`)

// placeOf returns numbers that differ between hosts, and between sets of processors to which
// processes are bound.
func placeOf() (host, processors float64) {
	sum := fnv.New32a()
	name, _ := os.Hostname() // without a name, processes count as those of one host
	sum.Write([]byte(name))
	host = float64(sum.Sum32())
	status, _ := os.ReadFile("/proc/self/status") // of Linux
	sum.Write(allowedProcessors.Find(status))
	return host, float64(sum.Sum32())
}

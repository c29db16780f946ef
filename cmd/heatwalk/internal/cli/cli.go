package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/progress"
	_ "github.com/heatwalk/heatwalk/cmd/heatwalk/internal/rlimit" // refuses an address space that is too small
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/input"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/checkpoint"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/spec"
)

// Main runs heatwalk with the arguments that follow its name and returns its
// exit code. SIGINT, SIGTERM and SIGHUP end the run cleanly, a later one at once.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return mainWith(args, stdin, stdout, stderr, checkpoint.Warmup)
}

// mainWith is [Main] where a journal is written once a run has gone on for warmup.
func mainWith(args []string, stdin io.Reader, stdout, stderr io.Writer, warmup time.Duration) int {
	ctx, stop := untilSignal(context.Background())
	defer stop()
	in := newInvocation(ctx, args, stdin, stdout, stderr)
	in.warmup = warmup
	root := newRoot(in)
	root.SetArgs(args)
	return in.guard(func() error { return cmp.Or(root.ExecuteContext(in.ctx), in.checked()) })
}

// guard runs the command and returns the exit code.
func (in *invocation) guard(run func() error) (code int) {
	defer func() {
		if r := recover(); r != nil {
			code = in.fail(fault.CrashOf(r))
		}
	}()
	err := in.cleaned(run)
	in.progress.Close()
	if err == nil {
		err = in.stdout.err
	}
	return in.fail(err)
}

// cleaned runs the command and then what is to happen at its end, the last first.
func (in *invocation) cleaned(run func() error) error {
	defer func() {
		for _, end := range slices.Backward(in.ends) {
			end()
		}
	}()
	return run()
}

// atEnd has end happen when the command ends, however that is.
func (in *invocation) atEnd(end func()) { in.ends = append(in.ends, end) }

// together is the time in which signals are taken for one: some senders signal a
// process and then its group, and what is cleaned up must not suffer from that.
const together = 500 * time.Millisecond

// untilSignal returns a context that the first SIGINT, SIGTERM or SIGHUP cancels.
// A later one ends the process.
func untilSignal(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup asks for
		signal.Notify(signals, syscall.SIGHUP)
	}
	// Without a receiver for SIGPIPE the runtime would kill the process when
	// the reader of stdout goes away; with one, writing returns an error.
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
		case <-done:
			return
		}
		cancel(fault.ErrInterrupted)
		for first := time.Now(); ; {
			select {
			case <-signals:
				if time.Since(first) > together {
					os.Exit(fault.Interrupted)
				}
			case <-done:
				return
			}
		}
	}()
	return ctx, func() {
		// Nor is the last word, or the exit code, to be lost to the second of two.
		if !errors.Is(context.Cause(ctx), fault.ErrInterrupted) {
			signal.Stop(signals)
		}
		signal.Stop(pipe)
		close(done)
		cancel(nil)
	}
}

// invocation is one run of the command: its streams, what all subcommands
// share, and what was found wrong with the flags.
type invocation struct {
	ctx      context.Context
	args     []string
	stdin    io.Reader
	stdout   *output
	stderr   io.Writer
	started  time.Time
	problems []fault.Problem
	progress *progress.Display
	ends     []func()       // see atEnd
	command  *cobra.Command // that is run; nil before its flags are known
	doing    string         // what an interruption leaves as it was, for its message
	reached  string         // how far an interrupted run had come, for its message

	warning  sync.Mutex
	warnings []string // printed so far

	estimating bool          // the run ends when it has been planned
	planned    *requirements // what an estimated run would take

	threads   int
	maxMemory int64  // --max-memory, 0 if not given
	memory    int64  // bytes to plan with; 0 if not known
	limitedBy string // what limits memory beside --max-memory
	seed      int64
	json      bool
	quiet     bool
	showAs    string // --progress
	logFormat string
	debug     bool
	tempDir   string
	text      input.Text           // how tables are read
	labelling nodefile.LabelConfig // how files of labels are read
	force     bool
	resume    bool          // of commands that write a matrix
	completes bool          // the output is one that a later run can complete
	warmup    time.Duration // until a run writes its journal for the first time
}

const (
	resumeUsage = "go on from where a run with the same -o was killed, if one was"
	goesOn      = "; the same command with --resume goes on from here"
	notBeside   = "a run can go on from the journal beside its output alone; give -o FILE"
)

func newInvocation(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) *invocation {
	return &invocation{
		ctx:      ctx,
		args:     args,
		stdin:    stdin,
		stdout:   &output{w: stdout},
		stderr:   stderr,
		started:  time.Now(),
		progress: progress.New(stderr, "none", true, false), // until the flags are known
	}
}

// output is stdout; it remembers the first error, since most of what prints
// has no way to return one.
type output struct {
	w        io.Writer
	err      error
	progress *progress.Display // what is drawn on the same terminal; nil: nothing
}

// Write implements [io.Writer].
func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	if o.progress != nil && o.progress.Above(p) {
		return len(p), nil
	}
	n, err := o.w.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		err = fault.ErrReaderGone
	}
	o.err = err
	return n, err
}

func newRoot(in *invocation) *cobra.Command {
	root := &cobra.Command{
		Use:           "heatwalk",
		Short:         "Label the rest of your graph",
		Version:       thisBuild().Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          in.noSuchCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return in.welcome(cmd) },
	}
	root.SetVersionTemplate("heatwalk {{.Version}}\n")
	root.SetIn(in.stdin)
	root.SetOut(in.stdout)
	root.SetErr(in.stderr)
	root.SetUsageFunc(usage)
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd.Flags().NArg() == 0 || !cmd.HasSubCommands() || cmd.Args(cmd, cmd.Flags().Args()) == nil { // or there is no such command
			help(cmd, args)
		}
	})
	root.SetFlagErrorFunc(in.flagError)
	root.PersistentPreRunE = in.prepare
	in.sharedFlags(root.PersistentFlags())
	root.PersistentFlags().SortFlags = false
	for _, c := range called(commands(), in.args) {
		root.AddCommand(c.make(in))
	}
	describe(root)
	root.SetHelpCommand(newHelp(in))
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		cmd.Flags().SortFlags = false
		if len(in.args) > 0 && strings.HasPrefix(in.args[0], cobra.ShellCompRequestCmd) {
			completeWords(cmd) // which cobra keeps as long as the process runs
		}
		if cmd.Name() == "completion" {
			cmd.Args = in.noSuchCommand
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			for _, shell := range cmd.Commands() {
				shell.Args = in.arguments("", 0, 0)
				shell.PreRunE = func(*cobra.Command, []string) error { return in.checked() }
			}
		}
	}
	return root
}

// newGroup returns a command that has others below it and does nothing itself.
func (in *invocation) newGroup(name, short string, below ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: name, Short: short, Args: in.noSuchCommand, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(below...)
	return cmd
}

// completeWords lets the shell complete the values of flags that have a list.
func completeWords(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		// It fails only for a flag that has completions already.
		if f.Name == "method" {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, completeMethods)
		}
		if v, ok := f.Value.(*value); ok && v.words() != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(v.words(), cobra.ShellCompDirectiveNoFileComp))
		}
	})
}

// completeMethods lists the methods that may stand behind those of a list.
func completeMethods(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	before := typed[:strings.LastIndexByte(typed, ',')+1]
	var names []string
	for _, m := range method.All() {
		names = append(names, before+m.Name())
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// command is a subcommand: its name, what makes it, and whether it plans what it does.
type command struct {
	name    string
	make    func(*invocation) *cobra.Command
	planned bool
}

// commands are the subcommands in the order of use.
func commands() []command {
	return []command{
		{"demo", newDemo, false},
		{"ingest", newIngest, true},
		{"info", newInfo, true},
		{"classify", newClassify, true},
		{"evaluate", newEvaluate, true},
		{"suggest", newSuggest, true},
		{"kernel", newKernel, true},
		{"features", newFeatures, true},
		{"eigen", newEigen, true},
		{"graphs", newGraphs, true},
		{"records", newRecords, true},
		{"gram", newGram, true},
		{"methods", newMethods, false},
		{"verify", newVerify, true},
		{"convert", newConvert, true},
		{"generate", newGenerate, true},
		{"merge", newMerge, false},
		{"estimate", newEstimate, false},
		{"bench", newBench, false},
		{"version", newVersion, false},
	}
}

// called returns the one that is named by the first of args, so that a run need not
// make the flags of all, or all of them.
func called(list []command, args []string) []command {
	if len(args) > 0 {
		if i := slices.IndexFunc(list, func(c command) bool { return c.name == args[0] }); i >= 0 {
			return list[i : i+1]
		}
	}
	return list
}

// prepare runs before every subcommand: it applies the shared flags and refuses
// names of files that are empty.
// Subcommands check their own flags and then call checked.
func (in *invocation) prepare(cmd *cobra.Command, _ []string) error {
	in.command = cmd
	in.progress = progress.New(in.stderr, in.showAs, in.quiet, in.logFormat == "json")
	if progress.IsTerminal(in.stdout.w) {
		in.stdout.progress = in.progress
	}
	empty := false
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" { // as of a shell's variable that is not set
			in.missingValue(f)
			empty = true
		}
		if slices.Contains(stdoutNames, f.Value.String()) {
			_ = f.Value.Set("-") // as good a name of a file as the other
		}
	})
	if empty {
		return in.checked()
	}
	if in.threads > 0 {
		runtime.GOMAXPROCS(min(in.threads, runtime.NumCPU()))
	}
	return in.limitMemory(cmd)
}

// stdoutNames are other names of stdout.
var stdoutNames = []string{"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}

// leastLimit is the smallest --max-memory. Tests lower it, so that small inputs reach the limit.
var leastLimit int64 = budget.LeastLimit

// limitMemory settles how much memory there is to plan with: what --max-memory
// says, or most of what the machine has.
func (in *invocation) limitMemory(cmd *cobra.Command) error {
	if limit, needed := system.SpaceFor(budget.LeastResident); needed > 0 {
		return fault.Limit(system.AddressLimit, "%s of address space are too little for the program itself; allow %s or more",
			words.Bytes(limit), words.Bytes(needed))
	}
	limit, whose := system.AllowedMemory()
	in.limitedBy = whose
	if in.maxMemory == 0 {
		in.memory = limit / 10 * 9
		return nil
	}
	if in.maxMemory < leastLimit {
		return fault.Limit("--max-memory", "%s is less than any run may be limited to; allow 256MiB or more", words.Bytes(in.maxMemory))
	}
	in.memory = in.maxMemory
	if limit > 0 && limit < in.memory {
		in.warn("limit %s (%s) is used instead of %s", words.Bytes(limit), whose, words.Bytes(in.memory))
		in.memory = limit
	}
	debug.SetMemoryLimit(in.memory - budget.FileBytes)
	return nil
}

// checked returns what is wrong with the command line, all of it, or nil. What is checked
// while the run is interrupted may be right.
func (in *invocation) checked() error {
	if in.ctx.Err() != nil {
		return context.Cause(in.ctx)
	}
	if len(in.problems) == 0 {
		return nil
	}
	return fault.UsageOf(in.problems)
}

// newCommand returns a command that takes arguments: check notes what is wrong with its flags
// together, and do works unless something is.
func (in *invocation) newCommand(use string, takes cobra.PositionalArgs, short string, check func(cmd *cobra.Command, args []string), do func(args []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: takes, RunE: func(cmd *cobra.Command, args []string) error {
		check(cmd, args)
		if err := in.checked(); err != nil {
			return err
		}
		return do(args)
	}}
}

// sharedFlags declares the flags of all subcommands.
func (in *invocation) sharedFlags(flags *pflag.FlagSet) {
	numberVar(in, flags, &in.threads, "threads", 0, spec.Range{Most: 4096}, "N", "number of threads (0: one for each processor); never changes a result")
	in.sizeVar(flags, &in.maxMemory, "max-memory", "largest resident memory, 256MiB or more, such as 4GiB or 4G (= 4GB); never changes a result")
	numberVar(in, flags, &in.seed, "seed", 1, spec.From(0), "N", "rng seed: which splits, folds and random graphs are drawn")
	flags.BoolVar(&in.json, "json", false, "print one JSON document on stdout; errors as JSON on stderr")
	flags.BoolVar(&in.quiet, "quiet", false, "print neither progress nor a closing summary")
	in.choiceVar(flags, &in.showAs, "progress", "auto", []string{"auto", "plain", "none"}, "progress on stderr")
	in.choiceVar(flags, &in.logFormat, "log-format", "text", []string{"text", "json"}, "warnings and errors on stderr")
	flags.BoolVar(&in.debug, "debug", false, "with an internal error print where in the program it is, for a report")
}

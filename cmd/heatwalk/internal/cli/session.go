package cli

import (
	"context"
	"io"
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
	"github.com/heatwalk/heatwalk/sparse"
)

// session is one run of the program: its context, arguments and streams, its limits, and the problems of its
// command line.
type session struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	args    []string
	command *cobra.Command // nil before its flags are known
	ends    []func()       // see atEnd

	checks     map[*pflag.FlagSet][]check // of groups of flags
	problems   []fault.Problem            // mistakes of the command line, which are reported together
	inputFiles []string                   // "" and "-" included; side files of outputs must not replace them

	// The console: results and summaries on stdout; progress, warnings and errors on stderr.
	name          string // at the beginning of lines on stderr
	stdin         io.Reader
	stdout        *output
	stderr        io.Writer
	started       time.Time
	progress      *progress.Display
	warning       sync.Mutex
	warnings      []string // printed so far
	warnedOfLocks bool
	doing         string // the state of the output, for the message about an interruption
	reached       string // the progress, for the message about an interruption

	// Flags of every command.
	threads            int
	seed               int64
	maxMemory          int64 // 0 if not given
	json, quiet, debug bool
	untilEOF           bool // the end of stdin interrupts the run
	showAs, logFormat  string

	// Limits on memory.
	memory    int64  // bytes to plan with; 0 if not known
	libraries int64  // part of the limit for the libraries that connect several processes, not in memory
	limitedBy string // the limit of the machine
	timed     bool   // a benchmark, whose heap has no limit of the plan, because collections would be timed

	// The plan of the run.
	estimating bool           // the run ends when it has been planned
	planned    *heatwalk.Plan // of an estimated run
	faster     []string       // what would make an estimated run faster
	ranks      int            // number of processes of an estimated run; 0: one, with all rows
	cut        *rankCost      // of these processes
	disk       int64          // bytes of the files of the run
	reading    heatwalk.Part  // memory of reading the input, which is freed before the run computes

	// network connects this process with others that run the same command and share the rows of the graph.
	// Process 0 is the leader: it prints and writes files. The others are followers. Nil: the process is alone.
	network sparse.Network
}

func newSession(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) *session {
	ctx, cancel := context.WithCancelCause(ctx)
	return &session{
		ctx: ctx, cancel: cancel, args: args, checks: map[*pflag.FlagSet][]check{}, name: "heatwalk", stdin: stdin, stdout: &output{w: stdout}, stderr: stderr, started: time.Now(),
		progress: progress.New(stderr, "none", true, false), // until the flags are known
	}
}

// guard runs the command and returns the exit code.
func guard(run *session, do func() error) (code int) {
	defer func() {
		if r := recover(); r != nil {
			code = fail(run, fault.CrashOf(r))
		}
	}()
	err := cleaned(run, do)
	run.progress.Close()
	if err == nil {
		err = run.stdout.err
	}
	return fail(run, err)
}

// cleaned runs the command and then the functions of atEnd, the last one first.
func cleaned(run *session, do func() error) error {
	defer func() {
		for _, end := range slices.Backward(run.ends) {
			end()
		}
	}()
	return do()
}

// atEnd calls end when the command ends, also after an error, a panic or a signal.
func (run *session) atEnd(end func()) { run.ends = append(run.ends, end) }

// prepare runs before every subcommand: it applies the flags of every command, and rejects
// empty names of files. A subcommand checks its own flags and then calls checked.
func prepare(run *session, cmd *cobra.Command) error {
	run.command = cmd
	messages := run.stderr
	if run.isFollower() {
		messages = io.Discard
	}
	run.progress = progress.New(messages, run.showAs, run.quiet, run.logFormat == "json")
	if progress.IsTerminal(run.stdout.w) {
		run.stdout.progress = run.progress
	}
	empty := false
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" { // for example a shell variable that is not set
			missingValue(run, f)
			empty = true
		}
		if slices.Contains(stdoutNames, f.Value.String()) {
			_ = f.Value.Set("-") // a string flag takes every text
		}
	})
	if empty {
		return run.checked()
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
	stdin := run.stdin
	run.stdin = strings.NewReader("")
	go func() {
		_, _ = io.Copy(io.Discard, stdin) // an error ends it like the end
		run.cancel(fault.ErrInterrupted)
	}()
}

// stdoutNames are other names of stdout.
var stdoutNames = []string{"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}

// checked returns all problems of the command line as one error, or nil. An interruption takes
// precedence, because it may have aborted a check.
func (run *session) checked() error {
	if run.ctx.Err() != nil {
		return context.Cause(run.ctx)
	}
	if len(run.problems) == 0 {
		return nil
	}
	return fault.UsageOf(run.problems)
}

// newCommand returns a command and its options. The words of its use in capitals are its arguments. do gets the
// first argument, and runs only if neither the groups of flags nor own, unless it is nil, have recorded problems.
func newCommand[O any](run *session, use, short string, own func(*session, *O, *cobra.Command, []string), do func(*session, *O, string) error) (*cobra.Command, *O) {
	o := new(O)
	return &cobra.Command{Use: use, Short: short, Args: argumentsOf(run, use), RunE: func(cmd *cobra.Command, args []string) error {
		checkPaths(run, cmd, args)
		for _, group := range run.checks[cmd.Flags()] {
			group(cmd, args)
		}
		if own != nil {
			own(run, o, cmd, args)
		}
		if err := run.checked(); err != nil {
			return err
		}
		return do(run, o, strings.Join(args[:min(1, len(args))], ""))
	}}, o
}

// check records problems of flags.
type check func(cmd *cobra.Command, args []string)

// addCheck adds the check of a group of flags to the commands with these flags.
func addCheck(run *session, flags *pflag.FlagSet, c check) {
	run.checks[flags] = append(run.checks[flags], c)
}

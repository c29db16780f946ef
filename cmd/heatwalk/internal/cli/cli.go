package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/compute"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/graphs"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/learn"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	_ "github.com/heatwalk/heatwalk/file/parquetfile"
	"github.com/heatwalk/heatwalk/method/items"
	"github.com/heatwalk/heatwalk/sparse"
)

// Main runs heatwalk with args, the arguments after the name of the program, and returns the exit code. The
// first SIGINT, SIGTERM or SIGHUP ends the run cleanly. A second signal ends it at once.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return mainOn(nil, args, stdin, stdout, stderr)
}

// MainOn is [Main] in one of the processes of a network, which must all call it with the same arguments.
// Process 0 prints and writes files. Other processes print only errors that process 0 does not have.
func MainOn(network sparse.Network, args []string, stdin io.Reader,
	stdout, stderr io.Writer) int {
	if network.Size() == 1 {
		return Main(args, stdin, stdout, stderr)
	}
	return mainOn(network, args, stdin, stdout, stderr)
}

func mainOn(network sparse.Network, args []string, stdin io.Reader,
	stdout, stderr io.Writer) int {
	ctx, stop := untilSignal(context.Background())
	defer stop()
	run := shell.NewSession(ctx, network, args, stdin, stdout, stderr)
	if network == nil {
		run.Try = func(ctx context.Context, args []string) error {
			trial := shell.NewSession(ctx, nil, args, strings.NewReader(""), io.Discard, io.Discard)
			trial.IsTrial = true
			execute(trial)
			return trial.Err
		}
	}
	return execute(run)
}

// execute runs the command line of a session, and returns its exit code.
func execute(run *shell.Session) int {
	root := newRoot(run)
	return run.Guard(func() error {
		if err := run.ResolveName(root); err != nil {
			return err
		}
		root.SetArgs(withTwoHyphens(run.Line.Args))
		return cmp.Or(root.ExecuteContext(run.Context), run.Line.JoinProblems())
	})
}

// withTwoHyphens replaces -help and -version, which many programs take, by --help and --version.
func withTwoHyphens(args []string) []string {
	args = slices.Clone(args)
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if arg == "-help" || arg == "-version" {
			args[i] = "-" + arg
		}
	}
	return args
}

// repeatedSignal is the time within which several signals count as one. Some programs send a signal to a
// process and then to its group, and the second signal must not interrupt the cleanup.
const repeatedSignal = 500 * time.Millisecond

// untilSignal returns a context that the first signal cancels, and a function that stops waiting for signals.
// A second signal ends the process.
func untilSignal(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // ignored under nohup
		signal.Notify(signals, syscall.SIGHUP)
	}
	// With this receiver, a write returns an error when the reader of stdout goes away. Otherwise the runtime
	// would kill the process.
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
		case <-done:
			return
		}
		cancel(shell.ErrInterrupted)
		for first := time.Now(); ; {
			select {
			case <-signals:
				if time.Since(first) > repeatedSignal {
					os.Exit(shell.Interrupted)
				}
			case <-done:
				return
			}
		}
	}()
	return ctx, func() {
		// A second signal must not suppress the last message or the exit code.
		if !errors.Is(context.Cause(ctx), shell.ErrInterrupted) {
			signal.Stop(signals)
		}
		signal.Stop(pipe)
		close(done)
		cancel(nil)
	}
}

func newRoot(run *shell.Session) *cobra.Command {
	root := &cobra.Command{
		Use:           "heatwalk",
		Short:         "Label the rest of your graph",
		Version:       shell.ThisBuild().Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command,
			_ []string) error {
			return welcome(run.Console, cmd)
		},
	}
	root.SetIn(run.Console.Stdin)
	root.SetOut(run.Console.Stdout)
	root.SetErr(run.Console.Stderr)
	root.SetUsageFunc(printUsage)
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd.Flags().NArg() == 0 || !cmd.HasSubCommands() || cmd.Args(cmd, cmd.Flags().Args()) == nil { // otherwise there is no such command
			help(cmd, args)
		}
	})
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(run, cmd, err) })
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return run.Prepare(cmd) }
	run.DeclareShared(&shell.FlagSet{FlagSet: root.PersistentFlags(), Line: run.Line})
	root.PersistentFlags().SortFlags = false
	list := selectCommands(commands(), run.Line.Args)
	if run.Commands != nil {
		root.AddCommand(run.Commands()...)
		list = nil
	}
	for _, c := range list {
		cmd := c.construct(run)
		cmd.GroupID = c.group
		if !root.ContainsGroup(c.group) {
			root.AddGroup(&cobra.Group{ID: c.group})
		}
		root.AddCommand(cmd)
	}
	describe(root)
	rejectUnknown(run, root)
	if len(run.Line.Args) > 0 &&
		strings.HasPrefix(run.Line.Args[0], cobra.ShellCompRequestCmd) {
		completeValues(root)
	}
	helper := newHelp(run)
	helper.ValidArgs = namesOf(root)
	root.SetHelpCommand(helper)
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		cmd.Flags().SortFlags = false
		if cmd.Name() == "completion" {
			cmd.Args = root.Args
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			for _, script := range cmd.Commands() {
				script.Args = run.Line.Arguments("", 0, 0)
				script.PreRunE = func(*cobra.Command,
					[]string) error {
					return run.Line.JoinProblems()
				}
			}
		}
	}
	return root
}

// rejectUnknown makes commands that only have subcommands reject unknown words.
func rejectUnknown(run *shell.Session, cmd *cobra.Command) {
	if cmd.HasSubCommands() && cmd.Args == nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error { return noSuchCommand(run, cmd, args) }
	}
	for _, c := range cmd.Commands() {
		rejectUnknown(run, c)
	}
}

// command is a subcommand. If shared is set, several processes can share its work.
type command struct {
	name   string
	make   func(*shell.Session) *cobra.Command
	shared bool
	group  string // title above the command in the list of commands
}

const (
	learning = "Learn from labels and numbers"
	looking  = "Look at graphs, methods and speed"
	matrices = "Matrices"
	files    = "Files"
)

// commands are the subcommands by group, in the order of use.
func commands() []command {
	list := []command{
		{"demo", learn.NewDemo, false, learning},
		{"classify", learn.NewClassify, true, learning},
		{"evaluate", learn.NewEvaluate, true, learning},
		{"suggest", learn.NewSuggest, false, learning},
		{"predict", learn.NewPredict, true, learning},
		{"explain", learn.NewExplain, false, learning},
		{"regress", learn.NewRegress, true, learning},
		{"rank", learn.NewRank, true, learning},
	}
	for _, kind := range items.Kinds() {
		make := func(run *shell.Session) *cobra.Command { return learn.NewKind(run, kind) }
		list = append(list, command{kind.Name, make, false, learning})
	}
	return append(list, []command{
		{"info", graphs.NewInfo, false, looking},
		{"methods", newMethods, false, looking},
		{"bench", compute.NewBench, false, looking},
		{"version", newVersion, false, looking},
		{"serve", newServe, false, looking},
		{"kernel", compute.NewKernel, true, matrices},
		{"features", compute.NewFeatures, true, matrices},
		{"apply", compute.NewApply, true, matrices},
		{"eigen", compute.NewEigen, true, matrices},
		{"ingest", graphs.NewIngest, false, files},
		{"convert", graphs.NewConvert, false, files},
		{"generate", graphs.NewGenerate, false, files},
		{"verify", graphs.NewVerify, false, files},
	}...)
}

func (c command) construct(run *shell.Session) *cobra.Command {
	cmd := c.make(run)
	if c.shared {
		shell.Annotate(cmd, shell.SharedRows)
	}
	return cmd
}

// selectCommands returns the command that the first argument names, or all commands, because constructing the
// flags of all commands takes time.
func selectCommands(list []command, args []string) []command {
	if len(args) > 0 {
		if i := slices.IndexFunc(list, func(c command) bool { return c.name == args[0] }); i >= 0 {
			return list[i : i+1]
		}
	}
	return list
}

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	_ "github.com/heatwalk/heatwalk/cmd/heatwalk/internal/rlimit" // refuses an address space that is too small
	"github.com/heatwalk/heatwalk/method/items"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// Main runs heatwalk with the arguments that follow its name and returns its
// exit code. SIGINT, SIGTERM and SIGHUP end the run cleanly, a later one at once.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return mainOn(nil, args, stdin, stdout, stderr)
}

// MainOn is [Main] in one of the processes of a network, all of which call it with the same arguments.
// Process 0 prints and writes files; the others only print errors that process 0 does not have.
func MainOn(network sparse.Network, args []string, stdin io.Reader,
	stdout, stderr io.Writer) int {
	if network.Size() == 1 {
		return Main(args, stdin, stdout, stderr)
	}
	return mainOn(network, args, stdin, stdout, stderr)
}

// mainOn is [Main] in one of the processes of a network, unless that is nil.
func mainOn(network sparse.Network, args []string, stdin io.Reader,
	stdout, stderr io.Writer) int {
	ctx, stop := untilSignal(context.Background())
	defer stop()
	run := newSession(ctx, args, stdin, stdout, stderr)
	run.network = network
	if run.isFollower() {
		run.console.stdout.w = io.Discard
		run.console.name = fmt.Sprintf("heatwalk: process %d of %d", network.Rank(),
			network.Size())
	}
	root := newRoot(run)
	root.SetArgs(args)
	return guard(run, func() error {
		return cmp.Or(root.ExecuteContext(run.ctx), run.line.joinProblems())
	})
}

// repeatedSignal is the time within which several signals count as one, because some programs send a
// signal to a process and then to its group, and the second one must not interrupt the cleanup.
const repeatedSignal = 500 * time.Millisecond

// untilSignal returns a context that the first SIGINT, SIGTERM or SIGHUP cancels.
// A later one ends the process.
func untilSignal(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // ignored under nohup
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
				if time.Since(first) > repeatedSignal {
					os.Exit(fault.Interrupted)
				}
			case <-done:
				return
			}
		}
	}()
	return ctx, func() {
		// A second signal must not suppress the last message or the exit code.
		if !errors.Is(context.Cause(ctx), fault.ErrInterrupted) {
			signal.Stop(signals)
		}
		signal.Stop(pipe)
		close(done)
		cancel(nil)
	}
}

func newRoot(run *session) *cobra.Command {
	root := &cobra.Command{
		Use:           "heatwalk",
		Short:         "Label the rest of your graph",
		Version:       thisBuild().Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          func(cmd *cobra.Command, args []string) error { return noSuchCommand(run, cmd, args) },
		RunE: func(cmd *cobra.Command,
			_ []string) error {
			return welcome(run.console, cmd)
		},
	}
	root.SetIn(run.console.stdin)
	root.SetOut(run.console.stdout)
	root.SetErr(run.console.stderr)
	root.SetUsageFunc(printUsage)
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd.Flags().NArg() == 0 || !cmd.HasSubCommands() || cmd.Args(cmd, cmd.Flags().Args()) == nil { // or there is no such command
			help(cmd, args)
		}
	})
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(run, cmd, err) })
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return prepare(run, cmd) }
	sharedFlags(run, &flagSet{FlagSet: root.PersistentFlags(), line: run.line})
	root.PersistentFlags().SortFlags = false
	for _, c := range selectCommands(commands(), run.line.args) {
		cmd := c.make(run)
		cmd.GroupID = c.group
		if !root.ContainsGroup(c.group) {
			root.AddGroup(&cobra.Group{ID: c.group})
		}
		root.AddCommand(cmd)
	}
	describe(root)
	if len(run.line.args) > 0 &&
		strings.HasPrefix(run.line.args[0], cobra.ShellCompRequestCmd) {
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
			for _, shell := range cmd.Commands() {
				shell.Args = arguments(run.line, "", 0, 0)
				shell.PreRunE = func(*cobra.Command,
					[]string) error {
					return run.line.joinProblems()
				}
			}
		}
	}
	return root
}

// newGroup returns a command that only has subcommands.
func newGroup(run *session, name, short string,
	subcommands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: name, Short: short,
		Args: func(cmd *cobra.Command, args []string) error { return noSuchCommand(run, cmd, args) }, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(subcommands...)
	return cmd
}

// command is a subcommand: its name, its constructor, whether it has estimates, and whether several
// processes can share its work.
type command struct {
	name            string
	make            func(*session) *cobra.Command
	planned, shared bool
	group           string // title of its group in the list of commands
}

// Groups of commands.
const (
	learning = "Learn from labels and numbers"
	looking  = "Look at graphs, methods and costs"
	matrices = "Matrices"
	files    = "Files"
)

// commands are the subcommands by group, in the order of use.
func commands() []command {
	list := []command{
		{"demo", newDemo, false, false, learning},
		{"classify", newClassify, true, true, learning},
		{"evaluate", newEvaluate, true, true, learning},
		{"suggest", newSuggest, true, false, learning},
		{"predict", newPredict, true, true, learning},
		{"explain", newExplain, true, false, learning},
		{"regress", newRegress, true, true, learning},
		{"rank", newRank, true, true, learning},
	}
	for _, kind := range items.Kinds() {
		make := func(run *session) *cobra.Command { return newItems(run, kind) }
		list = append(list, command{kind.Name, make, true, false, learning})
	}
	return append(list, []command{
		{"info", newInfo, true, false, looking},
		{"methods", newMethods, false, false, looking},
		{"estimate", newEstimate, false, false, looking},
		{"bench", newBench, false, false, looking},
		{"version", newVersion, false, false, looking},
		{"kernel", newKernel, true, true, matrices},
		{"features", newFeatures, true, true, matrices},
		{"apply", newApply, true, true, matrices},
		{"eigen", newEigen, true, true, matrices},
		{"ingest", newIngest, true, false, files},
		{"convert", newConvert, true, false, files},
		{"generate", newGenerate, true, false, files},
		{"merge", newMerge, false, false, files},
		{"verify", newVerify, true, false, files},
	}...)
}

// selectCommands returns only the command that the first argument names, or all commands. It avoids
// constructing the flags of commands that are not run.
func selectCommands(list []command, args []string) []command {
	if len(args) > 0 {
		if i := slices.IndexFunc(list, func(c command) bool { return c.name == args[0] }); i >= 0 {
			return list[i : i+1]
		}
	}
	return list
}

// sharedFlags declares the flags of all subcommands.
func sharedFlags(run *session, flags *flagSet) {
	numberVar(flags, &run.threads, "threads", 0, param.Range{Most: 4096}, "N",
		"number of threads (0: one a processor); never changes a result")
	sizeVar(flags, &run.costs.maxMemory, "max-memory",
		"largest resident memory, 256MiB or more, such as 4GiB or 4G (= 4GB); never changes a result")
	numberVar(flags, &run.seed, "seed", 1, param.From(0), "N",
		"rng seed of splits, folds and random graphs")
	flags.BoolVar(&run.console.json, "json", false,
		"print one JSON document on stdout; errors as JSON on stderr")
	flags.BoolVar(&run.console.quiet, "quiet", false,
		"print neither progress nor a closing summary")
	choiceVar(flags, &run.console.showAs, "progress", "auto",
		[]string{"auto", "plain", "json", "none"},
		"progress on stderr; json: a line of JSON for each update, at most ten a second")
	choiceVar(flags, &run.console.logFormat, "log-format", "text", []string{"text", "json"},
		"warnings and errors on stderr")
	flags.BoolVar(&run.untilEOF, "until-eof", false,
		"stop with exit code 130 when stdin ends")
	flags.BoolVar(&run.debug, "debug", false,
		"print the place of an internal error in the program")
}

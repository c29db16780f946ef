package cli

import (
	"cmp"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/method/items"
)

const helpWidth = 100

func init() {
	cobra.EnableCommandSorting = false // list commands in the order of use
}

// helpTexts has the description of each command in help/NAME.txt, with examples after the line "Examples:".
//
//go:embed help
var helpTexts embed.FS

// describe sets the description of a command and its subcommands, for example from help/bench-scaling.txt for
// "bench scaling".
func describe(cmd *cobra.Command) {
	words := strings.Fields(cmd.CommandPath())
	if len(words) > 1 {
		words = words[1:]
	}
	if text, err := helpOf(words); err == nil {
		long, examples, _ := strings.Cut(string(text), "\nExamples:\n")
		cmd.Long = strings.TrimSpace(long)
		cmd.Example = strings.TrimRight(examples, "\n")
	}
	for _, c := range cmd.Commands() {
		describe(c)
	}
}

func helpOf(words []string) ([]byte, error) {
	name := strings.Join(words, "-") + ".txt"
	if kind := items.Find(words[0]); kind != nil && kind.Help != nil {
		return fs.ReadFile(kind.Help, name)
	}
	return helpTexts.ReadFile("help/" + name)
}

func newHelp(run *shell.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND|input|WORD]",
		Short: "Help for a command, for reading graph files, or on a word",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == "input" {
				text, err := helpTexts.ReadFile("help/input.txt")
				if err != nil {
					return err
				}
				flags := shell.NewFlagSet(nil)
				new(shell.GraphInputs).Declare(flags)
				fmt.Fprintf(run.Console.Stdout, "%s\nFlags:\n%s", text,
					flags.FlagUsagesWrapped(helpWidth))
				return run.Console.Stdout.Err
			}
			target, remainder, err := cmd.Root().Find(args)
			if err == nil && len(remainder) == 0 {
				return target.Help()
			}
			if lines := findLines(strings.Join(args, " ")); lines != nil {
				width := 0
				for _, p := range lines {
					width = max(width, len(p[0]))
				}
				shell.PrintSheet(run.Console.Stdout, width+2, lines)
				return run.Console.Stdout.Err
			}
			if len(remainder) == 1 &&
				words.Nearest(remainder[0], namesOf(target)) != "" {
				return noSuchCommand(run, target, remainder)
			}
			run.Line.Problem("help", "nothing on %s; docs/README.md lists pages by task",
				shell.Quote(strings.Join(args, " ")))
			return run.Line.JoinProblems()
		},
	}
}

// printUsage prints the help of a command after its description.
func printUsage(cmd *cobra.Command) error {
	w := cmd.OutOrStderr()
	fmt.Fprint(w, "Usage:\n")
	commands := cmd.CommandPath() + " COMMAND"
	called := shell.Synopsis(cmd)
	if !cmd.HasAvailableSubCommands() || strings.Contains(cmd.Use, " ") {
		fmt.Fprintf(w, "  %s\n", called)
	}
	if cmd.HasAvailableSubCommands() {
		if !strings.HasPrefix(called, commands) {
			fmt.Fprintf(w, "  %s\n", commands)
		}
		fmt.Fprint(w, "\n")
		title := ""
		for _, c := range cmd.Commands() {
			if next := cmp.Or(c.GroupID, title, "Commands"); next != title {
				title = next
				fmt.Fprintf(w, "%s:\n", title)
			}
			if c.IsAvailableCommand() {
				fmt.Fprintf(w, "  %-11s %s\n", c.Name(), c.Short)
			}
		}
	}
	if cmd.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	local := pflag.NewFlagSet("", pflag.ContinueOnError)
	reads := false
	local.SortFlags = false
	cmd.Flags().SortFlags = false // important flags are declared first
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		switch {
		case shell.IsReading(f):
			reads = true
		case f.Name != "help" &&
			cmd.Root().PersistentFlags().Lookup(f.Name) == nil &&
			cmd.InheritedFlags().Lookup(f.Name) == nil:
			local.AddFlag(f)
		}
	})
	if local.HasAvailableFlags() {
		fmt.Fprintf(w, "\nFlags:\n%s", local.FlagUsagesWrapped(helpWidth))
	}
	if shared := cmd.Root().PersistentFlags(); cmd.HasParent() {
		var names []string
		shared.VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		fmt.Fprintf(w, "\nFlags of every command: %s\n", strings.Join(names, " "))
	} else {
		shared.SortFlags = false
		fmt.Fprintf(w, "\nFlags of every command:\n%s",
			shared.FlagUsagesWrapped(helpWidth))
	}
	if reads {
		fmt.Fprint(w, "Flags for reading files: heatwalk help input\n")
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\nFor more: %s --help\n", commands)
	}
	return nil
}

// beginners lists the commands that heatwalk without arguments shows.
var beginners = []string{"demo", "classify", "evaluate", "suggest", "ingest"}

// welcome prints the page of heatwalk without arguments.
func welcome(console *shell.Console, root *cobra.Command) error {
	fmt.Fprint(console.Stdout, root.Long, "\n\nCommands to begin with:\n")
	for _, name := range beginners {
		if cmd, _, err := root.Find([]string{name}); err == nil {
			fmt.Fprintf(console.Stdout, "  %-11s %s\n", cmd.Name(), cmd.Short)
		}
	}
	fmt.Fprintf(console.Stdout,
		"\nExamples:\n%s\n\nAll commands: heatwalk help\nOn a word:    heatwalk help labels\n", root.Example)
	return console.Stdout.Err
}

func newVersion(run *shell.Session) *cobra.Command {
	cmd, _, _ := shell.NewCommand(run, "version",
		"Version, commit, Go version and CPU features", refuseDryRun, runVersion)
	return cmd
}

func runVersion(run *shell.Session, _ *struct{}, _ string) error {
	b := &struct {
		shell.Build
		shell.Closing
	}{Build: shell.ThisBuild()}
	return run.Console.PrintResult(b, func(io.Writer) {
		fmt.Fprintf(run.Console.Stdout, "heatwalk %s\n", b.Version)
		if b.Commit != "" {
			fmt.Fprintf(run.Console.Stdout, "commit   %s\n", b.Commit)
		}
		fmt.Fprintf(run.Console.Stdout, "go       %s, %s\ncpu      %s\n", b.Go, b.System,
			strings.Join(b.CPU, " "))
	})
}

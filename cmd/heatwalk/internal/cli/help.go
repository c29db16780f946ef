package cli

import (
	"embed"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/spec"
)

// helpWidth is the width of help texts, in columns.
const helpWidth = 100

func init() {
	cobra.EnableCommandSorting = false // the order of use says more than the alphabet
}

// helpTexts has the description of each command in help/NAME.txt, with examples behind
// the line "Examples:".
//
//go:embed help
var helpTexts embed.FS

// describe gives a command and those below it the text of help/NAME.txt, in whose name
// the words of a command are joined. What estimate plans it describes as the command
// itself, without examples.
func describe(cmd *cobra.Command) {
	words := strings.Fields(cmd.CommandPath())
	planned := len(words) > 2 && words[1] == "estimate"
	if planned {
		words = words[1:]
	}
	if len(words) > 1 {
		words = words[1:]
	}
	if text, err := helpTexts.ReadFile("help/" + strings.Join(words, "-") + ".txt"); err == nil {
		long, examples, _ := strings.Cut(string(text), "\nExamples:\n")
		cmd.Long = strings.TrimSpace(long)
		if strings.Contains(long, "{kernels") {
			cmd.Long = declaredKernels().Replace(cmd.Long)
		}
		if !planned {
			cmd.Example = strings.TrimRight(examples, "\n")
		}
	}
	for _, c := range cmd.Commands() {
		describe(c)
	}
}

// declaredKernels puts the kernels that are declared in their places in help texts.
var declaredKernels = sync.OnceValue(func() *strings.Replacer {
	var ofTables, ofGraphs strings.Builder
	line := func(w io.Writer, width int, s *spec.Spec) {
		fmt.Fprintf(w, "  %-*s%s\n", width, s.Name, s.Title)
		if takes := s.Takes(); len(takes) > 0 {
			fmt.Fprintf(w, "  %-*s[--%s]\n", width, "", strings.Join(takes, " --"))
		}
	}
	for _, s := range tableKernels() {
		line(&ofTables, 14, s)
	}
	for _, s := range graphKernels() {
		line(&ofGraphs, 17, s)
	}
	return strings.NewReplacer("{kernels of tables}\n", ofTables.String(), "{kernels between graphs}\n", ofGraphs.String())
})

func newHelp(in *invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help for a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return in.noSuchCommand(found, rest)
			}
			return found.Help()
		},
	}
}

// usage prints what follows the description of a command: how it is called, its
// subcommands, examples and its flags.
func usage(cmd *cobra.Command) error {
	w := cmd.OutOrStderr()
	fmt.Fprint(w, "Usage:\n")
	commands := cmd.CommandPath() + " COMMAND"
	called := synopsis(cmd)
	if !cmd.HasAvailableSubCommands() || strings.Contains(cmd.Use, " ") {
		fmt.Fprintf(w, "  %s\n", called)
	}
	if cmd.HasAvailableSubCommands() {
		if !strings.HasPrefix(called, commands) {
			fmt.Fprintf(w, "  %s\n", commands)
		}
		fmt.Fprint(w, "\nCommands:\n")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				fmt.Fprintf(w, "  %-11s %s\n", c.Name(), c.Short)
			}
		}
	}
	if cmd.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	own, shared := pflag.NewFlagSet("", pflag.ContinueOnError), cmd.InheritedFlags()
	if !cmd.HasParent() {
		shared = cmd.PersistentFlags()
	}
	cmd.LocalNonPersistentFlags().VisitAll(own.AddFlag)
	for _, part := range []struct {
		title string
		flags *pflag.FlagSet
	}{{"Flags", own}, {"Flags of every command", shared}} {
		if part.flags.HasAvailableFlags() {
			part.flags.SortFlags = false
			fmt.Fprintf(w, "\n%s:\n%s", part.title, part.flags.FlagUsagesWrapped(helpWidth))
		}
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\nFor more: %s --help\n", commands)
	}
	return nil
}

// synopsis is how a command is called, with the commands it belongs to.
func synopsis(cmd *cobra.Command) string {
	return strings.TrimSuffix(cmd.UseLine(), " [flags]")
}

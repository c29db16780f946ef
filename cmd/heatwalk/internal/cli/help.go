package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is the width of help texts, in columns.
const helpWidth = 100

func init() {
	cobra.EnableCommandSorting = false // the order of use says more than the alphabet
}

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

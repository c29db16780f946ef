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
// subcommands and its flags.
func usage(cmd *cobra.Command) error {
	w := cmd.OutOrStderr()
	fmt.Fprint(w, "Usage:\n")
	if cmd.HasAvailableSubCommands() {
		if strings.Contains(cmd.Use, " ") {
			fmt.Fprintf(w, "  %s\n", synopsis(cmd))
		}
		fmt.Fprintf(w, "  %s COMMAND\n\nCommands:\n", cmd.CommandPath())
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				fmt.Fprintf(w, "  %-11s %s\n", c.Name(), c.Short)
			}
		}
	} else {
		fmt.Fprintf(w, "  %s\n", synopsis(cmd))
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
		fmt.Fprintf(w, "\nFor more: %s COMMAND --help\n", cmd.CommandPath())
	}
	return nil
}

// synopsis is how a command is called, with the commands it belongs to.
func synopsis(cmd *cobra.Command) string {
	return strings.TrimSuffix(cmd.UseLine(), " [flags]")
}

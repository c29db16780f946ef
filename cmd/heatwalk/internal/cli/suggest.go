package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/param"
)

func newSuggest(run *session) *cobra.Command {
	cmd, c := newCommand(run, "suggest GRAPH --labels L.tsv -n 20 -o OUT.tsv", "Nodes most worth labelling next", checkMethod, predict)
	c.unreached = "blank"
	flags := cmd.Flags()
	labelsFlag(run, &c.learning, flags)
	outputFlag(flags, &c.out, "output", "-", "`FILE` of suggestions, .tsv; - is stdout", nil)
	local := pflag.NewFlagSet("", pflag.ContinueOnError)
	numberVar(run, local, &c.suggest, "number", 20, param.Range{Least: 1, Most: 1 << 20}, "N", "number of nodes, to be labelled as one batch")
	local.Lookup("number").Shorthand = "n"
	flags.AddFlagSet(local)
	methodFlags(run, c, flags)
	learningFlagSet(run, &c.learning, flags)
	addCheck(run, flags, func(*cobra.Command, []string) {
		if c.out != "-" && formatOf(c.out, scoreFormats) != ".tsv" {
			run.problem("-o", "suggestions are lines of text; write FILE.tsv")
		}
	})
	return cmd
}

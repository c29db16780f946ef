package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/param"
)

func newSuggest(run *session) *cobra.Command {
	c := &classifyOptions{unreached: "blank"}
	cmd := newCommand(run, "suggest GRAPH --labels L.tsv -n 20 -o OUT.tsv", arguments(run, "GRAPH", 1, 1),
		"Nodes most worth labelling next",
		func(cmd *cobra.Command, args []string) {
			checkOutput(run, "-o", c.out, nil, append(args, c.learning.walk.labels, c.learning.attributes.file, c.learning.attributes.ids)...)
			if c.out != "-" && formatOf(c.out, scoreFormats) != ".tsv" {
				run.problem("-o", "suggestions are lines of text; write FILE.tsv")
			}
			checkMethod(run, c, cmd, args)
		}, func(args []string) error { return runClassify(run, c, args[0]) })
	flags := cmd.Flags()
	labelsFlag(run, &c.learning, flags)
	flags.StringVarP(&c.out, "output", "o", "-", "`FILE` of suggestions, .tsv; - is stdout")
	local := pflag.NewFlagSet("", pflag.ContinueOnError)
	numberVar(run, local, &c.suggest, "number", 20, param.Range{Least: 1, Most: 1 << 20}, "N", "number of nodes, to be labelled as one batch")
	local.Lookup("number").Shorthand = "n"
	flags.AddFlagSet(local)
	methodFlags(run, c, flags)
	learningFlagSet(run, &c.learning, flags)
	return cmd
}

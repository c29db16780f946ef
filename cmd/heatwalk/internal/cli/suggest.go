package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/param"
)

func newSuggest(run *session) *cobra.Command {
	c := &classifyCommand{learningFlags: newLearning(run), unreached: "blank"}
	cmd := run.newCommand("suggest GRAPH --labels L.tsv -n 20 -o OUT.tsv", arguments(run, "GRAPH", 1, 1),
		"Nodes most worth labelling next",
		func(cmd *cobra.Command, args []string) {
			checkOutput(run, "-o", c.out, nil, append(args, c.labels, c.attributes.file, c.attributes.ids)...)
			if c.out != "-" && formatOf(c.out, scoreFormats) != ".tsv" {
				run.problem("-o", "suggestions are lines of text; write FILE.tsv")
			}
			c.checkMethod(cmd, args)
		}, func(args []string) error { return c.predict(args[0]) })
	flags := cmd.Flags()
	c.learningFlags.labelsFlag(flags)
	flags.StringVarP(&c.out, "output", "o", "-", "`FILE` of suggestions, .tsv; - is stdout")
	local := pflag.NewFlagSet("", pflag.ContinueOnError)
	numberVar(run, local, &c.suggest, "number", 20, param.Range{Least: 1, Most: 1 << 20}, "N", "number of nodes, to be labelled as one batch")
	local.Lookup("number").Shorthand = "n"
	flags.AddFlagSet(local)
	c.methodFlag(flags)
	c.learningFlags.declare(flags)
	return cmd
}

package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/spec"
)

func newSuggest(in *invocation) *cobra.Command {
	f := classifyFlags{unreached: "blank"}
	cmd := in.newCommand("suggest GRAPH --labels L.tsv -n 20 -o OUT.tsv", in.arguments("GRAPH", 1, 1),
		"Nodes most worth labelling next",
		func(cmd *cobra.Command, args []string) {
			in.checkOutput("-o", f.out, nil, append(args, f.labels, f.attributes.file, f.attributes.ids)...)
			if f.out != "-" && formatOf(f.out, scoreFormats) != ".tsv" {
				in.problem("-o", "suggestions are lines of text; write FILE.tsv")
			}
			in.checkMethod(cmd, args, &f)
		}, func(args []string) error { return in.runClassify(args[0], &f) })
	flags := cmd.Flags()
	in.seedFlags(flags, &f.learning)
	flags.StringVarP(&f.out, "output", "o", "-", "`FILE` of suggestions, .tsv; - is stdout")
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	numberVar(in, own, &f.suggest, "number", 20, spec.Range{Least: 1, Most: 1 << 20}, "N", "number of nodes, to be labelled as one batch")
	own.Lookup("number").Shorthand = "n"
	flags.AddFlagSet(own)
	in.methodFlag(flags, &f)
	in.learningFlags(flags, &f.learning)
	return cmd
}

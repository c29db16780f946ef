package cli

import (
	"bufio"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/method/suggest"
)

// checkSuggest notes what does not go with --suggest.
func (in *invocation) checkSuggest(flags *pflag.FlagSet, f *classifyFlags) {
	if f.suggest == 0 {
		return
	}
	if f.out != "-" && formatOf(f.out, predictionFormats) != ".tsv" {
		in.problem("-o", "suggestions are lines of text; write FILE.tsv")
	}
	for _, name := range []string{"scores", "truth", "slab", "unreached"} {
		if flags.Changed(name) {
			in.problem("--"+name, "is about predictions, and --suggest writes none; leave out one of the two")
		}
	}
}

// writeSuggestions writes a line for each node to label next, the most telling first.
func writeSuggestions(w io.Writer, g *openGraph, classes []string, list []suggest.Suggestion) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "node\tteaches\tlabel\tprobability\treason")
	nodes := g.Nodes()
	for _, s := range list {
		fmt.Fprintf(out, "%s\t%.4g\t%s\t%.3f\t%s\n", nodes.ID(s.Row), s.Teaches, classes[s.Class], 1-s.Doubt, s.Reason(classes))
	}
	return out.Flush()
}

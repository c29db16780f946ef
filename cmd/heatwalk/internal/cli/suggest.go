package cli

import (
	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/file/tablefile"
)

func newSuggest(run *session) *cobra.Command {
	cmd, c, flags := newCommand(run,
		"suggest GRAPH --labels L.tsv -n 20 -o OUT.tsv",
		"Nodes most worth labelling next", checkMethod, predictLabels)
	c.unreached = "blank"
	labelsFlag(&c.learning, flags)
	outputFlag(flags, &c.out, "output", "-", "`FILE` of suggestions: .tsv or .csv; - is stdout", tablefile.LineEndings)
	letterFlag(flags, &c.suggest, "number", 20, listLengths,
		"number of nodes, to be labelled as one batch")
	targetsFlag(c, flags)
	methodFlags(c, flags)
	learningFlagSet(&c.learning, flags)
	return cmd
}

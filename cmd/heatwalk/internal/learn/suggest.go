package learn

import (
	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/method"
)

func NewSuggest(run *shell.Session) *cobra.Command {
	cmd, c, flags := shell.NewCommand(run,
		"suggest GRAPH --labels L.tsv -n 20 -o OUT.tsv",
		"Nodes most worth labelling next", checkMethod, predictLabels)
	c.unreached = "blank"
	c.learning.labelsFlag(flags)
	flags.AddOutput(&c.out, "output", "-", "of suggestions: .tsv or .csv; - is stdout", tablefile.LineEndings)
	flags.AddLetter(&c.suggest, "number", 20, listLengths,
		"number of nodes, to be labelled as one batch")
	flags.AddChoice(&c.strategy, "strategy", method.AutoStrategy, method.Strategies,
		"nodes that cover the graph, random nodes, or auto: cover if labels show that linked nodes share labels")
	c.targetsFlag(flags)
	c.methodFlags(flags)
	c.learning.learningFlagSet(flags)
	return cmd
}

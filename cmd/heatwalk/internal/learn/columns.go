package learn

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
)

// beginColumns begins the file of columns. It returns nil without one.
func beginColumns(run *shell.Session, c *classifyOptions, d *shell.GraphRun, s *engine.Settings) (io.Writer, error) {
	if c.saveColumns == "" {
		return nil, nil
	}
	run.Costs.Disk += heatwalk.ColumnBytes(len(d.Graph.Degrees), c.method.Extension.Count(problemOf(d), s))
	return d.Out.Begin(c.saveColumns)
}

// describeColumns describes a file of columns and what it leaves out.
func describeColumns(path string, c *engine.Columns) string {
	text := fmt.Sprintf("%s: %s of %s, %s", path, words.Counted(c.Values.Cols, "column"), words.Counted(c.Values.Rows, "node"),
		words.Bytes(heatwalk.ColumnBytes(c.Values.Rows, c.Values.Cols)))
	return text + describeOmitted(c.Omitted)
}

func describeOmitted(list []problem.MixedModel) string {
	var models []string
	for _, m := range list {
		models = append(models, fmt.Sprintf("%.2f %s", m.Weight, m.Name))
	}
	if models == nil {
		return ""
	}
	return "; without " + strings.Join(models, ", ") + ", which no new node has"
}

// openColumns opens the columns of --columns.
func (c *classifyOptions) openColumns(run *shell.Session) (err error) {
	if err = c.refuseFlags(run, "new nodes", "scores", "truth"); err != nil {
		return err
	}
	if c.opened, err = c.kept.OpenColumns(c.columns); errors.Is(err, engine.ErrNoColumns) {
		return shell.UsageError("--columns", "%v; learn a model by one of %s", err, method.Extendable())
	}
	if err != nil {
		return err
	}
	run.AtEnd(func() { _ = c.opened.Close() }) // it was only read
	c.method, err = c.opened.Engine(c.reasons != "", func(list []heatwalk.NewPrediction) { c.newNodes = list })
	return err
}

// writeReasons writes the links that carried the labels of new nodes, if they are asked for.
func (c *classifyOptions) writeReasons(in *predictionInputs) error {
	if c.reasons == "" {
		return nil
	}
	w, err := in.data.Out.Begin(c.reasons)
	if err != nil {
		return err
	}
	var lines [][]string
	for i, x := range c.newNodes {
		id := in.data.Graph.Nodes.ID(in.targets[i])
		for _, r := range x.Reasons {
			lines = append(lines, []string{id, x.Label, "link", r.ID, id, fmt.Sprintf("%.6g", r.Share)})
		}
	}
	return tablefile.WriteLines(in.data.Out.Run.Context, w, shell.Ending(c.reasons), reasonTitles, len(lines), func(i int, cells []string) { copy(cells, lines[i]) })
}

// headlineOfNew describes predictions of new nodes.
func (d *classifyDocument) headlineOfNew(c *heatwalk.Columns, nodes []heatwalk.NewPrediction) string {
	text := words.Counted(d.Nodes, "new node")
	near, far, steps := 0, 0, 0
	for _, x := range nodes {
		steps = max(steps, x.Steps)
		switch {
		case x.Steps == 1:
			near++
		case x.Steps > 1:
			far++
		}
	}
	if near < d.Nodes {
		text += fmt.Sprintf(", %s with a link to a node of the model", words.Count(near))
	}
	if far > 0 {
		text += fmt.Sprintf(", %s by way of other new nodes in up to %d steps", words.Count(far), steps)
	}
	if d.Unreached > 0 {
		text += fmt.Sprintf(" · %s without a link that a label reaches: prior of the classes", words.Count(d.Unreached))
	}
	if share := float64(d.Nodes) / float64(max(1, c.Len())); share > mostNew {
		text += fmt.Sprintf(" · they are %s as many as the nodes of the model: run classify again with their edges", words.Percent(share))
	}
	return text + describeOmitted(c.Omitted)
}

// mostNew is the number of new nodes, relative to the nodes of the model, from which the summary advises another run.
const mostNew = 0.05

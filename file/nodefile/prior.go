package nodefile

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/sparse"
)

// ReadPrior reads a distribution over the classes for each node. The header has a title for the nodes and the names
// of the classes, in any order. A line has a node and its probabilities, which must not be negative and must have the
// sum 1, within the error of rounding each to three decimals; ReadPrior divides them by their sum. Columns with a
// title in c.Skip are skipped.
//
// Row i of the result belongs to node i, and column c to classNames[c]. Nodes without a line get the uniform
// distribution.
func ReadPrior(ctx context.Context, path string, nodes Lookup, classNames []string,
	c *ListConfig) (*sparse.Block[float64], error) {
	c = cmp.Or(c, &ListConfig{})
	classes := len(classNames)
	t := c.reader(nodes, "")
	t.Every = true
	t.Header = HasHeader
	var column []int // columns of the classes
	prior := sparse.NewBlock[float64](nodes.Len(), classes)
	for node := range prior.Rows {
		for c := range classes {
			prior.Row(node)[c] = 1 / float64(classes)
		}
	}
	_, err := c.rows(ctx, nodes, t, path, "probabilities", func(node int, row Row) (err error) {
		if column == nil {
			if column, err = priorColumns(t, classNames, c.Skip); err != nil {
				return err
			}
		}
		return distribution(prior.Row(node), t, row, column)
	})
	if err != nil {
		return nil, err
	}
	return prior, nil
}

func classIndex(classNames []string, name string) int {
	key := table.ClassKey(name)
	return slices.IndexFunc(classNames,
		func(class string) bool { return table.ClassKey(class) == key })
}

func priorColumns(t *Reader, classNames, skip []string) ([]int, error) {
	const fix = "the header names the classes"
	column := slices.Repeat([]int{-1}, len(classNames))
	for i, title := range t.Titles {
		c := classIndex(classNames, title)
		switch {
		case i == t.Node || t.Columns[i].Use == input.Index:
		case c >= 0 && column[c] >= 0:
			return nil, textio.Fault(t.Name, t.Line, "", "class %s has two columns",
				words.Quoted(title))
		case c >= 0:
			column[c] = i
		case !slices.Contains(skip, strings.ToLower(title)):
			return nil, textio.Fault(t.Name, t.Line, fix,
				"%s is none of the classes %s", words.Quoted(title),
				strings.Join(classNames, ", "))
		}
	}
	for c, index := range column {
		if index < 0 {
			return nil, textio.Fault(t.Name, t.Line, fix, "class %q has no column",
				classNames[c])
		}
	}
	return column, nil
}

func distribution(dst []float64, t *Reader, row Row,
	column []int) error {
	var sum float64
	for c, i := range column {
		p, wrong := table.ParseNumberIn(row.Text[i], t.Text)
		if wrong == "" && p < 0 {
			wrong = "is negative"
		}
		if wrong != "" {
			return t.Fault(row, i, "fix the line", "probability %s %s",
				words.Quoted(row.Text[i]), wrong)
		}
		dst[c] = p
		sum += p
	}
	if math.Abs(sum-1) > roundingOf(len(column)) {
		return textio.Fault(t.Name, row.Line, "fix the line",
			"the probabilities of %s add up to %.6g, want 1",
			words.Quoted(row.ID()), sum)
	}
	for c := range dst {
		dst[c] /= sum
	}
	return nil
}

package nodefile

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/internal/nodetable"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
	"github.com/heatwalk/heatwalk/sparse"
)

// ReadPrior reads a distribution over the classes for each node: a header with
// a title for the nodes and the names of the classes, in any order, then a line
// for each node with its probabilities, which are not negative and add up to
// one. Columns called label and reached, as predictions have them, are passed
// over. Row i of the result belongs to node i, column c to classNames[c];
// nodes without a line get the uniform distribution.
//
// A sum may be off by what rounding every probability to three decimals makes
// of it; it is then brought to one. stdin is that of [ReadIDs].
func ReadPrior(ctx context.Context, path string, nodes Lookup, classNames []string, stdin io.Reader) (*sparse.Block[float64], error) {
	classes := len(classNames)
	t := &nodetable.Reader{Columns: classes + 1, Lookup: nodes.Lookup, Options: textio.Options{Stdin: stdin}}
	var column []int // of each class, in the file
	width := 0       // fields of a line
	head := func(_ *nodetable.Reader, row nodetable.Row) (isHeader bool, err error) {
		width = len(row.Text)
		column, err = priorColumns(t.Name, row, classNames)
		return true, err
	}
	prior := sparse.NewBlock[float64](nodes.Len(), classes)
	for node := range prior.Rows {
		for c := range classes {
			prior.Row(node)[c] = 1 / float64(classes)
		}
	}
	_, err := readRows(ctx, t, path, "probabilities", head, func(node int, row nodetable.Row) error {
		if len(row.Text) != width {
			return &ParseError{File: t.Name, Line: row.Line, Msg: fmt.Sprintf("%s, want %d as in the header", table.Counted(len(row.Text), "field"), width), Fix: "fix the line"}
		}
		return distribution(prior.Row(node), t.Name, row, column)
	})
	if err != nil {
		return nil, err
	}
	return prior, nil
}

// priorColumns finds the column of each class in the header.
func priorColumns(name string, head nodetable.Row, classNames []string) ([]int, error) {
	column := slices.Repeat([]int{-1}, len(classNames))
	for i, title := range head.Text[1:] {
		c := slices.Index(classNames, string(title))
		word := strings.ToLower(string(title))
		switch {
		case c >= 0 && column[c] >= 0:
			return nil, &ParseError{File: name, Line: head.Line, Column: head.Start[i+1] + 1, Msg: fmt.Sprintf("class %s has two columns", table.Quoted(title))}
		case c >= 0:
			column[c] = i + 1
		case word != "label" && word != "reached":
			return nil, &ParseError{File: name, Line: head.Line, Column: head.Start[i+1] + 1, Msg: fmt.Sprintf("%s is none of the classes %s", table.Quoted(title), strings.Join(classNames, ", ")), Fix: "the first line names the classes"}
		}
	}
	for c, at := range column {
		if at < 0 {
			return nil, &ParseError{File: name, Line: head.Line, Msg: fmt.Sprintf("class %q has no column", classNames[c]), Fix: "the first line names the classes"}
		}
	}
	return column, nil
}

// distribution stores the probabilities of a line.
func distribution(dst []float64, name string, row nodetable.Row, column []int) error {
	var sum float64
	for c, i := range column {
		p, wrong := table.ParseNumber(row.Text[i], 64)
		if wrong == "" && p < 0 {
			wrong = "is negative"
		}
		if wrong != "" {
			return &ParseError{File: name, Line: row.Line, Column: row.Start[i] + 1, Msg: fmt.Sprintf("probability %s %s", table.Quoted(row.Text[i]), wrong), Fix: "fix the line"}
		}
		dst[c] = p
		sum += p
	}
	if math.Abs(sum-1) > 0.0005*float64(len(column))+1e-6 {
		return &ParseError{File: name, Line: row.Line, Msg: fmt.Sprintf("the probabilities of %s add up to %.6g, want 1", table.Quoted(row.ID()), sum), Fix: "fix the line"}
	}
	for c := range dst {
		dst[c] /= sum
	}
	return nil
}

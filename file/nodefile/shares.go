package nodefile

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/nodetable"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// ReadShares reads the share of each class among all nodes: rows of a class and its share, in any order,
// with or without a header. Shares are positive and add up to 1, within the error of rounding each to
// three decimals. Share c of the result is that of classNames[c]. A first column of row numbers, as pandas
// writes it, is skipped: its title is empty or a word for an index, and the other two name no class. It
// returns nil if rows do not have two columns otherwise, as distributions of nodes have more, see [ReadPrior].
func ReadShares(ctx context.Context, path string, classNames []string, c *ListConfig) ([]float64, error) {
	if c == nil {
		c = &ListConfig{}
	}
	classOf := func(name string) (int, bool) {
		class := classIndex(classNames, name)
		return class, class >= 0
	}
	shares, sum, first, index := make([]float64, len(classNames)), 0.0, true, false
	t := &nodetable.Reader{Every: true, Header: NoHeader, Text: c.Text, Options: textio.Options{Stdin: c.Stdin, Warn: c.Warn}}
	for row, err := range t.Read(ctx, path) {
		if err != nil {
			return nil, err
		}
		if first && len(row.Text) == 3 && table.IsIndex(string(row.Text[0])) {
			_, second := classOf(string(row.Text[1]))
			_, third := classOf(string(row.Text[2]))
			index = !second && !third
		}
		if index && len(row.Text) == 3 {
			row.Text, row.Start = row.Text[1:], row.Start[1:]
		}
		if first && len(row.Text) != 2 {
			return nil, nil
		}
		name := string(row.Field(0))
		class, isClass := classOf(name)
		share, wrong := table.ParseNumber(table.Point(row.Text[1], t.Text.HasDecimalComma()), 64)
		if wrong == "" && !(share > 0) {
			wrong = "is not positive"
		}
		_, behind := classOf(string(row.Text[1]))
		header := first && !isClass && !behind && wrong != ""
		first = false
		switch {
		case header:
			continue
		case !isClass && behind:
			return nil, &ParseError{File: t.Name, Line: row.Line, Msg: fmt.Sprintf("the class %s is behind its share", table.Quoted(row.Text[1])), Fix: "write a line class<TAB>share for each class"}
		case !isClass:
			return nil, &ParseError{File: t.Name, Line: row.Line, Msg: fmt.Sprintf("class %s has no label", table.Quoted(name)), Fix: "remove the line, and divide the other shares by their sum"}
		case wrong != "":
			return nil, &ParseError{File: t.Name, Line: row.Line, Column: row.Start[1] + 1, Msg: fmt.Sprintf("share %s %s", table.Quoted(row.Text[1]), wrong), Fix: "fix the line"}
		case shares[class] > 0:
			return nil, &ParseError{File: t.Name, Line: row.Line, Msg: fmt.Sprintf("class %s has two lines", table.Quoted(name)), Fix: "keep one of the lines"}
		}
		shares[class] = share
		sum += share
	}
	if class := slices.Index(shares, 0); class >= 0 {
		return nil, &ParseError{File: t.Name, Msg: fmt.Sprintf("class %s has no share", table.Quoted(classNames[class])), Fix: "write a line class<TAB>share for each class"}
	}
	if math.Abs(sum-1) > roundingOf(len(shares)) {
		return nil, &ParseError{File: t.Name, Msg: fmt.Sprintf("the shares add up to %.6g, want 1", sum), Fix: "divide them by their sum"}
	}
	for class := range shares {
		shares[class] /= sum
	}
	return shares, nil
}

// roundingOf returns the largest error of the sum of numbers that are rounded to three decimals.
func roundingOf(numbers int) float64 { return 0.0005*float64(numbers) + 1e-6 }

package nodefile

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
)

// ReadShares reads the share of each class among all nodes: rows of a class and its share, in any order,
// with or without a header. Shares are positive and add up to 1, within the error of rounding each to
// three decimals. Share c of the result is that of classNames[c]. A first column of row numbers, as pandas
// writes it, is skipped: its title is empty or a word for an index, and the other two name no class. It
// returns nil if rows do not have two columns otherwise, as distributions of nodes have more, see [ReadPrior].
func ReadShares(ctx context.Context, path string, classNames []string,
	c *ListConfig) ([]float64, error) {
	c = cmp.Or(c, &ListConfig{})
	shares := make([]float64, len(classNames))
	sum := 0.0
	isFirst := true
	t := &Reader{Every: true, Header: NoHeader, Text: c.Text,
		Options: textio.Options{Stdin: c.Stdin, Warn: c.Warn}}
	first := 0 // column of the class: 1 behind row numbers
	for row, err := range t.Read(ctx, path) {
		if err != nil {
			return nil, err
		}
		if isFirst {
			if len(row.Text) == 3 && table.IsIndex(string(row.Text[0])) &&
				classIndex(classNames, string(row.Text[1])) < 0 &&
				classIndex(classNames, string(row.Text[2])) < 0 {
				first = 1
			}
			if len(row.Text) != first+2 {
				return nil, nil
			}
		}
		name := string(row.Field(first))
		text := row.Field(first + 1)
		class := classIndex(classNames, name)
		behind := classIndex(classNames, string(text))
		share, wrong := table.ParseNumber(table.PlainNumber(text, t.Text), 64)
		if wrong == "" && !(share > 0) {
			wrong = "is not positive"
		}
		isHeader := isFirst && class < 0 && behind < 0 && wrong != ""
		isFirst = false
		if isHeader {
			continue
		}
		fault := func(fix, format string, args ...any) ([]float64, error) {
			return nil, textio.Fault(t.Name, row.Line, fix, format, args...)
		}
		switch {
		case class < 0 && behind >= 0:
			return fault("write a line class<TAB>share for each class",
				"the class %s is behind its share", words.Quoted(text))
		case class < 0:
			return fault("remove the line, and divide the other shares by their sum", "class %s has no label", words.Quoted(name))
		case wrong != "":
			return fault("fix the line", "share %s %s", words.Quoted(text), wrong)
		case shares[class] > 0:
			return fault("keep one of the lines", "class %s has two lines",
				words.Quoted(name))
		}
		shares[class] = share
		sum += share
	}
	if class := slices.Index(shares, 0); class >= 0 {
		return nil, textio.Fault(t.Name, 0,
			"write a line class<TAB>share for each class", "class %s has no share",
			words.Quoted(classNames[class]))
	}
	if math.Abs(sum-1) > roundingOf(len(shares)) {
		return nil, textio.Fault(t.Name, 0, "divide them by their sum",
			"the shares add up to %.6g, want 1", sum)
	}
	for class := range shares {
		shares[class] /= sum
	}
	return shares, nil
}

// roundingOf returns the largest error of the sum of numbers that are rounded to three decimals.
func roundingOf(numbers int) float64 {
	return 0.0005*float64(numbers) + 1e-6
}

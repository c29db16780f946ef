package nodefile

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
)

// ReadShares reads the share of each class among all nodes, from rows with a class and its share in any order. Shares
// must be positive and have the sum 1, within the error of rounding each share to three decimals. Share c of the
// result belongs to classNames[c]. If rows do not have two columns, apart from row numbers, the result is nil,
// because the file may be for [ReadPrior].
func ReadShares(ctx context.Context, path string, classNames []string,
	c *ListConfig) ([]float64, error) {
	c = cmp.Or(c, &ListConfig{})
	shares := make([]float64, len(classNames))
	sum := 0.0
	t := &Reader{Every: true, Text: c.Text,
		Options: textio.Options{Stdin: c.Stdin, Warn: c.Warn}}
	for row, err := range t.Read(ctx, path) {
		if err != nil {
			return nil, err
		}
		column := slices.IndexFunc(t.Columns, func(c input.Column) bool { return c.Use == "" })
		if column != len(t.Columns)-1 || column > t.Node+1 || classIndex(classNames, t.Names[column]) >= 0 {
			return nil, nil
		}
		name := row.ID()
		text := row.Field(column)
		class := classIndex(classNames, string(name))
		share, wrong := table.ParseNumberIn(text, t.Text)
		if wrong == "" && !(share > 0) {
			wrong = "is not positive"
		}
		switch {
		case class < 0:
			return nil, t.Fault(row, t.Node, "write a line class<TAB>share for each class, with shares that add up to 1", "class %s has no label", words.Quoted(name))
		case wrong != "":
			return nil, t.Fault(row, column, "fix the line", "share %s %s", words.Quoted(text), wrong)
		case shares[class] > 0:
			return nil, t.Fault(row, t.Node, "keep one of the lines", "class %s has two lines", words.Quoted(name))
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

func roundingOf(numbers int) float64 {
	return 0.0005*float64(numbers) + 1e-6
}

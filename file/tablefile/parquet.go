package tablefile

import (
	"io"

	"github.com/heatwalk/heatwalk/internal/parquetfile"
)

// groupRows is the number of rows of a Parquet row group, which the writer keeps in memory
// until it is complete.
const groupRows = 1 << 16

// newParquet returns a writer of predictions in the Parquet format. The columns are those of
// the TSV format, in the same order: node (string), label (string, null without a label),
// reached and known (boolean), probability and scores (double, null without scores).
func newParquet(w io.Writer, c *Columns) predictionFile {
	var columns []parquetfile.Column
	for i, name := range c.header() {
		column := parquetfile.Column{Name: name, Kind: parquetfile.Doubles,
			Optional: true}
		switch {
		case i == 0:
			column.Kind = parquetfile.Strings
			column.Optional = false
		case i == 1, i > 4 && c.Top > 0 && i%2 == 1:
			column.Kind = parquetfile.Strings
		case i == 2, i == 3:
			column.Kind = parquetfile.Truths
			column.Optional = false
		}
		columns = append(columns, column)
	}
	out := parquetfile.NewWriter(w, "predictions", columns, groupRows)
	text := func(s string, isPresent bool) {
		if isPresent {
			out.String([]byte(s))
		} else {
			out.Null()
		}
	}
	number := func(x float64, isPresent bool) {
		if isPresent {
			out.Double(x)
		} else {
			out.Null()
		}
	}
	return predictionFile{close: out.Close, write: func(p *Prediction, order []int) error {
		text(p.Node, true)
		text(p.Label, p.Label != "")
		out.Truth(p.Reached)
		out.Truth(p.Known)
		number(p.probability(c.number))
		for _, class := range order {
			if c.Top > 0 {
				text(c.Classes[class], p.Scores != nil)
			}
			if p.Scores != nil {
				number(p.Scores[class], true)
			} else {
				number(0, false)
			}
		}
		return out.EndRow()
	}}
}

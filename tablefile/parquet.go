package tablefile

import (
	"io"

	"github.com/heatwalk/heatwalk/internal/table"
)

// groupRows is the number of rows of a Parquet row group, which is what is held
// in memory.
const groupRows = 1 << 16

type parquetFile struct {
	out     *table.ParquetWriter
	columns Columns
	scores  int // columns of scores
	order   []int
}

// newParquet returns a file of predictions in the Parquet format with the columns
// of the TSV form, in their order: node (string), label (string, null: none),
// reached (boolean), scores (double, null: none).
func newParquet(w io.Writer, c Columns) predictionWriter {
	var columns []table.Column
	for i, name := range c.header() {
		column := table.Column{Name: name, Kind: table.Doubles, Optional: true}
		switch {
		case i == 0:
			column.Kind, column.Optional = table.Strings, false
		case i == 1, i > 2 && c.Top > 0 && i%2 == 1:
			column.Kind = table.Strings
		case i == 2:
			column.Kind, column.Optional = table.Truths, false
		}
		columns = append(columns, column)
	}
	return &parquetFile{
		out: table.NewParquet(w, "predictions", columns, groupRows), columns: c, scores: len(columns) - len(fixedColumns),
	}
}

// Write implements [predictionWriter].
func (p *parquetFile) Write(pr *Prediction) error {
	p.out.String([]byte(pr.Node))
	if pr.Label == "" {
		p.out.Missing()
	} else {
		p.out.String([]byte(pr.Label))
	}
	p.out.Truth(pr.Reached)
	switch {
	case pr.Scores == nil:
		for range p.scores {
			p.out.Missing()
		}
	case p.columns.Top > 0:
		p.order = p.columns.best(p.order, pr.Scores)
		for _, class := range p.order {
			p.out.String([]byte(p.columns.Classes[class]))
			p.out.Double(pr.Scores[class])
		}
	case p.columns.Top == 0:
		for _, score := range pr.Scores {
			p.out.Double(score)
		}
	}
	return p.out.EndRow()
}

// Close implements [predictionWriter].
func (p *parquetFile) Close() error { return p.out.Close() }

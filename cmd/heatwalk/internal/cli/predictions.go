package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/tablefile"
)

// predictionFormats are the endings of a file of predictions.
var predictionFormats = []string{".tsv", ".jsonl", ".parquet"}

// scoreFormats are those of a matrix of scores alone.
var scoreFormats = []string{".npy", ".npz"}

// isScoreMatrix reports whether a path names a matrix of scores.
func isScoreMatrix(path string) bool {
	return slices.Contains(scoreFormats, strings.ToLower(filepath.Ext(path)))
}

func parseScores(top *int, s string) error {
	count, ranked := strings.CutPrefix(s, "top=")
	n, err := strconv.Atoi(count)
	switch {
	case s == "all":
		*top = 0
	case s == "none":
		*top = -1
	case ranked && err == nil && n > 0:
		*top = n
	default:
		return fmt.Errorf("%s is not a choice of scores; give all, none or top=K with K ≥ 1", quoted(s))
	}
	return nil
}

// predictionBytes bounds the file of predictions that has the given ids.
func predictionBytes(out string, columns tablefile.Columns, ids axis) int64 {
	if isScoreMatrix(out) {
		return 8*int64(ids.N)*int64(len(columns.Classes)) + ids.Bytes()
	}
	return tablefile.PredictionBytes(formatOf(out, predictionFormats), columns, ids.N, ids.Bytes())
}

// found is what was found of nodes, records or graphs, in the order of the output.
type found struct {
	ids  axis
	line func(i int, p *tablefile.Prediction) // stores label, reach and probabilities

	// raw stores the scores that probabilities are made of, which are called rawNames; nil:
	// there are none.
	raw      func(i int, row []float64)
	rawNames []string
}

// write writes predictions, or a matrix of scores alone: the raw ones, or probabilities.
func (f *found) write(o *product, c tablefile.Columns, raw bool, dtype string) error {
	if o.dense == nil {
		return tablefile.WritePredictions(o.in.ctx, o.text, formatOf(o.path, predictionFormats), c, f.ids.N, func(i int, p *tablefile.Prediction) {
			p.Node = f.ids.ID(i)
			f.line(i, p)
		})
	}
	if raw {
		return o.fill(dtype, f.ids, tablefile.AxisOf(f.rawNames), lines{}, func(i int, row []float64) error {
			f.raw(i, row)
			return nil
		})
	}
	return o.fill(dtype, f.ids, tablefile.AxisOf(c.Classes), lines{}, func(i int, row []float64) error {
		f.line(i, &tablefile.Prediction{Scores: row})
		return nil
	})
}

// ofNodes returns what was found of the nodes of g, each of which has the label that
// labelOf returns.
func ofNodes(g *openGraph, p *method.Prediction, classes []string, labelOf func(row int) string) *found {
	rowOf := func(i int) int { return i }
	if g.Nodes().Order() != nil {
		rows := slices.Collect(g.Nodes().Rows())
		rowOf = func(i int) int { return rows[i] }
	}
	f := &found{ids: axis{N: g.Nodes().Len(), ID: func(i int) string { return g.Nodes().ID(rowOf(i)) }}}
	f.line = func(i int, line *tablefile.Prediction) {
		row := rowOf(i)
		line.Label, line.Reached = labelOf(row), p.Reached.Contains(uint32(row))
		for c, s := range p.Scores.Row(row) {
			line.Scores[c] = float64(s)
		}
	}
	if p.Raw != nil {
		f.rawNames = classes
		f.raw = func(i int, row []float64) { copy(row, p.Raw.Row(rowOf(i))) }
	}
	return f
}

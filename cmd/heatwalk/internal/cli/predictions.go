package cli

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/sparse"
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

// predictionBytes bounds a file of predictions: so many times the longest line that
// there may be, and the ids. Parquet is taken for text.
func predictionBytes(out string, columns tablefile.Columns, ids axis) int64 {
	if isScoreMatrix(out) {
		return 8*int64(ids.n)*int64(len(columns.Classes)) + idBytes(ids)
	}
	longestFirst := slices.SortedFunc(slices.Values(columns.Classes), func(a, b string) int { return len(b) - len(a) })
	line := tablefile.Prediction{Label: longestFirst[0]}
	for range columns.Classes {
		line.Scores = append(line.Scores, 1.23456e-10) // none takes more
	}
	columns.Classes = longestFirst
	text := strings.TrimSuffix(formatOf(out, predictionFormats), ".parquet")
	file := func(lines int) int64 {
		var w bytes.Buffer
		to := beginPredictions(&w, text, columns)
		for range lines {
			_ = to.Write(&line) // a bytes.Buffer takes everything
		}
		_ = to.Close()
		return int64(w.Len())
	}
	return file(0) + idBytes(ids) + int64(ids.n)*(file(1)-file(0))
}

// beginPredictions begins a file of predictions in the format of an ending.
func beginPredictions(w io.Writer, format string, c tablefile.Columns) tablefile.Predictions {
	switch format {
	case ".jsonl":
		return tablefile.JSONL(w, c)
	case ".parquet":
		return tablefile.Parquet(w, c)
	}
	return tablefile.TSV(w, c)
}

// labelIn returns the name of the label of a row, "" for a blank.
func labelIn(labels []int, names []string) func(row int) string {
	return func(row int) string {
		if labels[row] == evaluate.Unlabelled {
			return ""
		}
		return names[labels[row]]
	}
}

// writePredictions writes a line for every node, in the order of the ids.
func writePredictions(w io.Writer, format string, g *openGraph, p *method.Prediction, labelOf func(row int) string, c tablefile.Columns) error {
	file := beginPredictions(w, format, c)
	nodes := g.Nodes()
	var line tablefile.Prediction
	for row := range nodes.Rows() {
		line.Node, line.Label, line.Reached = nodes.ID(row), labelOf(row), p.Reached.Contains(uint32(row))
		line.Scores = line.Scores[:0]
		for _, s := range p.Scores.Row(row) {
			line.Scores = append(line.Scores, float64(s))
		}
		if err := file.Write(&line); err != nil {
			return err
		}
	}
	return file.Close()
}

// writeScores writes a matrix of scores, or of probabilities, in the order of the ids.
func (f *classifyFlags) writeScores(d *denseOutput, g *openGraph, p *method.Prediction, classes []string) error {
	if f.kind == "raw" && p.Raw == nil {
		return usageOf("--scores", "%s has probabilities alone; give probability", f.method.Name())
	}
	if f.gram.dtype == "float64" {
		return writeScoresOf[float64](d, g, p, classes, f.kind == "raw")
	}
	return writeScoresOf[float32](d, g, p, classes, f.kind == "raw")
}

func writeScoresOf[T sparse.Float](d *denseOutput, g *openGraph, p *method.Prediction, classes []string, raw bool) error {
	rows := slices.Collect(g.Nodes().Rows())
	file, err := newDenseFile[T](d, nodesOf(g, rows), axisOf(classes), lines{})
	if err != nil {
		return err
	}
	values := make([]T, len(classes))
	for _, row := range rows {
		for c := range values {
			if raw {
				values[c] = T(p.Raw.Row(row)[c])
			} else {
				values[c] = T(p.Scores.Row(row)[c])
			}
		}
		if err := file.Row(values); err != nil {
			return err
		}
	}
	return file.Close()
}

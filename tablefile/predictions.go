package tablefile

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strconv"
)

// Prediction is the prediction for one node.
type Prediction struct {
	Node    string
	Label   string // the class; empty: none
	Reached bool   // some labelled node can reach it

	// Scores has one score for each class; nil: none. It is read only during
	// the call.
	Scores []float64
}

// predictionFile is a file of predictions under way, in one of the formats. write is
// given the classes of a line's scores in their order, also where the scores are missing;
// close flushes the buffer and does not close the underlying writer.
type predictionFile struct {
	write func(p *Prediction, order []int) error
	close func() error
}

// predictionFormats are the formats of predictions, of which each stands in a file of code of
// its own.
var predictionFormats = []struct {
	ending string
	begin  func(w io.Writer, c Columns) predictionFile
}{{".tsv", newTSV}, {".csv", newCSV}, {".jsonl", newJSONL}, {".parquet", newParquet}}

// PredictionEndings are the endings of files of predictions.
var PredictionEndings = func() (endings []string) {
	for _, f := range predictionFormats {
		endings = append(endings, f.ending)
	}
	return endings
}()

// WritePredictions writes n predictions, which line stores in *p one after the other, in
// the format of an ending, the first of [PredictionEndings] for one of no format. Before
// each call of line, p.Scores has an element for each class; the slice is used again.
// Memory is needed for a line, for Parquet for a group of them.
func WritePredictions(ctx context.Context, w io.Writer, ending string, c Columns, n int, line func(i int, p *Prediction)) error {
	format := predictionFormats[max(0, slices.Index(PredictionEndings, ending))]
	file := format.begin(w, c)
	var order []int
	scores := make([]float64, len(c.Classes))
	for i := range n {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p := Prediction{Scores: scores}
		line(i, &p)
		order = c.order(order, p.Scores)
		if err := file.write(&p, order); err != nil {
			return err
		}
	}
	return file.close()
}

// Columns says which scores a file of predictions holds.
type Columns struct {
	Classes []string // the names of the classes, in the order of the scores
	Top     int      // number of best classes, each with its name; 0: all classes, a column each; < 0: no scores
}

// fixedColumns stand in front of the scores.
var fixedColumns = []string{"node", "label", "reached"}

// header returns the names of all columns. A class called like one of the
// fixed columns is written as class:NAME.
func (c Columns) header() []string {
	names := slices.Clone(fixedColumns)
	for i := range c.top() {
		rank := strconv.Itoa(i + 1)
		names = append(names, "label"+rank, "score"+rank)
	}
	if c.Top == 0 {
		for _, class := range c.Classes {
			if slices.Contains(fixedColumns, class) {
				class = "class:" + class
			}
			names = append(names, class)
		}
	}
	return names
}

// top returns how many ranked classes a line holds.
func (c Columns) top() int { return min(max(c.Top, 0), len(c.Classes)) }

// order stores in dst the classes whose scores a line holds: all, or those with the
// highest scores, the lower class first among equals.
func (c Columns) order(dst []int, scores []float64) []int {
	dst = dst[:0]
	for class := range c.Classes {
		dst = append(dst, class)
	}
	if c.Top == 0 {
		return dst
	}
	if c.Top > 0 && scores != nil {
		slices.SortStableFunc(dst, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	}
	return dst[:c.top()]
}

// appendScore appends a score with six digits.
func appendScore(buf []byte, score float64) []byte {
	return strconv.AppendFloat(buf, score, 'g', 6, 64)
}

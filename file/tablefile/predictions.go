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
	Label   string // predicted class; empty if no class was predicted
	Reached bool   // a path connects the node with a labelled node
	Known   bool   // the label was given

	// Scores has one score for each class, or is nil for a node without scores. Writers read
	// it during the call only.
	Scores []float64
}

// probability returns the score of the predicted class, given the classes by name; false if the prediction has no
// scores, no class, or several classes.
func (p *Prediction) probability(number map[string]int) (float64, bool) {
	class, isClass := number[p.Label]
	if p.Scores == nil || !isClass {
		return 0, false
	}
	return p.Scores[class], true
}

// predictionFile writes a file of predictions in one of the formats. write writes a
// prediction; order lists the classes whose scores the line holds, even if p has no scores.
// close flushes the buffer and does not close the underlying writer.
type predictionFile struct {
	write func(p *Prediction, order []int) error
	close func() error
}

// predictionFormats lists the formats of predictions. The code of each is in a file of its own.
var predictionFormats = []struct {
	ending string
	begin  func(w io.Writer, c *Columns) predictionFile
}{{".tsv", newTSV}, {".csv", newCSV}, {".jsonl", newJSONL}, {".parquet",
	newParquet}}

// PredictionEndings lists the endings of files of predictions.
var PredictionEndings = func() (endings []string) {
	for _, f := range predictionFormats {
		endings = append(endings, f.ending)
	}
	return endings
}()

// WritePredictions writes n predictions in the format of a file ending, or in the first of
// [PredictionEndings] for an unknown ending. line(i, p) stores prediction i in *p; p.Scores has
// one element for each class and is reused for the next prediction. Memory: one line, or one
// row group for Parquet.
func WritePredictions(ctx context.Context, w io.Writer, ending string, c Columns,
	n int, line func(i int, p *Prediction)) error {
	format := predictionFormats[max(0, slices.Index(PredictionEndings, ending))]
	c.number = make(map[string]int, len(c.Classes))
	for class, name := range c.Classes {
		c.number[name] = class
	}
	file := format.begin(w, &c)
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

// Columns selects the scores in a file of predictions.
type Columns struct {
	Classes []string // class names, in the order of the scores
	Top     int      // > 0: name and score of that many best classes; 0: a column for each class; < 0: no scores

	number map[string]int // of each class
}

// fixedColumns are the titles of the columns before the scores. The probability is that of the label.
var fixedColumns = []string{"node", "label", "reached", "known", "probability"}

// header returns the titles of all columns. A class with the name of a fixed column gets the
// title class:NAME, so that titles are unique.
func (c *Columns) header() []string {
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

// top returns the number of ranked classes in a line.
func (c *Columns) top() int {
	return min(max(c.Top, 0), len(c.Classes))
}

// order stores in dst the classes whose scores a line holds: all, or the c.Top classes with the
// highest scores. Among equal scores the class with the lower index comes first.
func (c *Columns) order(dst []int, scores []float64) []int {
	dst = dst[:0]
	for class := range c.Classes {
		dst = append(dst, class)
	}
	if c.Top == 0 {
		return dst
	}
	if c.Top > 0 && scores != nil {
		slices.SortStableFunc(dst,
			func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	}
	return dst[:c.top()]
}

func appendScore(buf []byte, score float64) []byte {
	return strconv.AppendFloat(buf, score, 'g', 6, 64)
}

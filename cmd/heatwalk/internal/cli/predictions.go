package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
)

// scoreFormats are the endings of a file of predictions, or of a matrix of scores alone.
var scoreFormats = slices.Concat(tablefile.PredictionEndings, tablefile.NPY.Endings, tablefile.NPZ.Endings)

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

// predictionBytes returns an upper bound of the size of a file of predictions, for estimates; 0 for
// real runs.
func predictionBytes(o *outputs, columns tablefile.Columns, ids axis) int64 {
	switch {
	case !o.run.estimating:
		return 0
	case o.format != nil:
		return runFileBytes + 8*int64(ids.N)*int64(len(columns.Classes)) + idBytes(ids)
	}
	columns.Classes = slices.SortedFunc(slices.Values(columns.Classes), func(a, b string) int { return len(b) - len(a) })
	ending := strings.TrimSuffix(formatOf(o.path, tablefile.PredictionEndings), ".parquet") // Parquet is smaller than text
	linesBytes := func(n int) int64 {                                                       // size of n lines of the largest length, without ids
		var file byteCounter // never fails
		_ = tablefile.WritePredictions(o.run.ctx, &file, ending, columns, n, func(_ int, p *tablefile.Prediction) {
			p.Label = columns.Classes[0]
			for i := range p.Scores {
				p.Scores[i] = 1.23456e-10 // the longest text of a score
			}
		})
		return int64(file)
	}
	return runFileBytes + linesBytes(0) + idBytes(ids) + int64(ids.N)*(linesBytes(1)-linesBytes(0))
}

// predictionRows holds the predictions for nodes, records or graphs, in the order of the output.
type predictionRows struct {
	ids  axis
	line func(i int, p *tablefile.Prediction) // stores label, reach and probabilities

	// predicted returns the class that is written for item i, -1 for a blank, and whether a label
	// reaches it; nil: archives do not hold these.
	predicted func(i int) (class int, reached bool)

	// raw stores the scores from which probabilities are computed, with the names rawNames; may be nil.
	raw      func(i int, row []float64)
	rawNames []string
}

// writePredictions writes predictions, or a matrix of scores only: raw scores, or probabilities.
func writePredictions(o *outputs, f *predictionRows, c tablefile.Columns, raw bool, dtype string) error {
	if o.format == nil {
		return tablefile.WritePredictions(o.run.ctx, o.w, formatOf(o.path, tablefile.PredictionEndings), c, f.ids.N, func(i int, p *tablefile.Prediction) {
			p.Node = f.ids.ID(i)
			f.line(i, p)
		})
	}
	names, row := f.rawNames, f.raw
	if !raw {
		names, row = c.Classes, func(i int, row []float64) { f.line(i, &tablefile.Prediction{Scores: row}) }
	}
	return fillMatrix(o, dtype, &tablefile.Matrix{Rows: f.ids, Cols: tablefile.AxisOf(names), Predictions: f.predicted}, func(i int, values []float64) error {
		row(i, values)
		return nil
	})
}

// labelsDocument holds the common keys of the JSON documents of predictions.
type labelsDocument struct {
	Output   string       `json:"output"`
	Labelled int          `json:"labelled"`
	Skipped  skippedLines `json:"skipped_label_lines"`
	Classes  []string     `json:"classes"`

	AccuracyEstimate *float64        `json:"accuracy_estimate,omitempty"`
	AccuracyStderr   *float64        `json:"accuracy_stderr,omitempty"`
	Truth            *evaluate.Truth `json:"truth,omitempty"`
}

// learnedFrom returns the keys about the labels.
func learnedFrom(o *outputs, l *nodefile.Labels) labelsDocument {
	return labelsDocument{Output: o.path, Labelled: len(l.Row), Skipped: skippedOf(l), Classes: l.Names}
}

// estimate sets the estimated accuracy, unless tested is 0.
func (d *labelsDocument) estimate(accuracy, stderr float64, tested int) {
	if tested > 0 {
		d.AccuracyEstimate, d.AccuracyStderr = &accuracy, &stderr
	}
}

// estimated returns the estimated accuracy as text, or "".
func (d *labelsDocument) estimated() string {
	if d.AccuracyEstimate == nil {
		return ""
	}
	return fmt.Sprintf("cross-validated accuracy %.1f ± %.1f %%", 100**d.AccuracyEstimate, 100**d.AccuracyStderr)
}

// compareTruth compares the class of each node (noun: graph or record) with its true label, unless truth
// is nil. It warns about true labels that do not occur in training, because no prediction can be correct.
func compareTruth(run *session, class []int, reached *roaring.Bitmap, l, truth *nodefile.Labels, noun string) *evaluate.Truth {
	if truth == nil {
		return nil
	}
	truth.Respell(l.Names)
	size := sizesOf(truth)
	for c, name := range truth.Names {
		if !slices.Contains(l.Names, name) {
			run.warn("%s: class %s (%s) has no training label and counts as wrong", truth.File, quoted(name), words.Counted(size[c], "node"))
		}
	}
	t := evaluate.Compare(class, reached, l, truth)
	if t == nil {
		run.warn("%s: nothing to compare with; every %s it labels is labelled in %s", truth.File, noun, l.File)
	}
	return t
}

// compared returns the comparison with the labels of a file as text, or "".
func (d *labelsDocument) compared(file, noun string) string {
	t := d.Truth
	if t == nil {
		return ""
	}
	text := fmt.Sprintf("against %s: accuracy %s of %s", file, words.Percent(t.All), words.Counted(t.Nodes, noun))
	if t.NodesReached < t.Nodes {
		text += fmt.Sprintf(", %s of the %s reached", words.Percent(t.Reached), words.Count(t.NodesReached))
	}
	return text + fmt.Sprintf(", macro-F1 %.3f", t.MacroF1)
}

package shell

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/method/problem"
)

// ScoreFlags holds the flags for the scores in an output.
type ScoreFlags struct {
	Top   int    // as tablefile.Columns.Top
	Kind  string // kind of a matrix of scores: raw or probability; "": not given
	Dtype string
}

// Declare declares the flags of f; textProbabilities says that text formats have probabilities.
func (f *ScoreFlags) Declare(flags *FlagSet, textProbabilities bool) {
	flags.AddValue("scores", "all|top=K|none", "all", "scores to write: of all classes, of the K best classes, or none; of scores alone raw or probability", func(s string) error {
		f.Kind = ""
		if s == "raw" || s == "probability" {
			f.Kind = s
			return nil
		}
		return parseScores(&f.Top, s)
	})
	flags.AddDtype(&f.Dtype, "float32", "precision of scores alone")
	flags.AddCheck(func(line *CommandLine, _ []string) {
		out := flags.Lookup("output")
		matrix := MatrixFormatOf(out.Value.String(),
			out.Annotations[OutputFile]) != nil
		switch {
		case !matrix && (f.Kind == "raw" || f.Kind != "" && !textProbabilities):
			line.Problem("--scores",
				"%s scores alone are a matrix; write -o FILE.npy, or give all, none or top=K", f.Kind)
		case matrix && f.Kind == "" && flags.Changed("scores"):
			line.Problem("--scores",
				"a matrix has all of them; give raw or probability")
		}
		line.Refuse(!matrix, "dtype",
			"makes a difference with -o FILE.npy only; leave it out")
	})
}

const PredictionUsage = "of predictions: .tsv, .csv, .jsonl or .parquet, .npy or .npz for scores alone; - is stdout"

var ScoreFormats = slices.Concat(tablefile.PredictionEndings, tablefile.NPY.Endings,
	tablefile.NPZ.Endings)

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
		return fmt.Errorf("%s is not a choice of scores; give all, none or top=K with K ≥ 1", Quote(s))
	}
	return nil
}

// PredictionBytes returns an upper bound of the size of a file of predictions in a dry run, otherwise 0.
func (o *Outputs) PredictionBytes(columns tablefile.Columns, ids Axis) int64 {
	switch {
	case !o.Run.Costs.DryRun:
		return 0
	case o.Format != nil:
		return RunFileBytes + 8*int64(ids.N)*int64(len(columns.Classes)) +
			IDBytes(ids)
	}
	longest := 30 // bytes of a name, in a set and before a score, and of a score
	for _, name := range columns.Classes {
		longest = max(longest, 30+2*len(name))
	}
	scores := len(columns.Classes)
	if columns.Top > 0 && !columns.Sets { // a set may hold all classes
		scores = min(scores, columns.Top)
	}
	return RunFileBytes + IDBytes(ids) + int64(ids.N+1)*int64(scores+3)*int64(longest)
}

// PredictionRows holds the predictions for nodes or items, in the order of the output.
type PredictionRows struct {
	IDs  Axis
	Line func(i int, p *tablefile.Prediction) // stores label, reach and probabilities

	// Predicted returns the class to write for item i, or −1 for a blank, and whether a label reaches the
	// item. It is nil for outputs without classes.
	Predicted func(i int) (class int, reached bool)

	// Raw stores the scores from which the probabilities are computed. RawNames are their names. It may be
	// nil.
	Raw      func(i int, row []float64)
	RawNames []string
}

// WritePredictions writes a file of predictions or, if the format is a matrix, the scores alone: raw scores if
// raw is set, otherwise probabilities.
func (o *Outputs) WritePredictions(f *PredictionRows, c tablefile.Columns, raw bool,
	dtype string) error {
	o.Run.Progress.Wait("writing")
	if o.Format == nil {
		return tablefile.WritePredictions(o.Run.Context, o.Writer, Ending(o.Path), c, f.IDs.N, func(i int, p *tablefile.Prediction) {
			p.Node = f.IDs.ID(i)
			f.Line(i, p)
		})
	}
	names := f.RawNames
	fill := f.Raw
	if !raw {
		names = c.Classes
		fill = func(i int, row []float64) { f.Line(i, &tablefile.Prediction{Scores: row}) }
	}
	order := nodefile.OrderClasses(names)
	m := &tablefile.Matrix{Rows: f.IDs, Cols: tablefile.AxisOf(problem.Pick(names, order))}
	if f.Predicted != nil {
		m.Predictions = func(i int) (class int, isReached bool) {
			class, isReached = f.Predicted(i)
			return slices.Index(order, class), isReached
		}
	}
	row := make([]float64, len(names))
	return o.FillMatrix(dtype, m, func(i int, values []float64) error {
		fill(i, row)
		for place, class := range order {
			values[place] = row[class]
		}
		return nil
	})
}

// LabelsDocument holds the common JSON keys of predictions.
type LabelsDocument struct {
	Output   string       `json:"output"`
	Labelled int          `json:"labelled"`
	Skipped  SkippedLines `json:"skipped_label_lines"`
	Classes  []string     `json:"classes"`

	AccuracyEstimate *float64        `json:"accuracy_estimate,omitempty"`
	AccuracyStderr   *float64        `json:"accuracy_stderr,omitempty"`
	Truth            *evaluate.Truth `json:"truth,omitempty"`
}

// LearnedFrom returns a document with the path of the output and the counts and classes of l, the labels that
// were learned from.
func (o *Outputs) LearnedFrom(l *nodefile.Labels) LabelsDocument {
	return LabelsDocument{Output: o.Path, Labelled: len(l.Row),
		Skipped: CountSkipped(l), Classes: problem.Pick(l.Names, nodefile.OrderClasses(l.Names))}
}

// Estimate sets the estimated accuracy. It does nothing if tested is 0.
func (d *LabelsDocument) Estimate(accuracy, stderr float64, tested int) {
	if tested > 0 {
		d.AccuracyEstimate = &accuracy
		d.AccuracyStderr = &stderr
	}
}

// DescribeAccuracy returns the estimated accuracy as text, or "".
func (d *LabelsDocument) DescribeAccuracy() string {
	if d.AccuracyEstimate == nil {
		return ""
	}
	accuracy := 100 * *d.AccuracyEstimate
	stderr := 100 * *d.AccuracyStderr
	if stderr > 25 { // few labels
		return fmt.Sprintf("cross-validated accuracy between %.1f and %.1f %%",
			max(0, accuracy-stderr), min(100, accuracy+stderr))
	}
	return fmt.Sprintf("cross-validated accuracy %.1f ± %.1f %%", accuracy, stderr)
}

// CompareTruth compares the class of each node or item, which noun names, with its true label. It returns nil
// if truth is nil. It warns about classes without training labels, because they cannot be predicted.
func (console *Console) CompareTruth(class []int, reached *roaring.Bitmap,
	l, truth *nodefile.Labels, noun string) *evaluate.Truth {
	if truth == nil {
		return nil
	}
	truth.Respell(l.Names)
	size := truth.Sizes()
	for c, name := range truth.Names {
		if slices.Contains(l.Names, name) {
			size[c] = 0
		}
	}
	console.warnUntrained(truth.File, truth.Names, size, noun)
	t := evaluate.Compare(class, reached, l, truth)
	if t == nil {
		console.Warn("%s: nothing to compare with; every %s it labels is labelled in %s",
			truth.File, noun, l.File)
	}
	return t
}

// warnUntrained warns in one line about classes of a file that have items but no training label.
func (console *Console) warnUntrained(file string, names []string, items []int,
	noun string) {
	var classes []string
	total := 0
	for c, n := range items {
		if n > 0 {
			classes = append(classes, Quote(names[c]))
			total += n
		}
	}
	switch count := len(classes); {
	case count == 1:
		console.Warn("%s: class %s (%s) has no training label and counts as wrong",
			file, classes[0], words.Counted(total, noun))
	case count > 1:
		list := strings.Join(classes[:min(count, namedClasses)], ", ")
		if count > namedClasses {
			list += fmt.Sprintf(" and %d more", count-namedClasses)
		}
		console.Warn("%s: %d classes (%s) have no training label and count as wrong: %s",
			file, count, words.Counted(total, noun), list)
	}
}

const namedClasses = 3

// DescribeTruth returns the comparison with the true labels as text, or "".
func (d *LabelsDocument) DescribeTruth(file, noun string) string {
	t := d.Truth
	if t == nil {
		return ""
	}
	text := fmt.Sprintf("against %s: accuracy %s of %s", file, words.Percent(t.All),
		words.Counted(t.Nodes, noun))
	if t.NodesReached < t.Nodes {
		text += fmt.Sprintf(", %s of the %s reached", words.Percent(t.Reached),
			words.Count(t.NodesReached))
	}
	return text + fmt.Sprintf(", macro-F1 %.3f", t.MacroF1)
}

package tablefile

import (
	"cmp"
	"context"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/nodefile"
)

// Prediction is the prediction for one node.
type Prediction struct {
	Node    string
	Label   string // predicted class; "" for none
	Reached bool   // a path connects the node with a labelled node
	Known   bool   // the label was given

	Set []string // prediction set of the node, see Columns.Sets

	// Scores has one score for each class, or is nil. A writer reads it during the call only.
	Scores []float64

	class int   // number of the label; −1: no label, or several
	order []int // classes whose scores are in the line, also for a node without scores
}

func (p *Prediction) score(class int) float64 {
	if p.Scores == nil || class < 0 {
		return math.NaN()
	}
	return p.Scores[class]
}

// fixedColumns are the columns before the scores; probability is the probability of the label.
var fixedColumns = []Column[*Prediction]{
	{Title: "node", Text: func(p *Prediction) string { return p.Node }},
	{Title: labelTitle, Optional: true, Text: func(p *Prediction) string { return p.Label }},
	{Title: "reached", Truth: func(p *Prediction) bool { return p.Reached }},
	{Title: "known", Truth: func(p *Prediction) bool { return p.Known }},
	scoreColumn("probability", func(p *Prediction) int { return p.class }),
}

var setColumns = []Column[*Prediction]{
	{Title: "set", Optional: true, Text: func(p *Prediction) string { return strings.Join(p.Set, SetSeparator) }},
	{Title: "set_size", Whole: func(p *Prediction) int { return len(p.Set) }},
}

// SetSeparator separates the classes of a prediction set, and the labels of a node.
const SetSeparator = "|"

const labelTitle = "label"

const scoreDigits = 6

func scoreColumn(title string, class func(p *Prediction) int) Column[*Prediction] {
	score := func(p *Prediction) float64 { return p.score(class(p)) }
	return Column[*Prediction]{Title: title, Optional: true, Digits: scoreDigits, Number: score}
}

// PredictionTitles are the titles of the columns before the scores.
var PredictionTitles = func() (titles []string) {
	for _, c := range slices.Concat(fixedColumns, setColumns) {
		titles = append(titles, c.Title)
	}
	return titles
}()

var predictionFormats = []struct {
	ending string
	begin  func(w io.Writer, ending string, c *Columns) rowFile[*Prediction]
}{{".tsv", newDelimited}, {".csv", newDelimited}, {".jsonl", newJSONL}, {".parquet", newParquet}}

func newDelimited(w io.Writer, ending string, c *Columns) rowFile[*Prediction] {
	return newText(w, ending, c.list())
}

// PredictionEndings lists the endings of files of predictions.
var PredictionEndings = func() (endings []string) {
	for _, f := range predictionFormats {
		endings = append(endings, f.ending)
	}
	return endings
}()

// WritePredictions writes n predictions in the format of a file ending, by default the first of [PredictionEndings].
// line(i, p) stores prediction i in *p. p.Scores has one element for each class and is reused for the next
// prediction. Memory: one line, or one row group for Parquet.
func WritePredictions(ctx context.Context, w io.Writer, ending string, c Columns, n int,
	line func(i int, p *Prediction)) error {
	format := predictionFormats[max(0, slices.Index(PredictionEndings, ending))]
	number := make(map[string]int, len(c.Classes))
	for class, name := range c.Classes {
		number[name] = class
	}
	scores := make([]float64, len(c.Classes))
	byName := nodefile.OrderClasses(c.Classes)
	var order []int
	p := new(Prediction)
	return writeAllRows(ctx, format.begin(w, ending, &c), n, func(i int) *Prediction {
		*p = Prediction{Scores: scores}
		line(i, p)
		class, isClass := number[p.Label]
		if !isClass {
			class = -1
		}
		order = c.order(append(order[:0], byName...), p.Scores)
		p.class = class
		p.order = order
		return p
	})
}

// Columns selects the scores in a file of predictions.
type Columns struct {
	Classes []string // class names, in the order of the scores; columns have the order of [nodefile.OrderClasses]

	// Top is the number of best classes to write, each with its name and score. 0 means a column for each class; if it
	// is negative, no scores are written.
	Top int

	Sets bool // write columns of prediction sets
}

func (c *Columns) fixed() []Column[*Prediction] {
	if c.Sets {
		return slices.Concat(fixedColumns, setColumns)
	}
	return slices.Clone(fixedColumns)
}

// list returns all columns. A class with the name of a fixed column gets the title class:NAME, because titles must be
// unique.
func (c *Columns) list() []Column[*Prediction] {
	columns := c.fixed()
	for i := range c.top() {
		rank := strconv.Itoa(i + 1)
		class := func(p *Prediction) int { return p.order[i] }
		label := func(p *Prediction) string {
			if p.Scores == nil {
				return ""
			}
			return c.Classes[class(p)]
		}
		columns = append(columns,
			Column[*Prediction]{Title: "label" + rank, Optional: true, Text: label},
			scoreColumn("score"+rank, class))
	}
	if c.Top == 0 {
		for _, i := range nodefile.OrderClasses(c.Classes) {
			class := c.Classes[i]
			if slices.Contains(PredictionTitles, class) {
				class = "class:" + class
			}
			columns = append(columns, scoreColumn(class, func(*Prediction) int { return i }))
		}
	}
	return columns
}

func (c *Columns) top() int { return min(max(c.Top, 0), len(c.Classes)) }

// order returns the classes whose scores are in a line: all, or the c.Top classes with the best scores. dst must hold
// all classes; order sorts it.
func (c *Columns) order(dst []int, scores []float64) []int {
	if c.Top == 0 {
		return dst
	}
	if c.Top > 0 && scores != nil {
		slices.SortStableFunc(dst, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	}
	return dst[:c.top()]
}

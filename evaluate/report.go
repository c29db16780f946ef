package evaluate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/internal/report"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
)

// Sampling describes how the training and test sets of a comparison were drawn.
type Sampling struct {
	Nodes      int    `json:"nodes"`
	Labelled   int    `json:"labelled"`             // nodes with a label or a number
	Splits     int    `json:"splits"`               // number of splits for each training size
	Folds      int    `json:"folds,omitempty"`      // number of folds of cross-validation, whose test sets are the splits
	Stratified bool   `json:"stratified,omitempty"` // fractions and folds have each class's share
	RNGSeed    uint64 `json:"seed"`

	Protocol string `json:"protocol"`        // how splits were drawn
	Marks    string `json:"marks,omitempty"` // meanings of the marks of results
	Summary  string `json:"summary,omitempty"`
}

// Report holds the measurements of [Run]. All methods have the same splits.
type Report struct {
	Sampling
	Labels  int      `json:"labels,omitempty"` // number of labels of all nodes, if nodes have several
	Classes []string `json:"classes,omitempty"`
	*ClassReport
	Results []Result `json:"results"`
}

// ClassReport is the part of a report about predictions of classes. The summary names the best method at the middle
// training size, and says whether the difference from the next method may be chance.
type ClassReport struct {
	Unreached       int    `json:"nodes_unreached"`    // nodes that no label reaches, of which nothing can be learned
	Untested        string `json:"untested,omitempty"` // classes without a test node in any split of a training size
	TuningSplits    int    `json:"tuning_splits"`      // 0: parameters are chosen inside each training set
	ParameterChoice string `json:"parameter_choice,omitempty"`

	Significance []Comparison `json:"significance"`
}

// Result holds a method at one training size, with the measures for its kind of predictions.
type Result struct {
	Measured
	*ClassMeasures
	*F1
	*NumberMeasures
	*LabelMeasures

	outcomes []outcome
	columns  [4][]float64 // values of the fields by split
}

// F1 holds the macro-F1 of classes or labels, which is a mean over splits.
type F1 struct {
	MacroF1 float64 `json:"macro_f1"`
}

// ClassMeasures are measures of predicted classes. Accuracies are from 0 to 1.
type ClassMeasures struct {
	TrainPerClass  int       `json:"train_per_class,omitempty"` // number of training nodes of a class, if splits were drawn so
	AccuracyMean   float64   `json:"accuracy_mean"`
	AccuracyStderr float64   `json:"accuracy_stderr"`
	Accuracies     []float64 `json:"accuracies"` // accuracy of each split

	// AccuracyReached is the accuracy on the test nodes that a training label reaches, and NodesReached is the number
	// of these nodes. Both are means over splits.
	AccuracyReached float64 `json:"accuracy_reached"`
	NodesReached    float64 `json:"nodes_reached"`

	Quality             // means over splits; nil where a split has none
	Confusion Confusion `json:"confusion"` // summed over splits

	Tuned          string  `json:"tuned,omitempty"`           // place where parameters were chosen: "splits", "training sets", or "" without parameters
	TuningAccuracy float64 `json:"tuning_accuracy,omitempty"` // accuracy of Parameters on the tuning splits

	// Unfinished is the message about the first iteration that did not converge. UnfinishedSplits is the number of
	// splits with such iterations.
	Unfinished       string `json:"unfinished,omitempty"`
	UnfinishedSplits int    `json:"unfinished_splits,omitempty"`

	MemoryBytes int64 `json:"memory_bytes"` // upper bound of the memory of a prediction

	Seconds           float64              `json:"seconds"`
	SecondsPrediction float64              `json:"seconds_prediction"` // mean time of a prediction
	Phases            problem.PhaseSeconds `json:"seconds_by_phase"`   // times of predictions, summed over splits
}

type field struct{ mean, stderr *float64 }

func (r *Result) fields() []field {
	switch {
	case r.NumberMeasures != nil:
		return []field{{&r.RMSE, &r.RMSEStderr}, {&r.MAE, &r.MAEStderr}, {&r.R2, &r.NumberMeasures.R2Stderr}}
	case r.LabelMeasures != nil:
		return []field{{&r.MicroF1, &r.MicroStderr}, {&r.MacroF1, &r.MacroStderr},
			{&r.ThresholdMicroF1, &r.ThresholdMicroStderr}, {&r.ThresholdMacroF1, &r.ThresholdMacroStderr}}
	}
	return nil
}

func (r *Result) addColumns(values ...float64) {
	for i, v := range values {
		r.columns[i] = append(r.columns[i], v)
	}
}

// Measured is a method at one training size.
type Measured struct {
	Method        string  `json:"method"`
	TrainFraction float64 `json:"train_fraction"` // share of the labelled nodes
	TrainedOn     string  `json:"trained_on"`     // the size of the training sets, as a person reads it
	Mark          string  `json:"mark,omitempty"`
	Standing      string  `json:"standing,omitempty"` // "best", "not worse" at [Level], or "worse"
	NodesTrained  float64 `json:"nodes_trained"`      // means over splits
	NodesTested   float64 `json:"nodes_tested"`

	// Parameters are the parameters that all splits have in common, including values that were not chosen. They are
	// null if there are no parameters, or if each split has its own parameters, which are in ParametersBySplit. Text is
	// the text of Parameters, or else of the parameters of the first split.
	Parameters        json.RawMessage   `json:"parameters"`
	ParametersBySplit []json.RawMessage `json:"parameters_by_split,omitempty"`
	Text              string            `json:"parameters_text,omitempty"`
}

func (m *Measured) note(t *trial, splits *choose.Splits, number int) error {
	s := splits.At(number)
	m.NodesTrained += float64(len(s.Train)) / float64(splits.Len)
	m.NodesTested += float64(len(s.Test)) / float64(splits.Len)
	m.Text = cmp.Or(m.Text, t.text)
	if t.parameters == nil {
		return nil
	}
	text, err := json.Marshal(t.parameters)
	m.ParametersBySplit = append(m.ParametersBySplit, text)
	return err
}

// unite replaces the parameters of the splits by common parameters if they are equal.
func (m *Measured) unite() {
	if list := m.ParametersBySplit; len(list) > 0 &&
		!slices.ContainsFunc(list,
			func(o json.RawMessage) bool { return !bytes.Equal(o, list[0]) }) {
		m.Parameters = list[0]
		m.ParametersBySplit = nil
	}
}

func (m *Measured) lineTo(w io.Writer) {
	if m.Parameters != nil {
		fmt.Fprintf(w, "%s at %s: %s\n", m.Method, m.TrainedOn, m.Text)
	}
}

const (
	onSplits = "splits"        // parameters were chosen once, on tuning splits, which have labels of the whole graph
	inside   = "training sets" // parameters were chosen for each training set, from the labels in it
)

func (r *Report) parameterChoice() (lines []string) {
	splits := "splits"
	if r.TuningSplits == 1 {
		splits = "split"
	}
	texts := []string{fmt.Sprintf("once on %d further %s of all labels",
		r.TuningSplits, splits), "inside each training set"}
	for i, tuned := range []string{onSplits, inside} {
		var names []string
		for _, res := range r.Results {
			if res.Tuned == tuned && !slices.Contains(names, res.Method) {
				names = append(names, res.Method)
			}
		}
		if names != nil {
			lines = append(lines,
				"parameters chosen "+texts[i]+": "+strings.Join(names, ", "))
		}
	}
	return lines
}

// Page returns the name of the page of the report in package report.
func (r *Report) Page() string {
	switch first := &r.Results[0]; {
	case first.NumberMeasures != nil:
		return "values"
	case first.LabelMeasures != nil:
		return "severallabels"
	}
	return "evaluate"
}

// WriteText writes the table of the measures by methods and training sizes, and the chosen parameters. For classes it
// also writes the other measures.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	page, err := report.Build(r.Page(), r)
	if err != nil {
		return err
	}
	if r.ClassReport == nil {
		r.writeErrors(&b, page.Sections[0].Tables[0].Text())
		_, err = io.WriteString(w, b.String())
		return err
	}
	accuracies := page.Sections[0].Tables[0]
	accuracies.Head[0] = ""
	b.WriteString("accuracy %, " + r.Protocol + "\n" + accuracies.Text())
	if r.Splits > 1 {
		b.WriteString(r.Marks + "\n")
	}
	for _, line := range r.parameterChoice() {
		b.WriteString(line + "\n")
	}
	for i := range r.Results {
		r.Results[i].lineTo(&b)
	}
	if r.Unreached > 0 {
		fmt.Fprintf(&b, "%s of %s nodes cannot be reached from a label\n",
			words.Count(r.Unreached), words.Count(r.Nodes))
	}
	if r.Untested != "" {
		b.WriteString(r.Untested + "\n")
	}
	means := page.Sections[len(page.Sections)-1].Tables[0]
	if !slices.ContainsFunc(r.Results,
		func(res Result) bool { return res.NodesReached < res.NodesTested }) {
		means.Head = means.Head[:len(means.Head)-1] // all nodes are reached
	}
	b.WriteString("\n" + means.Text())
	_, err = io.WriteString(w, b.String())
	return err
}

const (
	bestMark     = "*"
	notWorseMark = "≈"
	drawsMark    = "†"
)

const (
	legend = "* best, ≈ not significantly worse; " + tests
	tests  = "paired t-test over draws of the labels, or the corrected resampled t-test where test sets have at most 40 % of the size of training sets; Holm, level 0.05"
)

// drawn returns a text about the splits over which means are taken.
func (r *Sampling) drawn() string {
	kind := ""
	if r.Stratified {
		kind = "stratified "
	}
	if r.Splits == 1 {
		return "one split"
	}
	if r.Folds == 0 {
		return fmt.Sprintf("mean of %d %ssplits (standard error)", r.Splits, kind)
	}
	text := fmt.Sprintf("mean of %s%d-fold cross-validation", kind, r.Folds)
	if repeats := r.Splits / r.Folds; repeats > 1 {
		text += fmt.Sprintf(", %d times", repeats)
	}
	return text + " (standard error)"
}

func percent(x float64) string {
	return strconv.FormatFloat(100*x, 'f', 1, 64)
}

func (r *Report) describe() {
	if r.ClassReport == nil {
		r.describeErrors()
		return
	}
	r.ParameterChoice = strings.Join(r.parameterChoice(), "; ")
	r.Marks = bestMark + " best"
	for i := range r.Results {
		res := &r.Results[i]
		res.SecondsPrediction = (res.Phases.Choose + res.Phases.Walk +
			res.Phases.Classify) / float64(max(1, r.Splits))
	}
	if r.Splits > 1 {
		r.Marks = legend
	}
	r.Summary = r.verdict()
	last := &r.Results[len(r.Results)-1] // result of the largest training size, if sizes increase
	var untested []string
	for c, row := range last.Confusion {
		if !slices.ContainsFunc(row, func(n int) bool { return n > 0 }) {
			untested = append(untested, r.Classes[c])
		}
	}
	if untested != nil {
		r.Untested = fmt.Sprintf("classes without a test node at %s, which accuracies do not count (%d of %d): %s", last.TrainedOn, len(untested), len(r.Classes), strings.Join(untested[:min(5, len(untested))], ", "))
		if len(untested) > 5 {
			r.Untested += ", …"
		}
	}
}

func (r *Report) verdict() string {
	var sizes []string
	for _, res := range r.Results {
		if !slices.Contains(sizes, res.TrainedOn) {
			sizes = append(sizes, res.TrainedOn)
		}
	}
	size := sizes[(len(sizes)-1)/2]
	var best, next *Result
	for i := range r.Results {
		switch res := &r.Results[i]; {
		case res.TrainedOn != size:
		case res.Standing == first:
			best = res
		case next == nil || res.AccuracyMean > next.AccuracyMean:
			next = res
		}
	}
	if best.TrainPerClass == 0 {
		size += " of the labels"
	}
	equal := r.equalMethods(best)
	text := fmt.Sprintf("Trained on %s, %s is the most accurate method: %s", size,
		best.Method, percent(best.AccuracyMean))
	if len(equal) > 1 {
		text = fmt.Sprintf("Trained on %s, no test finds a difference between %s. The highest mean is that of %s: %s", size,
			strings.Join(equal, ", "), best.Method, percent(best.AccuracyMean))
	}
	if r.Splits > 1 {
		text += " ± " + percent(best.AccuracyStderr)
	}
	text += " %."
	if next == nil {
		return text
	}
	text += fmt.Sprintf(" The next one is %s, with a difference of %.1f points",
		next.Method, 100*(best.AccuracyMean-next.AccuracyMean))
	if r.Splits < 2 {
		return text + ". A single split does not show whether the difference is chance."
	}
	test := r.Significance[slices.IndexFunc(r.Significance, func(c Comparison) bool {
		return c.TrainedOn == best.TrainedOn &&
			(c.A == best.Method && c.B == next.Method ||
				c.A == next.Method && c.B == best.Method)
	})]
	if test.Higher+test.Lower == 0 {
		return text + ". They are equally accurate on every split."
	}
	draws := "may be chance"
	if test.PDraws < Level {
		draws = "is significant"
	}
	text += fmt.Sprintf(". Over draws of the labelled nodes of this graph, the difference %s (p value %s).", draws, report.PValue(test.PDraws))
	switch {
	case math.IsNaN(test.PHolm):
		return text + " Other nodes are not tested, because test sets are larger than 40 % of the training sets."
	case test.PHolm < Level:
		return text + " For other nodes it is significant (p value " +
			report.PValue(test.PHolm) + ")."
	}
	return text + " For other nodes it may not hold (p value " +
		report.PValue(test.PHolm) + ")."
}

// equalMethods returns the names of the best method and of the methods whose difference from the best method may be
// chance.
func (r *Report) equalMethods(best *Result) (names []string) {
	names = []string{best.Method}
	for _, c := range r.Significance {
		if r.Splits > 1 && c.TrainedOn == best.TrainedOn && c.PDraws >= Level {
			if c.A == best.Method {
				names = append(names, c.B)
			} else if c.B == best.Method {
				names = append(names, c.A)
			}
		}
	}
	return names
}

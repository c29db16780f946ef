package evaluate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/internal/report"
	"github.com/heatwalk/heatwalk/sparse"
)

// confidenceBins is the number of bins of probabilities in [Predictions].
const confidenceBins = 10

// leastCertain is the number of nodes that [Predictions] lists.
const leastCertain = 20

// Predictions are statistics of the predicted classes of a graph, see [Summarize].
type Predictions struct {
	Classes    []string
	Labelled   []int // labels of each class
	Predicted  []int // nodes without a label that have the class as prediction
	Confidence [confidenceBins]int
	Expected   float64     // mean probability of the predicted class, the accuracy that calibrated probabilities have
	Least      []uncertain // nodes with the least probability of the predicted class, in increasing order
}

// uncertain is a node with its two most likely classes.
type uncertain struct {
	row           int
	class, second int
	p, q          float64 // their probabilities
}

// Summarize returns statistics of the predictions for nodes without a label: labels are their classes,
// or [Unlabelled], which does not count, and rows of scores sum to one. Cost: one pass over the scores.
func Summarize(scores *sparse.Block[float32], labels []int, seeds *nodefile.Labels) *Predictions {
	classes := len(seeds.Names)
	s := &Predictions{Classes: seeds.Names, Labelled: make([]int, classes), Predicted: make([]int, classes)}
	for _, c := range seeds.Class {
		s.Labelled[c]++
	}
	given, count := classOfRow(seeds, len(labels)), 0
	for row, c := range labels {
		if given[row] != Unlabelled || c == Unlabelled {
			continue
		}
		p := scores.Row(row)
		u := uncertain{row: row, class: c, second: Unlabelled, p: float64(p[c])}
		for other, q := range p {
			if other != c && (u.second == Unlabelled || float64(q) > u.q) {
				u.second, u.q = other, float64(q)
			}
		}
		count++
		s.Predicted[c]++
		s.Confidence[min(max(0, int(u.p*confidenceBins)), confidenceBins-1)]++
		s.Expected += u.p
		s.keep(u)
	}
	s.Expected /= float64(max(1, count))
	return s
}

// keep adds a node to the least certain ones if it is among them. Of equal nodes the first stays.
func (s *Predictions) keep(u uncertain) {
	if len(s.Least) == leastCertain && u.p >= s.Least[leastCertain-1].p {
		return
	}
	at, _ := slices.BinarySearchFunc(s.Least, u, func(a, b uncertain) int {
		return cmp.Or(cmp.Compare(a.p, b.p), cmp.Compare(a.row, b.row))
	})
	s.Least = slices.Insert(s.Least, at, u)
	s.Least = s.Least[:min(len(s.Least), leastCertain)]
}

// Estimates are the accuracies that held-out labels give, and those against true labels; nil are unknown.
type Estimates struct {
	Accuracy, Stderr      *float64 // of the method
	Propagation, Majority *float64 // of label propagation and of the largest class
	Nodes                 int      // nodes without a label that the estimates are about
	Shift                 string   // why the labels are not a random sample; "": they may be one
	Truth                 *Truth
}

// Page returns the predictions of a method as a page. model are sentences about the model and its
// choice, id returns the name of a node.
func (s *Predictions) Page(method string, model []string, e *Estimates, id func(row int) string) *report.Page {
	total := 0
	for _, n := range s.Predicted {
		total += n
	}
	p := &report.Page{Title: "Predicted classes", Summary: []string{fmt.Sprintf("%s predicts the classes of %s nodes.", method, thousands(total))}}
	if e.Accuracy != nil {
		p.Summary[0] += fmt.Sprintf(" Cross-validation on held-out labels estimates that %s ± %s %% of the predictions are correct.", percent(*e.Accuracy), percent(*e.Stderr))
	} else {
		p.Summary[0] += " There are too few labels to estimate the share of correct predictions."
	}
	if e.Shift != "" {
		p.Summary = append(p.Summary, e.Shift)
	}
	sections := []*report.Section{{Title: "Model", Text: model}, e.section(method), s.classes(total)}
	if total > 0 {
		sections = append(sections, s.confidence(e), s.least(id))
	}
	for _, section := range sections {
		if section != nil {
			p.Sections = append(p.Sections, *section)
		}
	}
	return p
}

// section returns the section about accuracy, nil without an estimate and true labels.
func (e *Estimates) section(method string) *report.Section {
	b := &report.Bars{X: report.Axis{Title: "accuracy, %", To: 100}}
	t := &report.Table{Caption: "Accuracy.", Head: []string{"accuracy of", "accuracy, %", "standard error"}}
	add := func(label string, x, stderr *float64) {
		if x == nil {
			return
		}
		bar, text := report.Bar{Label: label, Values: []float64{100 * *x}, Texts: []string{percent(*x)}}, "–"
		if stderr != nil {
			bar.Margin, text = 100**stderr, percent(*stderr)
		}
		b.Bars = append(b.Bars, bar)
		t.Rows = append(t.Rows, report.Texts(label, percent(*x), text))
	}
	add(method, e.Accuracy, e.Stderr)
	add("label propagation", e.Propagation, nil)
	add("largest class", e.Majority, nil)
	s := &report.Section{Title: "Accuracy"}
	if e.Accuracy != nil {
		s.Text = []string{fmt.Sprintf("Estimated at the %s nodes without a label that a label reaches: each label is hidden once and predicted from the others. The estimate holds if the labelled nodes are a random sample.", thousands(e.Nodes))}
	}
	if e.Truth != nil {
		add(method+", true labels", &e.Truth.All, nil)
		s.Text = append(s.Text, fmt.Sprintf("True labels: accuracy %s %% of %s nodes, macro-F1 %s %%.", percent(e.Truth.All), thousands(e.Truth.Nodes), percent(e.Truth.MacroF1)))
	}
	if len(b.Bars) == 0 {
		return nil
	}
	s.Parts = []report.Part{{Figure: &report.Figure{Name: "accuracy", Caption: "Accuracy, with plus and minus one standard error where it is known.", Alt: "Bars of the accuracy of the method and of simple methods.", Drawing: b, Table: t}}}
	return s
}

// classes returns the section with the shares of the classes among labels and predictions.
func (s *Predictions) classes(total int) *report.Section {
	labels := 0
	for _, n := range s.Labelled {
		labels += n
	}
	b := &report.Bars{X: report.Axis{Title: "share, %"}, Series: []string{"labels", "predictions"}}
	t := &report.Table{Caption: "Labels and predictions by class.", Head: []string{"class", "labels", "share, %", "predictions", "share, %"}}
	order := make([]int, len(s.Classes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.Labelled[b], s.Labelled[a]) })
	for k, c := range order {
		given, found := float64(s.Labelled[c])/float64(max(1, labels)), float64(s.Predicted[c])/float64(max(1, total))
		if k < mostClasses {
			b.Bars = append(b.Bars, report.Bar{Label: s.Classes[c], Values: []float64{100 * given, 100 * found}, Texts: []string{percent(given), percent(found)}})
		}
		t.Rows = append(t.Rows, report.Texts(s.Classes[c], thousands(s.Labelled[c]), percent(given), thousands(s.Predicted[c]), percent(found)))
	}
	t.Rows = t.Rows[:min(len(t.Rows), mostCells)]
	caption := "Share of each class among the labels and among the predictions."
	if len(order) > mostClasses {
		caption += fmt.Sprintf(" The %d classes with the most labels.", mostClasses)
	}
	return &report.Section{Title: "Classes", Parts: []report.Part{{Figure: &report.Figure{Name: "classes", Caption: caption, Alt: "Bars of the share of each class among labels and predictions.", Drawing: b}}, {Table: t}}}
}

// confidence returns the section with the distribution of probabilities.
func (s *Predictions) confidence(e *Estimates) *report.Section {
	b := &report.Bars{X: report.Axis{Title: "nodes"}}
	t := &report.Table{Caption: "Nodes by the probability of the predicted class.", Head: []string{"probability", "nodes"}}
	for i, n := range s.Confidence {
		label := fmt.Sprintf("%.1f to %.1f", float64(i)/confidenceBins, float64(i+1)/confidenceBins)
		b.Bars = append(b.Bars, report.Bar{Label: label, Values: []float64{float64(n)}, Texts: []string{thousands(n)}})
		t.Rows = append(t.Rows, report.Texts(label, thousands(n)))
	}
	text := fmt.Sprintf("The mean probability of the predicted class is %s %%. If the probabilities are calibrated, this is the share of correct predictions.", percent(s.Expected))
	if e.Accuracy != nil {
		text += fmt.Sprintf(" Cross-validation estimates %s %%.", percent(*e.Accuracy))
	}
	return &report.Section{Title: "Confidence", Text: []string{text}, Parts: []report.Part{{Figure: &report.Figure{Name: "confidence", Caption: "Nodes without a label by the probability of their predicted class.", Alt: "Histogram of the probability of the predicted class.", Drawing: b, Table: t}}}}
}

// least returns the section with the least certain nodes.
func (s *Predictions) least(id func(row int) string) *report.Section {
	t := &report.Table{Caption: "Nodes with the least probability of their predicted class.", Head: []string{"node", "predicted", "probability", "second class", "its probability"}}
	for _, u := range s.Least {
		row := report.Texts(id(u.row), s.Classes[u.class], strconv.FormatFloat(u.p, 'f', 3, 64), "–", "–")
		if u.second != Unlabelled {
			row[3].Text, row[4].Text = s.Classes[u.second], strconv.FormatFloat(u.q, 'f', 3, 64)
		}
		t.Rows = append(t.Rows, row)
	}
	return &report.Section{Title: "Least certain nodes", Text: []string{"Labels of these nodes would decide the closest cases; the command suggest lists the nodes whose labels improve the predictions of others most."}, Parts: []report.Part{{Table: t}}}
}

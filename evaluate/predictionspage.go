package evaluate

import (
	"fmt"

	"github.com/heatwalk/heatwalk/internal/report"
)

// Estimates are the accuracies that held-out labels give, and those against true labels; nil are unknown.
type Estimates struct {
	Accuracy, Stderr *float64 // of the method
	Majority         *float64 // of the largest class
	Nodes            int      // nodes without a label that the estimates are about
	Shift            string   // why the labels are not a random sample; "": they may be one
	Truth            *Truth
}

// Page returns the predictions of a method as a page. model is the section about the model and its
// choice, id returns the name of a node.
func (s *Predictions) Page(method string, model *report.Section, e *Estimates, id func(row int) string) *report.Page {
	total := sum(s.Predicted)
	p := &report.Page{
		Title: "Predicted classes", Summary: []string{fmt.Sprintf("%s predicts the classes of %s nodes.", method, thousands(total))},
		Sections: []*report.Section{model},
	}
	if e.Accuracy != nil {
		p.Summary[0] += fmt.Sprintf(" Cross-validation on held-out labels estimates that %s ± %s %% of the predictions are correct.", percent(*e.Accuracy), percent(*e.Stderr))
	} else {
		p.Summary[0] += " There are too few labels to estimate the share of correct predictions."
	}
	if e.Shift != "" {
		p.Summary = append(p.Summary, e.Shift)
	}
	p.Add(e.section(method), s.classes(total))
	if total > 0 {
		p.Add(s.confidence(e), s.least(id))
	}
	if s.confusion != nil {
		bins := newReliability("", "")
		s.calibration.addTo(bins, method, 1)
		shown := byCount(s.Labelled, mostClasses)
		p.Add(&report.Section{
			Title: "Correct and wrong predictions", Text: []string{"Nodes whose true class is known. Precision, recall and F1 are in %; a cell is the share of the nodes of its true class in %; the CSV has the number of nodes."},
			Tables: []*report.Table{s.confusion.page("True classes and their predicted classes.", s.Classes, shown)},
		}, bins)
	}
	return p
}

// section returns the section about accuracy.
func (e *Estimates) section(method string) *report.Section {
	t := &report.Table{Caption: "Accuracy.", Head: []string{"accuracy of", "accuracy, %", "standard error"}, Bars: map[int]report.Bars{1: report.Linear}}
	add := func(label string, accuracy, stderr *float64) {
		if accuracy == nil {
			return
		}
		margin := report.Cell{Text: "–"}
		if stderr != nil {
			margin = report.Percent(*stderr, 0)
		}
		t.Rows = append(t.Rows, []report.Cell{{Text: label}, report.Percent(*accuracy, 0), margin})
	}
	add(method, e.Accuracy, e.Stderr)
	add("largest class", e.Majority, nil)
	s := &report.Section{Title: "Accuracy", Tables: []*report.Table{t}}
	if e.Accuracy != nil {
		s.Text = []string{fmt.Sprintf("Estimated at the %s nodes without a label that a label reaches: each label is hidden once and predicted from the others. The estimate holds if the labelled nodes are a random sample.", thousands(e.Nodes))}
	}
	if e.Truth != nil {
		add(method+", true labels", &e.Truth.All, nil)
		s.Text = append(s.Text, fmt.Sprintf("True labels: accuracy %s %% of %s nodes, macro-F1 %s %%.", percent(e.Truth.All), thousands(e.Truth.Nodes), percent(e.Truth.MacroF1)))
	}
	return s
}

// classes returns the section with the shares of the classes among labels and predictions.
func (s *Predictions) classes(total int) *report.Section {
	t := &report.Table{Caption: "Labels and predictions by class.", Head: []string{"class", "labels", "share, %", "predictions", "share, %"}, Bars: map[int]report.Bars{2: report.Linear, 4: report.Linear}}
	labels := sum(s.Labelled)
	for _, c := range byCount(s.Labelled, mostRows) {
		t.Rows = append(t.Rows, []report.Cell{
			{Text: s.Classes[c]}, report.Count(s.Labelled[c]), report.Percent(float64(s.Labelled[c])/float64(max(1, labels)), 0),
			report.Count(s.Predicted[c]), report.Percent(float64(s.Predicted[c])/float64(max(1, total)), 0),
		})
	}
	return &report.Section{Title: "Classes", Tables: []*report.Table{t}}
}

// confidence returns the section with the distribution of probabilities.
func (s *Predictions) confidence(e *Estimates) *report.Section {
	t := &report.Table{Caption: "Nodes without a label by the probability of their predicted class.", Head: []string{"probability", "nodes"}, Bars: map[int]report.Bars{1: report.Linear}}
	for i, n := range s.Confidence {
		label := fmt.Sprintf("%.1f to %.1f", float64(i)/confidenceBins, float64(i+1)/confidenceBins)
		t.Rows = append(t.Rows, []report.Cell{{Text: label}, report.Count(n)})
	}
	text := fmt.Sprintf("The mean probability of the predicted class is %s %%. If the probabilities are calibrated, this is the share of correct predictions.", percent(s.Expected))
	if e.Accuracy != nil {
		text += fmt.Sprintf(" Cross-validation estimates %s %%.", percent(*e.Accuracy))
	}
	return &report.Section{Title: "Confidence", Text: []string{text}, Tables: []*report.Table{t}}
}

// least returns the section with the least certain nodes.
func (s *Predictions) least(id func(row int) string) *report.Section {
	t := &report.Table{Caption: "Nodes with the least probability of their predicted class.", Head: []string{"node", "predicted", "probability", "second class", "its probability"}}
	for _, u := range s.Least {
		row := []report.Cell{{Text: id(u.row)}, {Text: s.Classes[u.class]}, report.Fixed(u.p, 3, 0), {Text: "–"}, {Text: "–"}}
		if u.second != Unlabelled {
			row[3].Text, row[4] = s.Classes[u.second], report.Fixed(u.q, 3, 0)
		}
		t.Rows = append(t.Rows, row)
	}
	return &report.Section{Title: "Least certain nodes", Text: []string{"Labels of these nodes would decide the closest cases; the command suggest lists the nodes whose labels improve the predictions of others most."}, Tables: []*report.Table{t}}
}

func sum(counts []int) int {
	total := 0
	for _, n := range counts {
		total += n
	}
	return total
}

package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/internal/graphmap"
	"github.com/heatwalk/heatwalk/internal/report"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/shift"
	"github.com/heatwalk/heatwalk/method/suggest"
)

const (
	mostWalked      = 200 // of the least certain nodes, those that a page has with their neighbours
	mostReasons     = 20  // nodes with reasons on a page, and the fewest on a large graph
	fewestReasons   = 3
	reasonValues    = 5e8 // entries and rows of the graph, times the classes, times the nodes with reasons
	pageSuggestions = 10  // nodes to label next
	suggestEntries  = 1e5 // entries of a graph up to which a page has them, because their search takes seconds
	mostColors      = 10  // of classes on a page; further classes are grey
)

// mixedModel is a model of the mixture of auto.
type mixedModel struct {
	Model      string  `json:"model"`
	Weight     float64 `json:"weight"`
	Parameters string  `json:"parameters"`
}

// labelNext is a node to label next.
type labelNext struct {
	Node        string `json:"node"`
	Gain        string `json:"information_gain"`
	Label       string `json:"label"`
	Probability string `json:"probability"`
	Reason      string `json:"reason"`
}

// describePredictions stores the statistics of the predictions, in which row i has the class labels[i], in the document. With
// --targets they are those of these nodes.
func describePredictions(r *classifyRun, labels []int) {
	if r.targets != nil {
		predicted := labels
		labels = slices.Repeat([]int{evaluate.Unlabelled}, len(predicted))
		for _, row := range r.targets {
			labels[row] = predicted[row]
		}
	}
	r.Summary = evaluate.Summarize(r.p, labels, r.data.l, r.truth,
		r.data.g.Nodes.ID)
	r.ModelText, r.SampleText = r.modelText(), r.shiftSentence()
	for _, m := range r.p.Models() {
		if m.IsFactor {
			m.Name = "factor: " + m.Name
		}
		r.Models = append(r.Models, mixedModel{m.Name, m.Weight, m.Parameters})
	}
}

// finishPage makes the page, if there is one, after the predictions have been published.
func (r *classifyRun) finishPage(run *session) error {
	if r.page == nil {
		return nil
	}
	run.doing = r.f.out + " is complete, " + stateOf(r.f.page)
	err := r.addReasons(run)
	if err == nil {
		err = r.writeReport(run)
	}
	if err == nil {
		err = r.page.commit(nil)
	}
	if err == nil || fault.Code(err) == fault.Interrupted {
		return err
	}
	return fault.Machine(err, r.f.page,
		"the predictions in %s are complete, and the page was not made: %s",
		r.f.out, fault.Text(err))
}

// addReasons adds nodes to label next, unless the graph is large, and the reasons for some predictions.
func (r *classifyRun) addReasons(run *session) error {
	p := r.mapped
	if p == nil || run.network != nil {
		return nil
	}
	if err := p.AddSuggestions(run.ctx); err != nil {
		return err
	}
	for i := range p.Suggestions {
		cells := p.Suggestions[i].Cells(r.data.l.Names)
		r.LabelNext = append(r.LabelNext,
			labelNext{r.data.g.Nodes.ID(p.Suggestions[i].Row), cells[0], cells[1],
				cells[2], cells[3]})
	}
	if err := p.AddReasons(run.ctx, r.explainedRows()); err != nil &&
		!errors.Is(err, explain.ErrNoForm) {
		return err
	}
	nameAttributes(r.data.g, p.Reasons)
	return nil
}

// explainedRows returns the rows of the nodes whose reasons the page has: those that were asked for, and of the first ones of the list
// of a rare class and of the least certain nodes as many as take some seconds.
func (r *classifyRun) explainedRows() []int {
	g := r.data.g
	n := int64(len(g.Degrees))
	values := (g.A.NNZ() + 8*n) * int64(len(r.data.l.Names))
	number := int(max(fewestReasons, min(mostReasons, reasonValues/max(1, values))))
	rare := r.rareRows()
	rows := slices.Concat(rare[:min(number/2, len(rare))],
		r.mapped.LeastCertain(number))
	isThere := map[int]bool{}
	list := slices.Clone(r.pageRows)
	for _, row := range rows {
		if !isThere[row] && len(list) < max(number, len(r.pageRows)) {
			list = append(list, row)
		}
		isThere[row] = true
	}
	return list
}

// rareRows returns the rows of the list of a rare class.
func (r *classifyRun) rareRows() (rows []int) {
	if rare := r.Summary.Rare; rare != nil {
		for _, v := range rare.First {
			rows = append(rows, v.Row)
		}
	}
	return rows
}

// writeReport writes the page about the predictions of a graph.
func (r *classifyRun) writeReport(run *session) error {
	run.console.progress.Wait("drawing " + r.f.page)
	page, err := buildPage(run, "classify", &r.classifyDocument, r.data.g.name)
	switch {
	case err == nil && run.network != nil:
		run.console.warn("%s has no map and no reasons because several processes share the graph; run one process", r.f.page)
	case err == nil && r.mapped != nil:
		err = addMap(run, r, page)
	}
	if err != nil {
		return err
	}
	return page.WriteHTML(r.page.w)
}

// suggestedNodes returns the number of nodes to label next: those of suggest, or of the list of a page, which a large graph is without.
func suggestedNodes(run *session, c *classifyOptions, g *openGraph) int {
	if c.page != "" && run.network == nil && g.A.NNZ() <= suggestEntries {
		return pageSuggestions
	}
	return c.suggest
}

// addMap puts the section of the graph behind that of the classes. Classes with most predictions have a
// color on the whole page.
func addMap(run *session, r *classifyRun, page *report.Page) error {
	g := r.data.g
	p := r.mapped
	isKnown := markLabelled(r.data.l, len(p.Class))
	count := make([]int, len(p.Classes))
	colors := make([]int, len(p.Classes))
	for c := range colors {
		colors[c] = -1
	}
	for _, c := range p.Class {
		count[c]++
	}
	order := sched.UpTo(len(p.Classes))
	slices.SortStableFunc(order,
		func(a, b int) int { return cmp.Compare(count[b], count[a]) })
	for i, c := range order[:min(mostColors, len(order))] {
		colors[c] = i
		page.Series = append(page.Series, p.Classes[c])
	}
	m := &graphmap.Graph{
		A: g.A, ID: g.Nodes.ID, Classes: p.Classes,
		Class: writtenLabels(r.f, p.Prediction), Workers: run.threads,
		Scores: p.Prediction.Scores.Row,
		Known:  func(row int) bool { return isKnown[row] },
		Colors: colors, Reasons: map[int]any{}, Links: map[int][]int{},
		File: filepath.Base(r.f.out),
	}
	if r.f.out == "-" {
		m.File = "the output"
	}
	for i := range p.Reasons {
		e := &p.Reasons[i]
		m.Reasons[e.Row] = e
		for _, l := range e.Links {
			if k := slices.Index(l.Rows[:], e.Row); k >= 0 {
				m.Links[e.Row] = append(m.Links[e.Row], l.Rows[1-k])
			}
		}
	}
	section, err := m.Section(run.ctx,
		slices.Concat(r.pageRows, r.rareRows(), p.LeastCertain(mostWalked)))
	if err != nil {
		return err
	}
	position := slices.IndexFunc(page.Sections,
		func(s *report.Section) bool { return s.Title == "Classes" }) + 1
	page.Sections = slices.Insert(page.Sections, position, section)
	return nil
}

// modelText returns the parameters of the model, the model that auto chose, or the method of a saved one,
// for the summary.
func (r *classifyRun) modelText() string {
	switch {
	case r.f.model != "" && r.BlockModel:
		return r.Method + " of " + r.f.model + ": beliefs of a block model"
	case r.f.model != "":
		return r.Method + " of " + r.f.model
	case r.BlockModel:
		return "beliefs of a block model, whose certainty agrees with held-out labels: no other model was fitted"
	case r.Parameters != nil:
		return describeParameters(*r.Parameters, r.Settings)
	}
	const named = 3
	var terms []string
	list := r.p.Models()
	factor := ""
	if n := len(list) - 1; n >= 0 && list[n].IsFactor {
		factor = fmt.Sprintf(", times %s to the power of %.2f", list[n].Name,
			list[n].Weight)
		list = list[:n]
	}
	for _, m := range list[:min(named, len(list))] {
		terms = append(terms, fmt.Sprintf("%.2f %s", m.Weight, m.Name))
	}
	if n := len(list) - named; n > 0 {
		terms = append(terms, words.Counted(n, "other model"))
	}
	text := strings.Join(terms, " + ") + factor
	if len(r.Omitted) > 0 {
		text += "; left out because of their cost: " + strings.Join(r.Omitted, ", ")
	}
	return text
}

// reportShift warns that the labels of a file are no random sample, and puts a range in place of the
// accuracy. Labels that suggest has chosen cause no warning, because they are meant to differ from other nodes.
func (r *classifyRun) reportShift(console *streams, sample *shift.Report,
	estimate problem.Estimate) {
	if sample == nil || !sample.Sounds() {
		return
	}
	r.LabelSample = sample
	expected := map[string]string{"lower": "is likely lower than",
		"other": "may differ from"}[sample.Expected]
	difference := shiftText(sample)
	isSuggested := slices.ContainsFunc(r.data.l.Columns,
		func(c input.Column) bool { return c.Title == suggest.GainColumn })
	if isSuggested {
		difference = "heatwalk suggest has chosen them"
	}
	r.shift = fmt.Sprintf("labels are not a random sample of the nodes: %s; the accuracy at other nodes %s %s", difference, expected, words.Percent(estimate.Accuracy))
	if sample.Omitted > 0 {
		r.shift += fmt.Sprintf("; measuring how much needs %s of memory",
			words.Bytes(sample.Omitted))
	}
	if isSuggested {
		r.notes = append(r.notes, r.shift)
	} else {
		console.warn("%s: %s", r.data.l.File, r.shift)
	}
}

// compareLargest notes that naming the largest class may be as accurate, if its share of the nodes is that of the labels.
func (r *classifyRun) compareLargest(e problem.Estimate) {
	sizes := sizesOf(r.data.l)
	largest := slices.Index(sizes, slices.Max(sizes))
	if share := float64(sizes[largest]) / float64(len(r.data.l.Row)); e.Accuracy-
		share < largestErrors*e.Stderr {
		r.notes = append(r.notes,
			fmt.Sprintf("the accuracy may be no better than that of always naming the largest class, if %s of all nodes are of class %s", words.Percent(share), quote(r.data.l.Names[largest])))
	}
}

// largestErrors is the number of standard errors by which an accuracy must exceed the share of the largest class.
const largestErrors = 2

// shiftSentence returns the warning and the range of the accuracy as a sentence for a page; "" without a
// warning.
func (r *classifyRun) shiftSentence() string {
	if r.shift == "" {
		return ""
	}
	return fmt.Sprintf("The %s (%s).", r.shift, r.accuracyText())
}

// shiftText returns the differences between labelled and other nodes.
func shiftText(sample *shift.Report) string {
	population := "other nodes"
	if sample.OneKind {
		population = "other nodes of their kind"
	}
	var parts []string
	if d := sample.Hops; d.Exceeds() {
		parts = append(parts,
			fmt.Sprintf("labelled nodes have another label %.1f steps away on average, %s %.1f", d.Labelled, population, d.Others))
	}
	if d := sample.Degree; d.Exceeds() {
		parts = append(parts,
			fmt.Sprintf("labelled nodes have a mean degree of %.3g, %s %.3g",
				d.Labelled, population, d.Others))
	}
	if s := sample.Share; s.Exceeds() && s.IsPredicted {
		parts = append(parts,
			fmt.Sprintf("class %s has a mean probability of %s at held-out labels and %s at %s", quote(s.Class), words.Percent(s.Labelled), words.Percent(s.Others), population))
	} else if s.Exceeds() {
		parts = append(parts,
			fmt.Sprintf("the nearest other label has class %s for %s of labelled nodes and %s of %s", quote(s.Class), words.Percent(s.Labelled), words.Percent(s.Others), population))
	}
	if p := sample.Part; p.Exceeds() {
		parts = append(parts,
			fmt.Sprintf("in a part of the graph %s of %s labelled, in a random sample %.0f", words.Count(p.Labelled), words.Counted(p.Nodes, "node"), p.Expected))
	}
	return strings.Join(parts, "; ")
}

// accuracyText returns the cross-validated accuracy, or the range of the accuracy at other nodes if the labels are
// not a random sample.
func (d *classifyDocument) accuracyText() string {
	s := d.LabelSample
	if s == nil || s.High == 0 {
		return d.describeAccuracy()
	}
	return fmt.Sprintf("cross-validated accuracy between %.1f and %.1f %%",
		100*s.Low, 100*s.High)
}

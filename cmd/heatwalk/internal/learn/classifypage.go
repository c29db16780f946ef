package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/internal/report"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/method/explain"
)

const (
	mostWalked      = 200 // number of least certain nodes whose neighbours a page shows
	mostReasons     = 20  // nodes with reasons on a page
	pageSuggestions = 10
	suggestEntries  = 1e5 // the page of a graph with more entries has no nodes to label next, because their search takes seconds
	mostColors      = 10  // further classes are grey
)

// ReasonValues bounds the values computed for the reasons on the page of a small graph, see reasonCount. They
// take 1.5 seconds of processor time.
var ReasonValues int64 = 1.2e8

// finishPage makes the page, if there is one, after the predictions have been published.
func finishPage(run *shell.Session, in *predictionInputs, p *heatwalk.Prediction,
	doc *classifyDocument) error {
	if in.page == nil {
		return nil
	}
	c := in.f
	run.OutputState = c.out + " is complete, " + shell.FileState(c.page)
	isMapped := in.pageRows != nil && !in.isComplete
	var err error
	if isMapped {
		err = in.addReasons(run.Context, p, doc)
	}
	if err == nil {
		err = writeReport(run, in, p, doc, isMapped)
	}
	if err == nil {
		err = in.page.Commit(nil)
	}
	if err == nil || shell.ExitCode(err) == shell.Interrupted {
		return err
	}
	return shell.MachineError(err, c.page,
		"the predictions in %s are complete, and the page was not made: %s",
		c.out, shell.ErrorText(err))
}

// addReasons adds nodes to label next to doc, and the reasons for some predictions to p. A large graph may
// have neither.
func (in *predictionInputs) addReasons(ctx context.Context, p *heatwalk.Prediction,
	doc *classifyDocument) error {
	if err := p.AddSuggestions(ctx); err != nil {
		return err
	}
	for i := range p.Suggestions {
		cells := p.Suggestions[i].Cells(p.Classes)
		doc.LabelNext = append(doc.LabelNext, labelNext{
			in.data.Graph.Nodes.ID(p.Suggestions[i].Row), cells[0], cells[1], cells[2], cells[3]})
	}
	err := p.AddReasons(ctx, in.explainedRows(p, doc))
	if errors.Is(err, explain.ErrNoForm) {
		return nil
	}
	if err != nil {
		return err
	}
	if p.Reasons == nil {
		p.Reasons = []heatwalk.Reasons{} // no reasons on a large graph
	}
	heatwalk.NameAttributes(in.data.Graph.Attributes, p.Reasons)
	return nil
}

// explainedRows returns the rows whose predictions the page explains. All requested rows are among them. Rows
// predicted as a rare class and the least certain rows follow, up to reasonCount rows in total.
func (in *predictionInputs) explainedRows(p *heatwalk.Prediction, doc *classifyDocument) []int {
	number := reasonCount(in.data.Graph, len(p.Classes))
	rare := doc.rareRows()
	rows := slices.Concat(rare[:min(number/2, len(rare))], p.LeastCertain(number))
	list := slices.Clone(in.pageRows)
	for _, row := range rows {
		if len(list) < number && !slices.Contains(list, row) {
			list = append(list, row)
		}
	}
	return list
}

// reasonCount returns how many predictions the page explains if the user requests no more. Reasons take at
// most eight seconds of processor time on a graph of a million nodes.
func reasonCount(g *shell.OpenGraph, classes int) int {
	k := int64(classes)
	nodes := int64(len(g.Degrees))
	values := (g.A.NNZ() + (8+k)*nodes) * k // values for a node; the values that all nodes share are as many
	limit := ReasonValues + ReasonValues*nodes/400_000
	return int(max(0, min(mostReasons, limit/max(1, values)-1)))
}

func (d *classifyDocument) rareRows() (rows []int) {
	if rare := d.Summary.Rare; rare != nil {
		for _, v := range rare.First {
			rows = append(rows, v.Row)
		}
	}
	return rows
}

// writeReport writes the page about the predictions of a graph.
func writeReport(run *shell.Session, in *predictionInputs, p *heatwalk.Prediction,
	doc *classifyDocument,
	isMapped bool) error {
	run.Progress.Wait("drawing " + in.f.page)
	name := "classify"
	if doc.Several != nil {
		name = "labelsets"
	}
	page, err := run.BuildPage(name, doc, in.data.Graph.Name)
	switch {
	case err == nil && run.Network != nil:
		run.Console.Warn("%s has no map and no reasons because several processes share the graph; run one process", in.f.page)
	case err == nil && isMapped:
		err = addMap(run, in, p, doc, page)
	}
	if err != nil {
		return err
	}
	return page.WriteHTML(in.page.Writer)
}

func suggestedNodes(run *shell.Session, c *classifyOptions, g *shell.OpenGraph) int {
	if c.page != "" && run.Network == nil && g.A.NNZ() <= suggestEntries {
		return pageSuggestions
	}
	return c.suggest
}

// addMap inserts the sections about the graph after the section about the confidence.
func addMap(run *shell.Session, in *predictionInputs, p *heatwalk.Prediction, doc *classifyDocument,
	page *report.Page) error {
	g := in.data.Graph
	colors := slices.Repeat([]int{-1}, len(p.Classes))
	byClass := doc.Summary.ByClass
	largest := sched.Order(len(byClass), func(a, b int) int {
		return cmp.Or(cmp.Compare(byClass[b].Labels, byClass[a].Labels), cmp.Compare(byClass[b].Predictions, byClass[a].Predictions))
	})
	largest = largest[:min(mostColors, len(largest))]
	slices.Sort(largest)
	for i, place := range largest {
		name := byClass[place].Class
		colors[slices.Index(p.Classes, name)] = i
		page.Series = append(page.Series, name)
	}
	a := g.A
	if p.Factors != nil {
		var err error
		if a, err = p.LearnedMatrix(run.Context); err != nil {
			return err
		}
	}
	m := &mapGraph{
		A: a, Weighted: p.Factors != nil, ID: g.Nodes.ID, Classes: p.Classes,
		Class: in.f.writtenLabels(p.Prediction), Workers: run.Threads,
		Scores: p.Prediction.Scores.Row,
		Known:  sched.Mark(len(p.Class), in.data.Labels.Row),
		Colors: colors, Reasons: map[int]any{}, Links: map[int][]int{},
		File: filepath.Base(in.f.out),
	}
	if in.f.out == "-" {
		m.File = "the output"
	}
	for i := range p.Reasons {
		e := &p.Reasons[i]
		m.Reasons[e.Row] = e
		for _, l := range e.Links {
			m.Links[e.Row] = append(m.Links[e.Row], l.Rows[:]...)
		}
	}
	sections, err := m.sections(run.Context,
		slices.Concat(in.pageRows, doc.rareRows(), p.LeastCertain(mostWalked)))
	if err != nil {
		return err
	}
	if p.Reasons != nil && reasonCount(g, len(p.Classes)) < mostReasons {
		sections[0].Text = append(sections[0].Text, fmt.Sprintf("On a graph of this size the page has reasons for %s, because those for %d would take longer. heatwalk explain has those for any node, and --report-nodes adds them to a page.",
			words.Counted(len(p.Reasons), "node"), mostReasons))
	}
	first := 1 + slices.IndexFunc(page.Sections,
		func(s *report.Section) bool { return s.Title == "Confidence" })
	behind := slices.Clone(page.Sections[first:])
	page.Sections = page.Sections[:first]
	page.Add(sections...)
	page.Sections = append(page.Sections, behind...)
	return nil
}

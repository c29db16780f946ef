package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/internal/graphmap"
	"github.com/heatwalk/heatwalk/internal/report"
	"github.com/heatwalk/heatwalk/internal/sched"
)

const (
	mostWalked    = 200 // of the least certain nodes, those that a page has with their neighbours
	fewestWalked  = 16  // of these that have reasons
	reasonEntries = 3e8 // entries of the graph times the nodes with reasons
	mostColors    = 10  // of classes on a page; further classes are grey
)

// writeReport writes the page about the predictions of a graph, in which row i has the class labels[i].
func (r *classifyRun) writeReport(run *session, w io.Writer, graph string, labels []int) error {
	e := &evaluate.Estimates{Accuracy: r.AccuracyEstimate, Stderr: r.AccuracyStderr, Majority: r.AccuracyMajority, Shift: r.shiftSentence(), Truth: r.Truth}
	if r.Reached != nil {
		e.Nodes = *r.Reached
	}
	model := &report.Section{Title: "Model", Text: []string{"Method: " + r.Method + "."}}
	if text := r.modelText(); text != "" {
		model.Text = append(model.Text, "Model: "+text+".")
	}
	if list := r.p.Models(); list != nil {
		t := &report.Table{Caption: "Models of the mixture, fitted to all labels. A factor multiplies it, to the power of its weight.", Head: []string{"model", "weight", "parameters"}}
		for _, m := range list {
			name := m.Name
			if m.IsFactor {
				name = "factor: " + name
			}
			t.Rows = append(t.Rows, []report.Cell{{Text: name}, report.Fixed(m.Weight, 3, 0), {Text: m.Parameters}})
		}
		model.Tables = append(model.Tables, t)
	}
	page := evaluate.Summarize(r.p.Scores, labels, r.data.l, r.truth).Page(r.Method, model, e, r.data.g.Nodes.ID)
	page.Facts = []report.Fact{{Name: "Labels", Value: fmt.Sprintf("%s, %s of %s", r.data.l.File, words.Counted(r.Labelled, "node"), words.Counted(len(r.Classes), "class"))}}
	switch {
	case run.network != nil:
		run.warn("%s has no map and no reasons because several processes share the graph; run one process", r.f.page)
	case r.mapped != nil:
		if err := addMap(run, r, page); err != nil {
			return err
		}
	}
	return writePage(run, w, page, graph)
}

// explainedLeast returns the number of the least certain nodes whose reasons a page has: on large graphs few, because each
// group of them takes a walk over the graph.
func explainedLeast(run *session, c *classifyOptions, g *openGraph) int {
	if c.page == "" || run.network != nil || c.suggest > 0 {
		return 0
	}
	return int(max(fewestWalked, min(mostWalked, reasonEntries/max(1, g.A.NNZ()))))
}

// addMap puts the section of the graph before the others of a page. Classes with most predictions have a
// color on the whole page.
func addMap(run *session, r *classifyRun, page *report.Page) error {
	g, p, problem := r.data.g, r.mapped, r.data.problem()
	isKnown := labelled(r.data.l, len(p.Class))
	count, colors := make([]int, len(p.Classes)), make([]int, len(p.Classes))
	for c := range colors {
		colors[c] = -1
	}
	for _, c := range p.Class {
		count[c]++
	}
	order := sched.UpTo(len(p.Classes))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(count[b], count[a]) })
	for i, c := range order[:min(mostColors, len(order))] {
		colors[c] = i
		page.Series = append(page.Series, p.Classes[c])
	}
	reasons := map[int]any{}
	for i := range p.Reasons {
		if row, isThere := g.Nodes.Lookup(p.Reasons[i].Node); isThere {
			reasons[row] = &p.Reasons[i]
		}
	}
	m := &graphmap.Graph{
		A: g.A, ID: g.Nodes.ID, Classes: p.Classes, Class: writtenLabels(r.f, p.Prediction), Workers: run.threads,
		Scores: p.Prediction.Scores.Row, Known: func(row int) bool { return isKnown[row] },
	}
	section, err := m.Section(run.ctx, colors, slices.Concat(r.pageRows, p.LeastCertain(problem, mostWalked)), reasons)
	if err != nil {
		return err
	}
	page.Sections = slices.Insert(page.Sections, 0, section)
	return nil
}

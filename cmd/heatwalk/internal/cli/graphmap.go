package cli

import (
	"cmp"
	"slices"

	"github.com/heatwalk/heatwalk/internal/graphmap"
	"github.com/heatwalk/heatwalk/internal/report"
)

const (
	mostWalked    = 200 // of the least certain nodes, those that a page has with their neighbours
	fewestWalked  = 16  // of these that have reasons
	reasonEntries = 3e8 // entries of the graph times the nodes with reasons
	mostColors    = 10  // of classes on a page; further classes are grey
)

// explainedLeast returns the number of the least certain nodes whose reasons a page has: on large graphs few, because each
// group of them takes a walk over the graph.
func explainedLeast(run *session, c *classifyOptions, g *openGraph) int {
	if c.page == "" || run.network != nil || c.suggest > 0 {
		return 0
	}
	return int(max(fewestWalked, min(mostWalked, reasonEntries/max(1, g.A.NNZ()))))
}

// addMap adds the section of the graph to a page, behind the section of the model. Classes with most predictions have a
// color on the whole page.
func addMap(run *session, r *classifyRun, page *report.Page) error {
	g, p, problem := r.data.g, r.mapped, r.data.problem()
	isKnown := labelled(r.data.l, len(p.Class))
	count, colors := make([]int, len(p.Classes)), make([]int, len(p.Classes))
	order := make([]int, len(p.Classes))
	for c := range order {
		order[c], colors[c] = c, -1
	}
	for _, c := range p.Class {
		count[c]++
	}
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
	index := slices.IndexFunc(page.Sections, func(s *report.Section) bool { return s.Title == "Model" })
	page.Sections = slices.Insert(page.Sections, index, section)
	return nil
}

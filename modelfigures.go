package heatwalk

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// GraphFigures describe a graph and the predictions for its nodes, for comparison with later
// graphs.
type GraphFigures struct {
	Nodes      int                `json:"nodes"`
	Edges      int64              `json:"edges"`
	MeanDegree float64            `json:"mean_degree"` // mean number of edges of a node
	Unreached  float64            `json:"unreached"`   // share of nodes without a path to a label
	Classes    map[string]float64 `json:"classes"`     // share of each class among the predictions of reached nodes without a label
	Confidence float64            `json:"confidence"`  // mean probability of these predictions
}

// MeasureGraph returns the figures of the graph and of the predictions.
func (p *Prediction) MeasureGraph() *GraphFigures {
	n := len(p.Class)
	edges := p.g.Store.Manifest.Edges()
	f := &GraphFigures{Nodes: n, Edges: edges, Classes: map[string]float64{},
		MeanDegree: 2 * float64(edges) / float64(max(n, 1)),
		Unreached:  1 - float64(p.Reached.GetCardinality())/float64(max(n, 1))}
	isLabelled := make([]bool, n)
	for _, row := range p.given.Row {
		isLabelled[row] = true
	}
	scores := make([]float64, len(p.Classes))
	count := 0.
	for row, class := range p.Class {
		if isLabelled[row] || !p.Reached.Contains(uint32(row)) {
			continue
		}
		count++
		f.Classes[p.Classes[class]]++
		if p.Highest != nil {
			p.Highest.RowTo(scores, row)
			f.Confidence += scores[class]
		} else if p.Prediction.Scores != nil {
			f.Confidence += float64(p.Prediction.Scores.At(row, class))
		}
	}
	for _, name := range p.Classes {
		f.Classes[name] /= max(count, 1)
	}
	f.Confidence /= max(count, 1)
	return f
}

const (
	largestRatio = 1.5  // a figure is reported if it differs from the figure of the model by a larger ratio
	leastShare   = 0.01 // a share is reported if it is at least this
)

// Differences returns a line, with both values, for each figure of graph that differs from the figure of the model f by more
// than a factor of 1.5.
func (f *GraphFigures) Differences(graph *GraphFigures) (list []string) {
	add := func(name, format string, model, now, least float64) {
		larger := max(model, now)
		if larger >= least && larger > largestRatio*min(model, now) {
			list = append(list, fmt.Sprintf("%s "+format+" for "+format, name, now, model))
		}
	}
	add("nodes", "%.0f", float64(f.Nodes), float64(graph.Nodes), 0)
	add("edges", "%.0f", float64(f.Edges), float64(graph.Edges), 0)
	add("mean degree", "%.3g", f.MeanDegree, graph.MeanDegree, 0)
	add("share of nodes without a label in reach", "%.3f", f.Unreached, graph.Unreached, leastShare)
	for _, name := range slices.Sorted(maps.Keys(f.Classes)) {
		add(fmt.Sprintf("share of class %q", name), "%.3f", f.Classes[name], graph.Classes[name], leastShare)
	}
	add("mean confidence", "%.3f", f.Confidence, graph.Confidence, math.SmallestNonzeroFloat64)
	return list
}

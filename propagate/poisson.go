package propagate

import (
	"math"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// poisson is Poisson learning, for few labels: the solution of
//
//	L·F = Y − ȳ,  Σ_i d_i·F_i = 0 in each component
//
// where Y has a one for the class of each labelled node, and ȳ are the class shares among the labels of the component; the
// right-hand side is 0 at other nodes. Labels are sources and sinks, so that a few labels do not leave the rest of the graph
// nearly constant. If all labels of a component have one class, the component has no source, and F is 1 for this class.
// Source: Calder, Cook, Thorpe and Slepčev 2020, equation (2.2).
var poisson = Learner{
	Spec: param.Spec{
		Name: "poisson", Title: "LF = Y − ȳ, Poisson learning",
		Works:  param.Undirected,
		Source: "Calder, Cook, Thorpe and Slepčev, Poisson learning, ICML 2020, equation 2.2",
	},
	System: func(g *graph.Graph, _ param.Values) (*iterative.System, error) {
		return iterative.ShiftedLaplacian(g, false, 1, 0)
	},
	Sources: func(b *sparse.Block[float64], g *graph.Graph, s cwk.Seeds) {
		shares := sharesByComponent(g, s)
		for i, row := range s.Row {
			prior := shares[g.Components.Of[row]]
			for c := range prior {
				b.Row(row)[c] -= prior[c]
			}
			if c := s.Class[i]; c >= 0 {
				b.Row(row)[c]++
			}
		}
	},
	Finish: func(f *sparse.Block[float64], g *graph.Graph, s cwk.Seeds) {
		team := sparse.TeamOf(g.A)
		blocks.Centre(team, f, g.Components, g.Degrees)
		agree := map[uint32]int{}
		for component, prior := range sharesByComponent(g, s) {
			for c, share := range prior {
				if share == 1 {
					agree[component] = c
				}
			}
		}
		for i := range f.Rows {
			if c, ok := agree[g.Components.Of[i]]; ok && !team.IsPadding(i) {
				clear(f.Row(i))
				f.Row(i)[c] = 1
			}
		}
	},
	Gain:          func(param.Values) float64 { return 1 },
	Centre:        centreAtLabels,
	Probabilities: softmaxTo,
}

// sharesByComponent returns the class shares among the labels of each component that has labels.
func sharesByComponent(g *graph.Graph, s cwk.Seeds) map[uint32][]float64 {
	shares := map[uint32][]float64{}
	labels := map[uint32]float64{}
	for i, row := range s.Row {
		component := g.Components.Of[row]
		if shares[component] == nil {
			shares[component] = make([]float64, s.Classes)
		}
		if c := s.Class[i]; c >= 0 {
			shares[component][c]++
		}
		labels[component]++
	}
	for component, list := range shares {
		for c := range list {
			list[c] /= labels[component]
		}
	}
	return shares
}

// sharpness is the factor that turns scores of root mean square 1 into logits.
const sharpness = 2

// softmaxTo stores exp(2·f/scale) divided by their sum, or shares if all scores are zero.
func softmaxTo(dst, f, shares []float64, scale float64) {
	largest := math.Inf(-1)
	isKnown := false
	for _, v := range f {
		largest = max(largest, v)
		isKnown = isKnown || v != 0
	}
	if !isKnown || !(scale > 0) {
		copy(dst, shares)
		return
	}
	sum := 0.0
	for c, v := range f {
		dst[c] = math.Exp(sharpness * (v - largest) / scale)
		sum += dst[c]
	}
	for c := range dst {
		dst[c] /= sum
	}
}

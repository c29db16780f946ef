package propagate

import (
	"math"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/param"
)

var shareRange = param.Range{Most: 1, AboveLeast: true, BelowMost: true}

// lgc is learning with local and global consistency,
//
//	F = (I − αS)⁻¹·Y,  S = D^-½AD^-½
//
// where Y has a one for the class of each labelled node and zeros elsewhere. A node without edges keeps its row of Y. Source:
// Zhou et al. 2004, equation (4) without the factor 1 − α, which changes no order of scores.
var lgc = Learner{
	Normalized: true,
	Spec: param.Spec{
		Name: "lgc", Title: "(I − αS)⁻¹Y, learning with local and global consistency", Works: param.Undirected | param.Signed,
		Source: "Zhou, Bousquet, Lal, Weston and Schölkopf, Learning with local and global consistency, NIPS 16, 2004, equation 4",
		Params: []param.Param{{
			Name: "alpha", Symbol: "α", Meaning: "share that spreads at a step",
			Range:   shareRange,
			Default: param.Of(0.99),
			Grid:    param.Grid(0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99),
		}},
	},
	Gain:     func(v param.Values) float64 { return v.Number("alpha") },
	Averages: true,
	System: func(g *graph.Graph, v param.Values) (*iterative.System, error) {
		return iterative.VonNeumann(g, true, v.Number("alpha"))
	},
}

// SignedShares stores in dst the shares of classes for scores f of a graph with negative weights: f/Σ|f| plus a constant that
// makes the sum 1. Negative shares then become 0, and the shares are divided by their sum.
func SignedShares(dst, f []float64) {
	size := 0.0
	sum := 0.0
	total := 0.0
	for _, v := range f {
		size += math.Abs(v)
		sum += v
	}
	for c, v := range f {
		if size > 0 {
			v = v / size
			dst[c] = (1 - sum/size) / float64(len(f))
		} else {
			dst[c] = 1 / float64(len(f))
		}
		dst[c] = max(0, dst[c]+v)
		total += dst[c]
	}
	for c := range dst {
		dst[c] /= total
	}
}

package kernel

import (
	"context"

	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/param"
)

var regularizedCommuteTime = Family{
	Spec: param.Spec{
		Name: "regularized-commute-time", Title: "(D − αA)⁺",
		Works:  param.Undirected,
		Source: "Mantrach et al., Semi-supervised classification and betweenness computation on large, sparse, directed graphs, Pattern Recognition 44, 2011",
		Params: []param.Param{withRest(shareParam(usualShare),
			"regularized-commute-time")},
	},
	newOn: func(_ context.Context, g *matrices, v param.Values) (Kernel, error) {
		s, err := iterative.VonNeumann(g.Graph, false, v.Number("alpha"))
		if err != nil {
			return nil, err
		}
		return g.spectral(&solves{system: s, scale: 1}, nil, nil), nil
	},
	work: func(v param.Values, _ *degrees) work {
		w := walkInverseWork(v.Number("alpha"))
		w.half = false
		return w
	},
}

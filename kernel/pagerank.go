package kernel

import (
	"context"

	"github.com/heatwalk/heatwalk/param"
)

// pageRank is (1−α)(I − αT)⁻¹, and 1 at a node without edges, where the walk stays.
var pageRank = Family{
	Spec: param.Spec{
		Name: "pagerank", Title: "(1−α)(I − αT)⁻¹", Works: param.Undirected,
		Source: "Brin and Page, The anatomy of a large-scale hypertextual Web search engine, WWW 1998",
		Params: []param.Param{withRest(shareParam(0.85), "pagerank"),
			symmetricParam()},
	},
	Asymmetry:  unlessSymmetric,
	Normalized: true,
	newOn: func(ctx context.Context, g *matrices, v param.Values) (Kernel, error) {
		alpha := v.Number("alpha")
		k, err := newWalkInverse(ctx, g, alpha, 1-alpha, lone(g.Degrees))
		if err != nil {
			return nil, err
		}
		if !v.On("symmetric") {
			k.root = roots(g.Graph)
		}
		return k, nil
	},
	work: func(v param.Values, _ *degrees) work { return walkInverseWork(v.Number("alpha")) },
}

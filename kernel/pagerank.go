package kernel

import (
	"context"

	"github.com/heatwalk/heatwalk/spec"
)

// pageRank is (1−α)(I − αT)⁻¹; its default is that of Brin and Page. A walk that
// cannot leave its node stays: the kernel is 1 there.
var pageRank = Family{
	Spec: spec.Spec{
		Name: "pagerank", Title: "(1−α)(I − αT)⁻¹", Works: spec.Undirected,
		Source: "Brin and Page, The anatomy of a large-scale hypertextual Web search engine, WWW 1998",
		Params: []spec.Param{withRest(shareParam(0.85), "pagerank"), symmetricParam()},
	},
	asymmetric: unlessSymmetric,
	build: func(ctx context.Context, g *matrices, v spec.Values) (Kernel, error) {
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
	work: func(v spec.Values, _ *degrees) work { return walkInverseWork(v.Number("alpha")) },
}

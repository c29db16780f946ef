package kernel

import (
	"context"

	"github.com/heatwalk/heatwalk/spec"
)

// heatPageRank is exp(−β(I − T)), Chung 2007.
var heatPageRank = Family{
	Spec: spec.Spec{
		Name: "heat-pagerank", Title: "exp(−β(I − T))", Works: spec.Undirected,
		Source: "Chung, The heat kernel as the pagerank of a graph, PNAS 104, 2007",
		Params: []spec.Param{betaParam(nil), symmetricParam()},
	},
	asymmetric: unlessSymmetric,
	build: func(ctx context.Context, g *matrices, v spec.Values) (Kernel, error) {
		laplacian := randomWalk
		if v.On("symmetric") {
			laplacian = normalized
		}
		return newDiffusion(ctx, g, laplacian, v.Number("beta"))
	},
	work: func(v spec.Values, d *degrees) work {
		return diffusionWork(d, normalized, v.Number("beta"))
	},
}

package kernel

import (
	"context"

	"github.com/heatwalk/heatwalk/param"
)

var heatPageRank = Family{
	Spec: param.Spec{
		Name: "heat-pagerank", Title: "exp(−β(I − T))", Works: param.Undirected,
		Source: "Chung, The heat kernel as the pagerank of a graph, PNAS 104, 2007",
		Params: []param.Param{betaParam(nil), symmetricParam()},
	},
	Asymmetry:  unlessSymmetric,
	Normalized: true,
	newOn: func(ctx context.Context, g *matrices, v param.Values) (Kernel, error) {
		laplacian := randomWalk
		if v.On("symmetric") {
			laplacian = normalized
		}
		return newDiffusion(ctx, g, laplacian, v.Number("beta"))
	},
	work: func(v param.Values, d *degrees) work {
		return d.diffusionWork(normalized, v.Number("beta"))
	},
}

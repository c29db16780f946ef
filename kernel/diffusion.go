package kernel

import (
	"context"

	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/param"
)

var diffusion = Family{
	Spec: param.Spec{
		Name: "diffusion", Title: "exp(−βL)",
		Works:  param.Undirected | param.Signed,
		Source: "Kondor and Lafferty, Diffusion kernels on graphs and other discrete input spaces, ICML 2002, section 2.3, equations 11 and 12",
		Params: []param.Param{laplacianParam(normalized, combinatorial, randomWalk),
			betaParam(overDegree)},
	},
	Asymmetry: ofRandomWalk,
	newOn: func(ctx context.Context, g *matrices, v param.Values) (Kernel, error) {
		return newDiffusion(ctx, g, v.Word("laplacian"), v.Number("beta"))
	},
	work: func(v param.Values, d *degrees) work {
		return d.diffusionWork(v.Word("laplacian"), v.Number("beta"))
	},
}

func newDiffusion(ctx context.Context, g *matrices, laplacian string,
	beta float64) (Kernel, error) {
	m, root, err := g.laplacian(ctx, laplacian)
	if err != nil {
		return nil, err
	}
	return g.spectral(&series{m, expm.Exp(-beta)},
		&series{m, expm.Exp(-beta / 2)}, root), nil
}

func (d *degrees) diffusionWork(laplacian string, beta float64) work {
	kind := laplacianKind(laplacian)
	return functionOf(!expm.MaySolve(kind, d.Diagonal, beta))
}

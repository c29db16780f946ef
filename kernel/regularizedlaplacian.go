package kernel

import (
	"context"

	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/param"
)

var regularizedLaplacian = Family{
	Spec: param.Spec{
		Name: "regularized-laplacian", Title: "(I + αL)⁻¹",
		Works:  param.Undirected | param.Signed,
		Source: "Smola and Kondor, Kernels and regularization on graphs, COLT 2003",
		Params: []param.Param{laplacianParam(normalized, combinatorial, randomWalk), {
			Name: "alpha", Symbol: "α", Meaning: "mean time of a diffusion",
			Range:   param.Above(0),
			Default: param.Of(float64(usualTime)), Grid: powersOfTwo(),
			On: overDegree,
		}},
	},
	Asymmetry: ofRandomWalk,
	newOn: func(ctx context.Context, g *matrices, v param.Values) (Kernel, error) {
		laplacian, alpha := v.Word("laplacian"), v.Number("alpha")
		m, root, err := g.laplacian(ctx, laplacian)
		if err != nil {
			return nil, err
		}
		if alpha*m.Hi > 1/epsilon {
			return nil, refuse("regularized-laplacian", "alpha",
				"%v is out of range; regularized-laplacian takes 0 < α ≤ %s on this graph, whose Laplacian's largest eigenvalue is at most %.6g: beyond it I is lost in rounding", alpha, param.End(1/epsilon/m.Hi, alpha, false, 6), m.Hi)
		}
		s, err := iterative.ShiftedLaplacian(g.Graph,
			laplacian != combinatorial, alpha, 1)
		if err != nil {
			return nil, err
		}
		e := &solves{system: s, scale: 1}
		if g.work.joint {
			e.joint = joint{m, expm.Inverse(1, alpha)}
		}
		return g.spectral(e, newInverseRoot(m, alpha, 1, 1, nil), root), nil
	},
	work: func(v param.Values, d *degrees) work {
		ratio := v.Number("alpha") * d.largestOf(v.Word("laplacian"))
		return work{inverse: true, half: ratio <= narrow, joint: ratio <= expm.WideSpectrum}
	},
}

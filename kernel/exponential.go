package kernel

import (
	"context"

	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

var exponential = Family{
	Spec: param.Spec{
		Name: "exponential", Title: "exp(βA)",
		Works:  param.Undirected | param.Signed,
		Source: "Kondor and Lafferty, Diffusion kernels on graphs and other discrete input spaces, ICML 2002, section 2.1",
		Params: []param.Param{matrixParam(adjacency), exponentialBeta()},
	},
	newOn: func(ctx context.Context, g *matrices, v param.Values) (Kernel, error) {
		matrix, beta := v.Word("matrix"), v.Number("beta")
		m, err := g.of(ctx, sparse.Kind(matrix))
		if err != nil {
			return nil, err
		}
		if !(beta > 0 && beta*m.Hi <= maxLog) {
			return nil, refuse("exponential", "beta",
				"%v is out of range; %s takes 0 < β ≤ %s on this graph, whose largest eigenvalue is at most %.6g: beyond it norms of columns overflow", beta, titleOf("exponential", matrix), param.End(maxLog/m.Hi, beta, false, 6), m.Hi)
		}
		return g.spectral(&series{m: m, f: expm.Exp(beta)},
			&series{m: m, f: expm.Exp(beta / 2)}, nil), nil
	},
	work: func(v param.Values, _ *degrees) work {
		w := functionOf(true)
		w.search = v.Word("matrix") == adjacency // the default of β is relative to the largest eigenvalue
		return w
	},
}

func exponentialBeta() param.Param {
	p := betaParam(func(x float64, v param.Values, g param.Graph) (float64, error) {
		if v.Word("matrix") != adjacency {
			return x, nil
		}
		radius, err := g.Radius(false)
		return x / radius, err
	})
	p.Range = param.Range{}
	return p
}

package kernel

import (
	"context"
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/param"
)

var matern = Family{
	Spec: param.Spec{
		Name: "matern", Title: "(2ν/κ²·I + L)^−ν",
		Works:  param.Undirected | param.Signed,
		Source: "Borovitskiy et al., Matérn Gaussian processes on graphs, AISTATS 2021",
		Params: []param.Param{
			laplacianParam(normalized, combinatorial, randomWalk),
			{
				Name: "nu", Symbol: "ν", Meaning: "smoothness",
				Range:   param.Above(0),
				Default: param.Of(1.5), Grid: param.Grid(0.5, 1.5, 2.5),
			},
			{
				Name: "kappa", Symbol: "κ", Meaning: "length",
				Range:   param.Above(0),
				Default: param.Of(3.0), Grid: param.Grid(1.0, 2, 4, 8, 16),
				On: func(x float64, v param.Values, g param.Graph) (float64, error) {
					if v.Word("laplacian") == combinatorial {
						x /= math.Sqrt(g.MeanDegree())
					}
					return x, nil
				},
			},
		},
	},
	Asymmetry: ofRandomWalk,
	newOn:     newMatern,
	work: func(v param.Values, d *degrees) work {
		nu, kappa := v.Number("nu"), v.Number("kappa")
		narrowest := expm.WideSpectrum * 2 * nu / (kappa * kappa)
		return functionOf(d.largestOf(v.Word("laplacian")) <= narrowest)
	},
}

// newMatern returns (2ν/κ²·I + L)^−ν. It refuses a κ for which values overflow, and a κ so large that rounding loses
// 2ν/κ² when it is added to L.
func newMatern(ctx context.Context, g *matrices, v param.Values) (Kernel, error) {
	m, root, err := g.laplacian(ctx, v.Word("laplacian"))
	if err != nil {
		return nil, err
	}
	nu := v.Number("nu")
	kappa := v.Number("kappa")
	// (2ν/κ²)^−ν is the largest value; it must be within e^±maxLog.
	middle := math.Sqrt(2 * nu)
	factor := math.Exp(min(maxLog/nu, maxLog) / 2)
	if smallest, greatest := middle/factor, middle*factor; !(kappa >= smallest && kappa <= greatest) {
		low, high := param.End(smallest, kappa, false, 6),
			param.End(greatest, kappa, false, 6)
		if low == high { // a large ν leaves κ a narrow range
			low, high = fmt.Sprint(smallest), fmt.Sprint(greatest)
		}
		return nil, refuse("matern", "kappa",
			"%v is out of range; matern with ν = %v takes %s ≤ κ ≤ %s, beyond which norms of its columns overflow", kappa, nu, low, high)
	}
	hi := m.Hi
	if limit := math.Sqrt(2 * nu / epsilon / hi); kappa > limit {
		return nil, refuse("matern", "kappa",
			"%v is out of range; matern with ν = %v takes κ ≤ %s on this graph, whose Laplacian's largest eigenvalue is at most %.6g: beyond it 2ν/κ² is lost in rounding", kappa, nu, param.End(limit, kappa, false, 6), hi)
	}
	sigma := 2 * nu / (kappa * kappa)
	return g.spectral(&series{m: m, f: expm.Matern(sigma, nu)},
		&series{m: m, f: expm.Matern(sigma, nu/2)}, root), nil
}

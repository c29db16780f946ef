package kernel

import (
	"context"
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

var pStep = Family{
	Spec: param.Spec{
		Name: "p-step", Title: "(aI − L̃)ᵖ", Works: param.Undirected | param.Signed,
		Source: "Smola and Kondor, Kernels and regularization on graphs, COLT 2003",
		Params: []param.Param{
			{
				Name: "shift", Symbol: "a",
				Meaning: "at least the largest eigenvalue that L̃ can have",
				Range:   param.From(2),
				Default: param.Of(2.0),
				Check: func(v param.Values) error {
					if limit := math.Exp(maxLog); v.Number("shift") > limit {
						return fmt.Errorf("%v is out of range; p-step takes a ≥ 2 up to %s, beyond which norms of its columns overflow", v.Number("shift"), param.End(limit, v.Number("shift"), false, 2))
					}
					return nil
				},
			},
			{
				Name: "steps", Symbol: "p", Meaning: "steps", Kind: param.Whole,
				Range:   param.From(1),
				Default: param.Of(2 * usualTime), // (2I − L̃)ᵖ is about 2ᵖ·exp(−pL̃/2)
				Grid:    param.Grid(1, 2, 3, 5, 7, 10, 20),
				Check: func(v param.Values) error {
					if a, p := v.Number("shift"),
						v.Number("steps"); p > math.Floor(maxLog/math.Log(a)) {
						return fmt.Errorf("%v is out of range; p-step with a = %v takes 1 to %d, beyond which norms of its columns overflow", p, a, int(maxLog/math.Log(a)))
					}
					return nil
				},
			},
		},
	},
	Normalized: true,
	newOn: func(ctx context.Context, g *matrices, v param.Values) (Kernel, error) {
		m, err := g.of(ctx, sparse.NormalizedLaplacian)
		if err != nil {
			return nil, err
		}
		a, p := v.Number("shift"), v.Int("steps")
		return g.spectral(&series{m: m, f: expm.Power(a, p)},
			&series{m: m, f: expm.Power(a, p/2)}, nil), nil
	},
	work: func(v param.Values, _ *degrees) work {
		w := functionOf(true)
		w.half = v.Int("steps")%2 == 0
		return w
	},
}

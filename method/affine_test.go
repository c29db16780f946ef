package method

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// TestNumbersFollowTheirUnit predicts y and a·y + b with every engine of numbers, registered ones too. The choice must be the same, and the
// predictions of a·y + b those of y, times a, plus b.
func TestNumbersFollowTheirUnit(t *testing.T) {
	Register(&engine.Engine{Name: "shrunk", Target: engine.Numbers, Specs: []*param.Spec{{Name: "shrunk"}},
		Fit: func(_ context.Context, p *engine.Problem, _ *engine.Parameters, _ *engine.Settings) (*engine.Prediction, error) {
			mean := stat.Mean(p.Value, nil)
			return &engine.Prediction{Value: slices.Repeat([]float64{mean / 2}, len(p.Degrees)), Reached: roaring.New()}, nil
		}})
	defer func() { registered = registered[:len(registered)-1] }()
	var names []string
	for _, e := range Regressions() {
		names = append(names, e.Name)
	}
	names = append(names, DefaultNumbers(1, false, 1))
	rapid.Check(t, func(r *rapid.T) {
		name := rapid.SampledFrom(names).Draw(r, "method")
		p := randomNumbers(t, rapid.Uint64Range(1, 50).Draw(r, "seed"), rapid.IntRange(12, 120).Draw(r, "nodes"))
		for i, y := range p.Value {
			p.Value[i] = math.Round(y*64) / 64 // so that a·y + b is exact: ill-conditioned systems amplify its rounding
		}
		if p.Validate() != nil {
			r.Skip()
		}
		if rapid.Bool().Draw(r, "attributes") {
			p.Attributes = randomTable(rapid.Uint64Range(1, 50).Draw(r, "attributes of"), len(p.Degrees))
		}
		a := rapid.SampledFrom([]float64{1, 1, -1, 1000, -3, 0x1p-133, 0x1p133}).Draw(r, "a")
		b := 0.0
		if math.Abs(a) < 1e9 && math.Abs(a) > 1e-9 {
			b = math.Trunc(rapid.SampledFrom([]float64{0, 1, -2460000.5, 1.7e9, 1e12}).Draw(r, "b"))
		}
		changed := *p
		changed.Value = slices.Clone(p.Value)
		for i, y := range p.Value {
			changed.Value[i] = float64(a*y) + b
		}
		want := runOne(t, p, name, nil)
		got := runOne(t, &changed, name, nil)
		spread := math.Abs(a) * stat.StdDev(p.Value, nil)
		relative := 1e-9
		if strings.HasSuffix(name, "+rls") {
			relative = 1e-8 // a kernel with λ = 1e-4 amplifies the rounding of 3y, 1e-16, by up to 1e7
		}
		tolerance := relative*spread + 4*(math.Nextafter(math.Abs(b), math.Inf(1))-math.Abs(b))
		if got.Method != want.Method || got.Parameters.String() != want.Parameters.String() {
			r.Fatalf("%v y + %v: %s %v, not %s %v", a, b, got.Method, got.Parameters, want.Method, want.Parameters)
		}
		if math.Abs(got.R2-want.R2) > relative || math.Abs(got.RMSE-want.RMSE*math.Abs(a)) > tolerance || math.Abs(got.Mean.MAE-want.Mean.MAE*math.Abs(a)) > tolerance {
			r.Fatalf("%v y + %v: errors %+v, not %+v", a, b, got.Errors, want.Errors)
		}
		for i, y := range want.Value {
			if d := math.Abs(got.Value[i] - (float64(a*y) + b)); !(d <= tolerance) {
				r.Fatalf("%v y + %v: the prediction of node %d is off by %v of the spread", a, b, i, d/spread)
			}
		}
	})
}

// randomTable returns attributes of n nodes: a normal and a lognormal number, few whole numbers, and a constant. Some nodes have
// none.
func randomTable(seed uint64, n int) *sparse.Table {
	rng := rand.New(rand.NewPCG(seed, 11))
	t := &sparse.Table{Rows: n, Cols: 4}
	for v := range n {
		x := rng.NormFloat64()
		if rng.IntN(6) > 0 {
			t.Set(v, []float32{float32(x), float32(math.Exp(2 * x)), float32(rng.IntN(3)), 7})
		}
	}
	return t
}

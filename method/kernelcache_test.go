package method

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/internal/problemtest"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// A cache keeps the values of the kernel that was used last.
func TestCacheKeepsTheLastKernel(t *testing.T) {
	f, c := kernel.Families().Named("diffusion"), newKernelCache(problemtest.Planted(t, 5, 101, 40), 1)
	var list []*kernelValues
	for _, beta := range []float64{0.5, 1, 1} {
		v, err := f.Resolve(param.Values{"beta": param.Of(beta)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Of(t.Context(), f, v)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, got)
	}
	if list[0] == list[1] || list[1] != list[2] {
		t.Error("the last kernel is not kept")
	}
}

// What machines decide is the kernel's values times their coefficients, whether values are
// kept or the kernel is applied.
func TestDecide(t *testing.T) {
	p := problemtest.Planted(t, 6, 61, 20)
	f := kernel.Families().Named("diffusion")
	v, err := f.Resolve(param.Values{"beta": param.Of(1.0)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := newKernelCache(p, 1).Of(t.Context(), f, v)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]int, len(p.Degrees))
	for i := range all {
		all[i] = i
	}
	k := kept.Between(all, p.Row)
	dual := &classify.Model{Classes: 2, Items: len(p.Row), Pairs: classify.Pairs{{Positive: 0, Negative: 1}}, Machines: make([]classify.Machine, 3)}
	coef := mat.NewDense(len(p.Row), 3, nil)
	for m := range dual.Machines {
		for i := m; i < len(p.Row); i += m + 1 {
			dual.Machines[m].Index = append(dual.Machines[m].Index, i)
			dual.Machines[m].Coef = append(dual.Machines[m].Coef, math.Sin(float64(i+m)))
			coef.Set(i, m, math.Sin(float64(i+m)))
		}
		dual.Machines[m].Rho = float64(m)
	}
	var want mat.Dense
	want.Mul(sparse.DenseOf(k), coef)
	on := &kernelMap{P: p, Kept: kept, Scale: 2, Workers: 1}
	err = on.Decide(t.Context(), dual, 2, func(lo int, decisions *sparse.Block[float64]) error {
		for i := range decisions.Rows {
			for j, d := range decisions.Row(i) {
				if w := 2*want.At(i, lo+j) - float64(lo+j); math.Abs(d-w) > 1e-12 {
					t.Fatalf("machine %d decides %v on node %d, want %v", lo+j, d, i, w)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

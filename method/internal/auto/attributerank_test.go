package auto

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
)

func scoresOf(column []float64) func(x float64) float64 {
	return func(x float64) float64 {
		below, equal := 0.0, 0.0
		for _, y := range column {
			if y < x {
				below++
			} else if y == x {
				equal++
			}
		}
		return distuv.UnitNormal.Quantile((below + (equal+1)/2) / float64(len(column)+1))
	}
}

func columnOf(values []float32) []float32 {
	t := &sparse.Table{Rows: len(values), Cols: 1}
	for v, x := range values {
		t.Set(v, []float32{x})
	}
	a, out := newAttributeTable(nil, t), make([]float32, len(values))
	for v := range out {
		readerOf(a).rowTo(out[v:v+1], v, 0, 1)
	}
	return out
}

func farthest(a, b []float32) (most float64) {
	for i := range a {
		most = max(most, math.Abs(float64(a[i]-b[i])))
	}
	return most
}

func TestRank(t *testing.T) {
	const n = 3000
	rng := rand.New(rand.NewPCG(1, 1))
	column := func(of func(v int) float64) []float32 {
		x := make([]float32, n)
		for v := range x {
			x[v] = float32(of(v))
		}
		return columnOf(x)
	}
	normal := make([]float64, n)
	for v := range normal {
		normal[v] = rng.NormFloat64()
	}
	plain := column(func(v int) float64 { return normal[v] })
	for _, c := range []struct {
		name string
		of   func(v int) float64
		near float64
	}{
		{"in another unit", func(v int) float64 { return 1e6*normal[v] - 4e5 }, 1e-3},
		{"exponential", func(v int) float64 { return math.Exp(2 * normal[v]) }, 0.15},
	} {
		if got := farthest(column(c.of), plain); got > c.near {
			t.Errorf("%s: %v from the column", c.name, got)
		}
	}
	far := column(func(v int) float64 {
		if v%300 == 7 {
			return math.MaxFloat32 * math.Copysign(1, normal[v])
		}
		return normal[v]
	})
	for v, x := range far {
		if v%300 != 7 && math.Abs(float64(plain[v])) < 2.4 && math.Abs(float64(x-plain[v])) > 0.1 {
			t.Errorf("node %d counts %v, and %v where no value is far away", v, x, plain[v])
		}
	}
	for _, every := range []int{2, 1000} {
		rare := 1 / float64(every)
		for v, x := range column(func(v int) float64 { return 5 * min(1, float64(v%every)) }) {
			want := -math.Sqrt((1 - rare) / rare)
			if v%every > 0 {
				want = math.Sqrt(rare / (1 - rare))
			}
			if math.Abs(float64(x)-want) > 1e-4*math.Abs(want) {
				t.Fatalf("one of %d is 0, others are 5: node %d counts %v, want %v", every, v, x, want)
			}
		}
	}
	for v, x := range column(func(int) float64 { return 7 }) {
		if x != 0 {
			t.Fatalf("node %d counts %v where all values are the same", v, x)
		}
	}
}

func TestHeavyTails(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	const d = 80
	var found [2]float64
	for seed := range uint64(3) {
		p, class := contract.Blocks(t, seed, 400, 80, 3, 0.5, 0.5)
		for i, power := range []float64{0, 2} {
			rng := rand.New(rand.NewPCG(seed, 2))
			p.Attributes = &sparse.Table{Rows: len(class), Cols: d}
			row := make([]float32, d)
			for v, c := range class {
				for j := range row {
					x := rng.NormFloat64()
					if j%3 == c {
						x += 0.4
					}
					if row[j] = float32(x); power > 0 {
						row[j] = float32(math.Exp(power * x))
					}
				}
				p.Attributes.Set(v, row)
			}
			found[i] += contract.Accuracy(p, evident(t, p, &settings{}).Class, class) / 3
		}
	}
	if found[0] < 0.75 || found[1] < found[0]-0.03 {
		t.Errorf("accuracy %.2f, %.2f of their exponentials", found[0], found[1])
	}
}

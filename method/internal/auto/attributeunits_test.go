package auto

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/method/internal/chunks"
	"github.com/heatwalk/heatwalk/method/internal/problemtest"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

func TestUnits(t *testing.T) { checkUnits(t, problemtest.Planted(t, 6, 60, 20)) }

// Where all nodes have the same neighbours, their means differ by rounding alone, from
// which nothing can be learned.
func TestUnitsOfRounding(t *testing.T) {
	p := problemtest.Planted(t, 6, 60, 20)
	var entries []sparse.Triplet
	weight := func(v int) float64 { return 1 + float64(v%11)/7 }
	for v := range 60 {
		for u := range 60 {
			entries = append(entries, sparse.Triplet{Row: uint32(v), Col: uint32(u), Val: weight(v) * weight(u)})
		}
	}
	a, err := sparse.FromTriplets(60, 60, entries)
	if err != nil {
		t.Fatal(err)
	}
	p.A = a
	if p.Degrees, err = sparse.Degrees(t.Context(), a, 1); err != nil {
		t.Fatal(err)
	}
	checkUnits(t, p)
}

// checkUnits compares units, and scores of weights on them, with dense products in double
// precision.
func checkUnits(t *testing.T, p *problem.Problem) {
	t.Helper()
	const d, n, k = 4, 60, 3
	table, plain := tableOf(rand.New(rand.NewPCG(4, 4)), n, 0, d)
	p.Attributes = table
	u, err := newUnits(t.Context(), newLens(p, newAttributeTable(nil, table), 2, new(problem.Work)))
	if err != nil {
		t.Fatal(err)
	}
	standard := func(x *mat.Dense) *mat.Dense {
		rows, cols := x.Dims()
		out := mat.NewDense(rows, cols, nil)
		for j := range cols {
			mean, square := 0.0, 0.0
			for v := range rows {
				mean += x.At(v, j) / float64(rows)
			}
			for v := range rows {
				square += math.Pow(x.At(v, j)-mean, 2) / float64(rows)
			}
			for v := range rows {
				if square > 1e-9 {
					out.Set(v, j, (x.At(v, j)-mean)/math.Sqrt(square))
				}
			}
		}
		return out
	}
	dense := func(x []float32, cols int) *mat.Dense {
		out := mat.NewDense(len(x)/cols, cols, nil)
		for i, v := range x {
			out.Set(i/cols, i%cols, float64(v))
		}
		return out
	}
	rectified := func(x *mat.Dense, bias []float32) *mat.Dense {
		out := mat.DenseCopyOf(x)
		out.Apply(func(_, j int, v float64) float64 { return max(0, v+float64(bias[j])) }, x)
		return out
	}
	a := p.A.(*sparse.CSR)
	transition := mat.NewDense(n, n, nil)
	degrees, around := mat.NewDense(n, 4, nil), make([]float64, n)
	for v := range n {
		for w := range n {
			if p.Degrees[v] > 0 {
				transition.Set(v, w, a.At(v, w)/p.Degrees[v])
				around[v] += transition.At(v, w) * p.Degrees[w]
			}
		}
		own, other := math.Log1p(p.Degrees[v]), math.Log1p(around[v])
		degrees.SetRow(v, []float64{own, own * own, other, other * other})
	}
	x := scaledOf(plain, 0, d)
	f := mat.NewDense(n, unitInputs(d), nil)
	for h := range mostHops {
		for v := range n {
			for j := range d {
				f.Set(v, h*d+j, x.At(v, j))
			}
		}
		var next mat.Dense
		next.Mul(transition, x)
		x = &next
	}
	for v := range n {
		for j := range 4 {
			f.Set(v, mostHops*d+j, degrees.At(v, j))
		}
	}
	f = standard(f)
	count := u.second.Cols
	var h, both, g mat.Dense
	h.Mul(f, dense(u.r, count))
	hs := standard(rectified(&h, u.b))
	var th mat.Dense
	th.Mul(transition, hs)
	both.Augment(hs, &th)
	g.Mul(&both, dense(u.q, count))
	gr := rectified(&g, u.c)
	square := 0.0
	for j := range count {
		mean := mat.Sum(gr.ColView(j)) / n
		for v := range n {
			gr.Set(v, j, gr.At(v, j)-mean)
			square += math.Pow(gr.At(v, j), 2) / n
		}
	}
	f.Scale(1/math.Sqrt(float64(3*f.RawMatrix().Cols)), f)
	hs.Scale(1/math.Sqrt(float64(3*count)), hs)
	gr.Scale(1/math.Sqrt(3*square), gr)
	nodes := []int{5, 0, 59, 17}
	block := u.block(nodes)
	row := make([]float32, block.columns)
	for i, v := range nodes {
		block.rowsTo(row, i)
		want := slices.Concat(f.RawRowView(v), hs.RawRowView(v), gr.RawRowView(v))
		for j, w := range want {
			if !(math.Abs(float64(row[j])-w) < 1e-4) {
				t.Fatalf("node %d, feature %d of %d: %v, want %v", v, j, len(want), row[j], w)
			}
		}
	}
	rng := rand.New(rand.NewPCG(5, 5))
	w, got := chunks.Block[float32](block.columns, k), chunks.Block[float32](n, k)
	for i := range w.Data {
		w.Data[i] = float32(rng.NormFloat64())
	}
	if err := block.apply(t.Context(), got, w); err != nil {
		t.Fatal(err)
	}
	var all, want mat.Dense
	all.Augment(f, hs)
	var joined mat.Dense
	joined.Augment(&all, gr)
	want.Mul(&joined, dense(w.Data, k))
	for v := range n {
		for c := range k {
			if !(math.Abs(float64(got.Row(v)[c])-want.At(v, c)) < 1e-3) {
				t.Fatalf("score of node %d: %v, want %v", v, got.Row(v)[c], want.At(v, c))
			}
		}
	}
}

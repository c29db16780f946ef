package classify

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
	"gonum.org/v1/gonum/mat"
)

// plainRidge solves (AᵀA + ridge·I)W = Aᵀ(Y − 1ȳᵀ) and returns the scores AW + ȳ.
func plainRidge(a *mat.Dense, y []int, share []float64, ridge float64, takes func(int) bool) *mat.Dense {
	m, d := a.Dims()
	k := len(share)
	part, target := mat.NewDense(m, d, nil), mat.NewDense(m, k, nil)
	for i := range m {
		if !takes(i) {
			continue
		}
		part.SetRow(i, a.RawRowView(i))
		for c := range k {
			target.Set(i, c, -share[c])
		}
		target.Set(i, y[i], 1-share[y[i]])
	}
	var square, right, w, out mat.Dense
	square.Mul(part.T(), part)
	for j := range d {
		square.Set(j, j, square.At(j, j)+ridge)
	}
	right.Mul(part.T(), target)
	if err := w.Solve(&square, &right); err != nil {
		panic(err)
	}
	out.Mul(a, &w)
	out.Apply(func(_, c int, v float64) float64 { return v + share[c] }, &out)
	return &out
}

func TestRidgePath(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, d := range []int{3, 40} {
		const m, k, parts, constant = 23, 3, 4, 0.3
		f := &sparse.Block[float32]{Rows: m, Cols: d, Stride: d, Data: make([]float32, m*d)}
		a, y, part := mat.NewDense(m, d+1, nil), make([]int, m), make([]int, m)
		trace := 0.0
		for i := range m {
			y[i], part[i] = rng.IntN(k), rng.IntN(parts)
			for j := range d {
				f.Row(i)[j] = float32(rng.NormFloat64())
				a.Set(i, j, float64(f.Row(i)[j]))
			}
			a.Set(i, d, constant)
			trace += mat.Dot(a.RowView(i), a.RowView(i))
		}
		each := make([][]int, m)
		for i := range y {
			each[i] = y[i : i+1]
		}
		p, err := NewRidgePath(t.Context(), f, constant, OneHot(each, k), 1)
		if err != nil {
			t.Fatal(err)
		}
		const lambda = 0.2
		ridge := lambda * trace / m
		shares := func(takes func(int) bool) []float64 {
			share, of := make([]float64, k), 0.0
			for i, c := range y {
				if takes(i) {
					share[c]++
					of++
				}
			}
			for c := range share {
				share[c] /= of
			}
			return share
		}
		all := shares(func(int) bool { return true })
		near := func(what string, got []float64, want []float64) {
			t.Helper()
			for c, v := range got {
				if !(math.Abs(v-want[c]) < 1e-9) {
					t.Fatalf("d = %d: %s: %v, want %v", d, what, got, want)
				}
			}
		}
		left := p.LeaveOneOut(lambda)
		for i := range m {
			want := plainRidge(a, y, all, ridge, func(j int) bool { return j != i })
			near("one left out", left.RawRowView(i), want.RawRowView(i))
		}
		w, share := p.Weights(lambda)
		near("shares", share, all)
		var scores mat.Dense
		scores.Mul(a, w)
		want := plainRidge(a, y, all, ridge, func(int) bool { return true })
		for i := range m {
			for c := range k {
				scores.Set(i, c, scores.At(i, c)+share[c])
			}
			near("scores", scores.RawRowView(i), want.RawRowView(i))
		}
		gram := mat.NewSymDense(m, nil)
		gram.SymOuterK(1, a)
		kernel := mat.DenseCopyOf(gram)
		g, err := NewGramRidgePath(t.Context(), gram, OneHot(each, k), 1)
		if err != nil {
			t.Fatal(err)
		}
		coefficients, share := g.Weights(lambda)
		near("shares by products", share, all)
		var fitted mat.Dense
		fitted.Mul(kernel, coefficients)
		for i := range m {
			near("one left out by products", g.LeaveOneOut(lambda).RawRowView(i), left.RawRowView(i))
			row := fitted.RawRowView(i)
			for c := range row {
				row[c] += share[c]
			}
			near("scores by products", row, scores.RawRowView(i))
		}
		apartScores, err := p.LeaveFoldsOut(lambda, part)
		if err != nil {
			t.Fatal(err)
		}
		for i := range m {
			want := plainRidge(a, y, all, ridge, func(j int) bool { return part[j] != part[i] })
			near("a fold left out", apartScores.RawRowView(i), want.RawRowView(i))
		}
		lambdas, outside := make([]float64, parts), make([][]bool, parts)
		for f := range lambdas {
			lambdas[f] = lambda * float64(1+f%2)
			for i := range m {
				outside[f] = append(outside[f], part[i] != f && i%5 > 0)
			}
		}
		without, apart, err := p.WithoutParts(lambdas, part, outside)
		if err != nil {
			t.Fatal(err)
		}
		for f := range parts {
			ridge := ridge * float64(1+f%2)
			rest := func(j int) bool { return part[j] != f }
			if want := p.cosine(without[f], outside[f]); apart[f] != want {
				t.Errorf("d = %d: the cosine %v without part %d, want %v", d, apart[f], f, want)
			}
			for i := range m {
				want := plainRidge(a, y, all, ridge, func(j int) bool { return j != i && rest(j) })
				near("without a part", without[f].RawRowView(i), want.RawRowView(i))
			}
		}
		takes := [][]bool{make([]bool, m), make([]bool, m)}
		for i := range m {
			takes[0][i], takes[1][i] = i%5 > 0, i%5 == 0
		}
		best, cosines := p.Choose([]float64{0.01, 0.1, 1, 10}, takes)
		for f, of := range takes {
			for _, l := range []float64{0.01, 0.1, 1, 10} {
				if c := p.cosine(p.LeaveOneOut(l), of); c > cosines[f] || l == best[f] && c != cosines[f] {
					t.Errorf("d = %d: λ = %v has the cosine %v, the chosen %v %v", d, l, c, best[f], cosines[f])
				}
			}
		}
	}
}

func TestSeveralPath(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, d := range []int{3, 40} {
		const m, k, lambda, constant = 19, 4, 0.3, 0.5
		a, y := mat.NewDense(m, d+1, nil), make([][]int, m)
		f := &sparse.Block[float64]{Rows: m, Cols: d, Stride: d, Data: make([]float64, m*d)}
		trace, share := 0.0, make([]float64, k)
		for i := range m {
			for j := range d {
				f.Row(i)[j] = rng.NormFloat64()
				a.Set(i, j, f.Row(i)[j])
			}
			a.Set(i, d, constant)
			trace += mat.Dot(a.RowView(i), a.RowView(i))
			for c := range k {
				if rng.IntN(k) == 0 {
					y[i] = append(y[i], c)
					share[c] += 1. / m
				}
			}
		}
		p, err := NewRidgePath(t.Context(), f, constant, OneHot(y, k), 1)
		if err != nil {
			t.Fatal(err)
		}
		got := p.LeaveOneOut(lambda)
		w, shares := p.Weights(lambda)
		for c := range k {
			marked := make([]int, m)
			for i, own := range y {
				marked[i] = 1
				for _, o := range own {
					if o == c {
						marked[i] = 0
					}
				}
			}
			of := []float64{share[c], 1 - share[c]}
			for i := range m {
				want := plainRidge(a, marked, of, lambda*trace/m, func(o int) bool { return o != i }).At(i, 0)
				if math.Abs(got.At(i, c)-want) > 1e-9 {
					t.Errorf("%d features: item %d without itself has %v of class %d, want %v", d, i, got.At(i, c), c, want)
				}
			}
			all := plainRidge(a, marked, of, lambda*trace/m, func(int) bool { return true })
			for i := range m {
				score := shares[c] + mat.Dot(a.RowView(i), w.ColView(c))
				if math.Abs(score-all.At(i, 0)) > 1e-9 {
					t.Errorf("%d features: item %d has %v of class %d, want %v", d, i, score, c, all.At(i, 0))
				}
			}
		}
	}
}

func TestLeavePartsOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const items, parts = 30, 4
	for _, columns := range []int{5, 50} {
		x := sparse.NewBlock[float64](items, columns)
		for i := range x.Data {
			x.Data[i] = rng.NormFloat64()
		}
		y := mat.NewDense(items, 1, nil)
		fold := make([]int, items)
		for i := range items {
			y.Set(i, 0, 3+rng.NormFloat64())
			fold[i] = rng.IntN(parts+1) - 1
		}
		path, err := NewRidgePath(t.Context(), x, 0, mat.DenseCopyOf(y), 1)
		if err != nil {
			t.Fatal(err)
		}
		gram := mat.NewSymDense(items, nil)
		gram.SymOuterK(1, sparse.DenseOf(x))
		products, err := NewGramRidgePath(t.Context(), gram, mat.DenseCopyOf(y), 1)
		if err != nil {
			t.Fatal(err)
		}
		got, err := path.LeavePartsOut([]float64{0.1}, fold, parts, nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := products.LeavePartsOut([]float64{0.1}, fold, parts, nil)
		if err != nil || !mat.EqualApprox(got[0], want[0], 1e-9) {
			t.Errorf("%d columns: other predictions, %v", columns, err)
		}
		// The last two columns are given apart.
		few, err := NewRidgePath(t.Context(), x.Columns(0, columns-2), 0, mat.DenseCopyOf(y), 1)
		if err != nil {
			t.Fatal(err)
		}
		others := slices.Repeat([]*mat.Dense{mat.DenseCopyOf(sparse.DenseOf(x).Slice(0, items, columns-2, columns))}, parts)
		if got, err = few.LeavePartsOut([]float64{0.1 * path.Mean / few.Mean}, fold, parts, others); err != nil || !mat.EqualApprox(got[0], want[0], 1e-9) {
			t.Errorf("%d columns, two apart: other predictions, %v", columns, err)
		}
	}
}

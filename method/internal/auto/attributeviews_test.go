package auto

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/heatwalk/heatwalk/method/internal/chunks"
	"github.com/heatwalk/heatwalk/method/internal/problemtest"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// tableOf returns a table of n nodes of which one in seven has no row and another one has
// zeros alone: words, or real numbers, or both.
func tableOf(rng *rand.Rand, n, words, real int) (*sparse.Table, [][]float64) {
	t, plain := &sparse.Table{Rows: n, Cols: words + real}, make([][]float64, n)
	row := make([]float32, words+real)
	for v := range n {
		if v%7 == 3 {
			continue
		}
		for j := range row {
			switch {
			case v%7 == 5:
				row[j] = 0
			case j >= words:
				row[j] = float32(5 + 3*rng.NormFloat64())
			case rng.IntN(8) == 0:
				row[j] = float32(1 + rng.IntN(3))
			default:
				row[j] = 0
			}
		}
		t.Set(v, row)
		plain[v] = make([]float64, len(row))
		for j, x := range row {
			plain[v][j] = float64(x)
		}
	}
	return t, plain
}

// scaledOf returns the features of a table of words followed by real columns, by dense algebra.
func scaledOf(plain [][]float64, words, real int) *mat.Dense {
	out := mat.NewDense(len(plain), words+real, nil)
	for j := words; j < words+real; j++ {
		var column []float64
		for _, row := range plain {
			if row != nil {
				column = append(column, row[j])
			}
		}
		score, scores := scoresOf(column), []float64(nil)
		for _, x := range column {
			scores = append(scores, score(x))
		}
		mean, deviation := stat.PopMeanStdDev(scores, nil)
		for v, row := range plain {
			if row != nil {
				out.Set(v, j, (score(row[j])-mean)/deviation/math.Sqrt(float64(real)))
			}
		}
	}
	for v, row := range plain {
		if row == nil {
			continue
		}
		length := 0.0
		for _, x := range row[:words] {
			length += x * x
		}
		for j, x := range row[:words] {
			if x != 0 {
				out.Set(v, j, x/math.Sqrt(length))
			}
		}
	}
	return out
}

// viewsOf returns P, X, TX, … of dense X by their formulas.
func viewsOf(p *problem.Problem, x *mat.Dense, views int) []*mat.Dense {
	n, d := x.Dims()
	a := p.A.(*sparse.CSR)
	total := 0.0
	for _, d := range p.Degrees {
		total += d
	}
	loop := total / float64(a.NNZ())
	near, step := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for v := range n {
		for u := range n {
			w := a.At(v, u)
			if p.Degrees[v] > 0 {
				step.Set(v, u, w/p.Degrees[v])
			}
			if u == v {
				w += loop
			}
			near.Set(v, u, w/math.Sqrt((p.Degrees[v]+loop)*(p.Degrees[u]+loop)))
		}
	}
	out := []*mat.Dense{mat.NewDense(n, d, nil), x}
	power := mat.DenseCopyOf(x)
	for j := range rankSteps + 1 {
		var part mat.Dense
		c := math.Pow(rankDamping, float64(j))
		if j < rankSteps {
			c *= 1 - rankDamping
		}
		part.Scale(c, power)
		out[rankView].Add(out[rankView], &part)
		part.Reset()
		part.Mul(near, power)
		power = &part
	}
	for len(out) < views {
		var next mat.Dense
		next.Mul(step, out[len(out)-1])
		out = append(out, &next)
	}
	return out
}

// TestViews compares views that are swept in slabs, of columns or of nodes, and scores of
// weights are, with products of dense matrices.
func TestViews(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n, k = 60, 3
	for _, c := range []struct {
		words, real int
	}{{30, 0}, {70, 3}, {0, 5}, {0, 70}} {
		p := problemtest.Planted(t, 3, n, 20)
		table, plain := tableOf(rng, n, c.words, c.real)
		p.Attributes = table
		x := scaledOf(plain, c.words, c.real)
		l := newLens(p, newAttributeTable(nil, table), 2, new(problem.Work))
		want := viewsOf(p, x, l.views())
		d := c.words + c.real
		quiet := func(string, int, int) {}
		nodes := []int{0, 3, 2, 17, 59, 31, 5, 40, 41, 8, 9, 10, 11, 12, 13, 14, 15, 20}
		bySlabs, err := l.at(t.Context(), nodes, quiet)
		if err != nil {
			t.Fatal(err)
		}
		// The other way gives the same.
		for of := range bySlabs {
			if view(of) != plainView {
				clear(bySlabs[of].Data)
			}
		}
		if err := l.nodesAt(t.Context(), bySlabs, nodes, 0, len(nodes)); err != nil {
			t.Fatal(err)
		}
		byColumns := make(viewBlocks, len(bySlabs))
		for of, f := range bySlabs {
			byColumns[of] = sparse.BlockOf(f.Rows, f.Cols, make([]float32, len(f.Data)))
		}
		for lo := 0; lo < d; lo += slabColumns {
			if err := l.columnsAt(t.Context(), byColumns, nodes, lo, min(d, lo+slabColumns)); err != nil {
				t.Fatal(err)
			}
		}
		copy(byColumns[plainView].Data, bySlabs[plainView].Data)
		for of := range bySlabs {
			for i, v := range nodes {
				for j := range d {
					for way, got := range []float32{bySlabs[of].Row(i)[j], byColumns[of].Row(i)[j]} {
						if w := want[of].At(v, j); !(math.Abs(float64(got)-w) < 1e-5) {
							t.Fatalf("%+v, view %d, way %d, node %d: %v, want %v", c, of, way, v, got, w)
						}
					}
				}
			}
		}
		weights, sum := make([]*sparse.Block[float32], l.views()), mat.NewDense(n, k, nil)
		rank := mat.NewDense(n, k, nil)
		for of := range weights {
			weights[of] = chunks.Block[float32](d, k)
			w := mat.NewDense(d, k, nil)
			for j := range d {
				for c := range k {
					weights[of].Row(j)[c] = float32(rng.NormFloat64())
					w.Set(j, c, float64(weights[of].Row(j)[c]))
				}
			}
			var part mat.Dense
			part.Mul(want[of], w)
			if view(of) == rankView {
				rank = &part
			} else {
				sum.Add(sum, &part)
			}
		}
		got := chunks.Block[float32](n, k)
		check := func(what string, want *mat.Dense, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			for v := range n {
				for c, g := range got.Row(v) {
					if w := want.At(v, c); !(math.Abs(float64(g)-w) < 1e-4*(1+math.Abs(w))) {
						t.Fatalf("%s of node %d: %v, want %v", what, v, g, w)
					}
				}
			}
		}
		check("P", rank, l.rankTo(t.Context(), got, weights[rankView]))
		check("hops", sum, l.hopsTo(t.Context(), got, weights[plainView:]))
	}
}

package auto

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
)

// tableOf returns a table of n nodes, of which one in seven has no row and another one only zeros.
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

func rankedOf(p *problem.Problem, x *mat.Dense) *mat.Dense {
	n, d := x.Dims()
	a := p.A.(*sparse.CSR)
	total := 0.0
	for _, d := range p.Degrees {
		total += d
	}
	loop := total / float64(a.NNZ())
	near := mat.NewDense(n, n, nil)
	for v := range n {
		for u := range n {
			w := a.At(v, u)
			if u == v {
				w += loop
			}
			near.Set(v, u, w/math.Sqrt((p.Degrees[v]+loop)*(p.Degrees[u]+loop)))
		}
	}
	out, power := mat.NewDense(n, d, nil), mat.DenseCopyOf(x)
	for j := range rankSteps + 1 {
		var term, next mat.Dense
		c := math.Pow(rankDamping, float64(j))
		if j < rankSteps {
			c *= 1 - rankDamping
		}
		term.Scale(c, power)
		out.Add(out, &term)
		next.Mul(near, power)
		power = &next
	}
	return out
}

func TestViews(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n, k = 60, 3
	for _, c := range []struct {
		words, real int
	}{{30, 0}, {70, 3}, {0, 5}, {0, 70}} {
		p := contract.Planted(t, 3, n, 20)
		table, plain := tableOf(rng, n, c.words, c.real)
		p.Attributes = table
		x := scaledOf(plain, c.words, c.real)
		ranked, d := rankedOf(p, x), c.words+c.real
		l := newLens(p, newAttributeTable(nil, table), 2, new(graph.Work))
		every := make([]int, n)
		for v := range every {
			every[v] = v
		}
		if !l.byNodes(1) || d < n && l.byNodes(n) {
			t.Fatal("only one way is tested")
		}
		for _, nodes := range [][]int{{17}, every} {
			plainRows, rankedRows, err := l.at(t.Context(), nodes, nil, func(string, int, int) {})
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range nodes {
				for j := range d {
					if math.Abs(float64(plainRows.Row(i)[j])-x.At(v, j)) > 1e-5 || math.Abs(float64(rankedRows.Row(i)[j])-ranked.At(v, j)) > 1e-5 {
						t.Fatalf("%+v, node %d: %v and %v, want %v and %v", c, v, plainRows.Row(i)[j], rankedRows.Row(i)[j], x.At(v, j), ranked.At(v, j))
					}
				}
			}
		}
		w, weights := mat.NewDense(d, k, nil), newBlock(d, k)
		for j := range d {
			for c := range k {
				weights.Row(j)[c] = float32(rng.NormFloat64())
				w.Set(j, c, float64(weights.Row(j)[c]))
			}
		}
		got := newBlock(n, k)
		for _, view := range []struct {
			x     *mat.Dense
			apply func(ctx context.Context, w *sparse.Block[float32]) (nodeScores, error)
		}{{x, func(_ context.Context, w *sparse.Block[float32]) (nodeScores, error) { return l.productOf(w), nil }}, {ranked, l.rankedProduct}} {
			var want mat.Dense
			want.Mul(view.x, w)
			scores, err := view.apply(t.Context(), weights)
			if err != nil {
				t.Fatal(err)
			}
			scores(got, 0)
			for v := range n {
				for c, g := range got.Row(v) {
					if y := want.At(v, c); math.Abs(float64(g)-y) > 1e-4*(1+math.Abs(y)) {
						t.Fatalf("node %d: %v, want %v", v, g, y)
					}
				}
			}
		}
	}
}

package auto

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/method/internal/chunks"
	"github.com/heatwalk/heatwalk/method/internal/problemtest"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// board returns a square board of fields that are joined to their eight neighbours, with mines on a fifth of them.
// Half of the fields show the number of mines around them. Every second field has a label: whether a mine
// is on it.
func board(t testing.TB, size int) (*problem.Problem, []int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(11, 1))
	n := size * size
	class := make([]int, n)
	for v := range class {
		if rng.Float64() < 0.2 {
			class[v] = 1
		}
	}
	p := &problem.Problem{Names: []string{"free", "mine"}, Attributes: &sparse.Table{Rows: n, Cols: 7}}
	var e []sparse.Triplet
	for v := range n {
		around := 0
		for u := range n {
			if x, y := u%size-v%size, u/size-v/size; u != v && x*x <= 1 && y*y <= 1 {
				e = append(e, sparse.Triplet{Row: uint32(v), Col: uint32(u), Val: 1})
				around += class[u]
			}
		}
		row := make([]float32, 7)
		if rng.IntN(2) == 0 {
			row[min(around, 5)] = 1
		} else {
			row[6] = 1
		}
		p.Attributes.Set(v, row)
		if rng.IntN(2) == 0 {
			p.Row, p.Class = append(p.Row, v), append(p.Class, class[v])
		}
	}
	a, err := sparse.FromTriplets(n, n, e)
	if err != nil {
		t.Fatal(err)
	}
	p.Graph = &graph.Graph{A: a, Degrees: testgraph.Degrees(t, a)}
	return p, class
}

// inRounds returns the rounds of a problem.
func inRounds(t *testing.T, p *problem.Problem, workers int) *rounds {
	t.Helper()
	in := inputOf(t, p, &Settings{Workers: workers})
	r, err := predictInRounds(t.Context(), in, newSeeds(in).learnedFolds())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// On a board with mines rounds find most of them, no worse than labels outside their training set. The
// probabilities have the same bits for any workers.
func TestRoundsOnBoard(t *testing.T) {
	p, class := board(t, 45)
	r := inRounds(t, p, 1)
	given, loss, of := map[int]bool{}, 0.0, 0.0
	for _, v := range p.Row {
		given[v] = true
	}
	for v, c := range class {
		if !given[v] {
			loss -= math.Log(float64(r.all().Row(v)[c]) + leastTruth)
			of++
		}
	}
	t.Logf("loss %.3f, held out %.3f", loss/of, r.loss)
	if loss /= of; loss > 0.27 || r.loss < loss-0.03 || r.loss > loss+0.06 {
		t.Errorf("loss %.3f, held out %.3f", loss, r.loss)
	}
	if again := inRounds(t, p, 3); !slices.Equal(again.all().Data, r.all().Data) || again.loss != r.loss {
		t.Errorf("3 workers: other probabilities")
	}
}

// Rounds learn nothing from labels at random.
func TestRoundsOfShuffledLabels(t *testing.T) {
	p, _ := board(t, 40)
	rng := rand.New(rand.NewPCG(5, 1))
	p.Row, p.Class = nil, nil
	for v := range p.Degrees {
		p.Row, p.Class = append(p.Row, v), append(p.Class, rng.IntN(2))
	}
	if loss := inRounds(t, p, 0).loss; loss < math.Log(2)-0.005 {
		t.Errorf("loss %.4f of labels at random, less than log 2", loss)
	}
}

// Extremes over neighbours, and the column that explains attributes away, are those of dense algebra.
func TestRoundColumns(t *testing.T) {
	p, _ := problemtest.Blocks(t, 6, 90, 60, 2, 2, 1)
	rng := rand.New(rand.NewPCG(8, 1))
	p.Attributes = noiseOf(rng, len(p.Degrees), 3)
	in := inputOf(t, p, &Settings{})
	table := newAttributeTable(nil, p.Attributes)
	r := &rounds{in: in, lens: newLens(p, table, 1, in.work), fold: make([]int, len(p.Row))}
	if err := r.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	n, k := len(p.Degrees), 2
	q := chunks.Block[float32](n, k)
	for i := range q.Data {
		q.Data[i] = rng.Float32()
	}
	got, err := r.columns(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	around := mat.NewDense(n, k, nil)
	want := mat.NewDense(n, 4*k, nil) // maxima and minima of q, the column, and its maxima
	neighbours := func(v int) (list []int) {
		for u := range n {
			if p.A.(*sparse.CSR).At(v, u) != 0 {
				list = append(list, u)
			}
		}
		return list
	}
	extremes := func(v, c int, of func(u, c int) float64) (most, least float64) {
		list := neighbours(v)
		if len(list) == 0 {
			return 0, 0
		}
		most, least = math.Inf(-1), math.Inf(1)
		for _, u := range list {
			most, least = max(most, of(u, c)), min(least, of(u, c))
		}
		return most, least
	}
	for v := range n {
		for c := range k {
			for _, u := range neighbours(v) {
				around.Set(v, c, around.At(v, c)+float64(q.Row(u)[c])/p.Degrees[v])
			}
		}
	}
	var squares, right, fit, explained mat.Dense
	squares.Mul(r.z.T(), r.z)
	for j := range squares.RawMatrix().Rows {
		squares.Set(j, j, squares.At(j, j)+explainRidge*float64(n))
	}
	right.Mul(r.z.T(), around)
	if err := fit.Solve(&squares, &right); err != nil {
		t.Fatal(err)
	}
	explained.Mul(r.z, &fit)
	rest := func(v, c int) float64 { return p.Degrees[v] * (explained.At(v, c) - around.At(v, c)) }
	for v := range n {
		for c := range k {
			most, least := extremes(v, c, func(u, c int) float64 { return float64(q.Row(u)[c]) })
			want.Set(v, c, most)
			want.Set(v, k+c, least)
			want.Set(v, 2*k+c, rest(v, c))
			most, _ = extremes(v, c, rest)
			want.Set(v, 3*k+c, most)
		}
	}
	for i, at := range []int{3, 4, 7, 9} {
		for c := range k {
			x := mat.Col(nil, i*k+c, want)
			mean, spread := 0.0, 0.0
			for _, y := range x {
				mean += y / float64(n)
			}
			for _, y := range x {
				spread += (y - mean) * (y - mean) / float64(n)
			}
			for v, y := range x {
				y = clip((y-mean)/(math.Sqrt(spread)+1e-6), roundLimit)
				if g := float64(got.Row(v)[at*k+c]); math.Abs(g-y) > 1e-3 {
					t.Fatalf("column %d of node %d: %g, want %g", at*k+c, v, g, y)
				}
			}
		}
	}
}

package auto

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/method/internal/problemtest"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// Values of kernels between link rows are those of the rows themselves by dense algebra, for isolated nodes too.
func TestLinkRows(t *testing.T) {
	p, _ := problemtest.Blocks(t, 2, 150, 100, 3, 1, 1)
	in := inputOf(t, p, &Settings{})
	l, err := newLinkRows(t.Context(), in, p.Row)
	if err != nil {
		t.Fatal(err)
	}
	n := len(p.Degrees)
	a, s := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for u := range n {
		for v := range n {
			if x := p.A.(*sparse.CSR).At(u, v); x != 0 {
				a.Set(u, v, x)
				s.Set(u, v, x/math.Sqrt(p.Degrees[u]*p.Degrees[v]))
			}
		}
	}
	var square, sums mat.Dense
	square.Mul(s, s)
	sums.Mul(a, mat.NewVecDense(n, p.Degrees))
	degrees := mat.NewDense(n, linkDegrees, nil)
	isolated := 0
	for v, d := range p.Degrees {
		if d == 0 {
			isolated++
		}
		degrees.SetRow(v, []float64{math.Log1p(d), math.Log1p(sums.At(v, 0) / max(1, d)), math.Log1p(sums.At(v, 0))})
	}
	if isolated == 0 {
		t.Fatal("no node is isolated")
	}
	length := 0.0
	for j := range linkDegrees {
		x := mat.Col(nil, j, degrees)
		mean, spread := 0.0, 0.0
		for _, y := range x {
			mean += y / float64(n)
		}
		for _, y := range x {
			spread += (y - mean) * (y - mean) / float64(n)
		}
		for v, y := range x {
			degrees.Set(v, j, (y-mean)/math.Sqrt(spread))
		}
		for _, v := range p.Row {
			length += degrees.At(v, j) * degrees.At(v, j) / float64(len(p.Row))
		}
	}
	unit := func(m *mat.Dense, v int) []float64 {
		row := mat.Row(nil, v, m)
		norm := mat.Norm(mat.NewVecDense(n, row), 2)
		for j := range row {
			row[j] /= max(norm, 1e-300)
		}
		return row
	}
	for _, k := range linkBlocks {
		features := func(v int) (row []float64) {
			for _, part := range k.parts {
				row = append(row, unit([]*mat.Dense{a, &square}[part], v)...)
			}
			if k.degrees {
				for _, x := range degrees.RawRowView(v) {
					row = append(row, x/math.Sqrt(length))
				}
			}
			return row
		}
		mean := 0.0
		for _, v := range p.Row {
			for _, x := range features(v) {
				mean += x * x / float64(len(p.Row))
			}
		}
		squares, got := make([]float64, len(p.Row)), make([]float64, len(p.Row))
		for i, v := range p.Row {
			squares[i] = l.square(k, v)
		}
		for v := range n {
			l.valuesTo(got, k, v, squares, mean)
			own := features(v)
			for i, at := range p.Row {
				product, distance := 0.0, 0.0
				for j, x := range features(at) {
					product += own[j] * x
					distance += (own[j] - x) * (own[j] - x)
				}
				want := product / mean
				if k.laplacian {
					want = math.Exp(-math.Sqrt(distance / mean))
				}
				if want += 0.09; math.Abs(got[i]-want) > 1e-3 {
					t.Fatalf("kernel %+v between %d and %d: %g, want %g", k, v, at, got[i], want)
				}
			}
		}
	}
}

// pairsOfHubs returns a graph of 300 nodes that link to three hubs of one of two groups, and to three of one of
// two other groups. Their class is the parity of the groups, that of the 40 hubs is random. 150 nodes have
// labels.
func pairsOfHubs(t *testing.T) (*problem.Problem, []int) {
	t.Helper()
	const hubs, nodes, group = 40, 340, 10
	rng := rand.New(rand.NewPCG(7, 7))
	var e []sparse.Triplet
	class := make([]int, nodes)
	for v := range class {
		if v < hubs {
			class[v] = rng.IntN(2)
			continue
		}
		for family := range 2 {
			side := rng.IntN(2)
			class[v] ^= side
			for _, hub := range rng.Perm(group)[:3] {
				u := (2*family+side)*group + hub
				e = append(e, sparse.Triplet{Row: uint32(u), Col: uint32(v), Val: 1}, sparse.Triplet{Row: uint32(v), Col: uint32(u), Val: 1})
			}
		}
	}
	a, err := sparse.FromTriplets(nodes, nodes, e)
	if err != nil {
		t.Fatal(err)
	}
	p := &problem.Problem{Graph: &graph.Graph{A: a, Degrees: testgraph.Degrees(t, a)}, Names: []string{"0", "1"}}
	for _, v := range rng.Perm(nodes)[:150] {
		p.Row, p.Class = append(p.Row, v), append(p.Class, class[v])
	}
	return p, class
}

// Classes that no linear function of the neighbours separates are found from link rows. The prediction has
// the same bits for any workers and memory.
func TestLinksFindParity(t *testing.T) {
	p, class := pairsOfHubs(t)
	first := evident(t, p, &Settings{Workers: 1})
	in := inputOf(t, p, &Settings{})
	in.links = false
	without := &Prediction{}
	if err := in.predict(t.Context(), without); err != nil {
		t.Fatal(err)
	}
	with, before := problemtest.Accuracy(p, first.Class, class), problemtest.Accuracy(p, without.Class, class)
	t.Logf("accuracy %.3f, without link rows %.3f", with, before)
	if with < before+0.1 {
		t.Errorf("accuracy %.3f, without link rows %.3f", with, before)
	}
	for _, workers := range testgraph.Workers(1) {
		got := evident(t, p, &Settings{Workers: workers, Memory: 256 << 20})
		if !slices.Equal(got.Scores.Data, first.Scores.Data) {
			t.Errorf("%d workers: another prediction", workers)
		}
	}
}

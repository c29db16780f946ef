package auto

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestLinkRows(t *testing.T) {
	p, _ := contract.Blocks(t, 2, 150, 100, 3, 1, 1)
	in := inputOf(t, p, &settings{})
	f, err := newFeatures(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLinkRows(t.Context(), in, p.Row, f.columns)
	if err != nil {
		t.Fatal(err)
	}
	row := func(v int) (features []float64) {
		length := 0.0
		for u := range p.Degrees {
			x := p.A.(*sparse.CSR).At(v, u)
			features = append(features, x)
			length += x * x
		}
		for u := range features {
			features[u] /= max(1e-300, math.Sqrt(length))
		}
		return append(features, f.columns.degree(v, 0)/math.Sqrt2, f.columns.degree(v, 1)/math.Sqrt2)
	}
	err = l.multiply(t.Context(), func(lo, hi int, products *sparse.Block[float64]) error {
		for v := range p.Degrees {
			for j, label := range p.Row[lo:hi] {
				got := l.value(v, label, products.Row(v)[j])
				want := math.Exp(-floats.Distance(row(v), row(label), 2)/math.Sqrt2) + 0.09
				if math.Abs(got-want) > 1e-3 {
					t.Fatalf("kernel between %d and %d: %g, want %g", v, label, got, want)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// pairsOfHubs returns 300 nodes that link to three hubs of one of two groups and to three of one of two others. Their class
// is the parity of the groups, which no linear function of neighbours separates.
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

func TestLinksFindParity(t *testing.T) {
	p, class := pairsOfHubs(t)
	first := evident(t, p, &settings{Settings: engine.Settings{Workers: 1}})
	in := inputOf(t, p, &settings{})
	in.links = false
	without := &engine.Prediction{}
	if err := in.predict(t.Context(), without); err != nil {
		t.Fatal(err)
	}
	with, before := contract.Accuracy(p, first.Class, class), contract.Accuracy(p, without.Class, class)
	t.Logf("accuracy %.3f, without link rows %.3f", with, before)
	if with < before+0.1 {
		t.Errorf("accuracy %.3f, without link rows %.3f", with, before)
	}
	for _, workers := range testgraph.Workers(1) {
		got := evident(t, p, &settings{Settings: engine.Settings{Workers: workers, Memory: 256 << 20}})
		if !slices.Equal(got.Scores.Data, first.Scores.Data) {
			t.Errorf("%d workers: another prediction", workers)
		}
	}
}

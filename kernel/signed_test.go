package kernel

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// signedGraph returns a signed graph and its double cover without signs: node i has a copy n + i, and a negative edge
// joins a node and the copy of the other node.
func signedGraph(t *testing.T) (signed, cover *graph.Graph) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	a, n := testgraph.Random(11, 60, 65, true), 60
	var entries, double []sparse.Triplet
	a.DoNonZero(func(i, j int, w float64) {
		if i < j {
			return
		}
		sign, other := rng.IntN(2), 0
		if sign == 1 {
			w, other = -w, n
		}
		add := func(list []sparse.Triplet, i, j int, w float64) []sparse.Triplet {
			list = append(list, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: w})
			if i != j {
				list = append(list, sparse.Triplet{Row: uint32(j), Col: uint32(i), Val: w})
			}
			return list
		}
		entries = add(entries, i, j, w)
		if w = max(w, -w); i != j || other == 0 {
			double = add(add(double, i, j+other, w), n+i, n+j-other, w)
		} else {
			double = add(double, i, n+i, w)
		}
	})
	for _, g := range []struct {
		graph   **graph.Graph
		n       int
		entries []sparse.Triplet
	}{{&signed, n, entries}, {&cover, 2 * n, double}} {
		m, err := sparse.FromTriplets(g.n, g.n, g.entries)
		if err != nil {
			t.Fatal(err)
		}
		if *g.graph, err = graph.New(background, m, nil); err != nil {
			t.Fatal(err)
		}
	}
	return signed, cover
}

// The kernel of a signed graph is K(i, j) − K(i, n + j) of its double cover.
func TestSigned(t *testing.T) {
	signed, cover := signedGraph(t)
	n := len(signed.Degrees)
	for _, c := range symmetricKernels {
		k, err := New(background, signed, c.name, c.p)
		if wrong := new(param.ParameterError); errors.As(err, &wrong) && Families().Named(c.name).Works&param.Signed == 0 {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.text(), err)
			continue
		}
		got, _ := mustMatrix(t, k, upTo(n), upTo(n), nil)
		double, _ := mustMatrix(t, mustNew(t, cover, c.name, c.p), upTo(2*n), upTo(2*n), nil)
		for i := range n {
			row := double.Row(i)
			for j := range n {
				row[j] -= row[n+j]
			}
		}
		t.Run(c.name+" "+c.text(), func(t *testing.T) {
			testgraph.Close(t, got, sparse.BlockOf(n, n, leftOf(double, n)), 1e-7, 1e-6)
		})
	}
}

func leftOf(b *sparse.Block[float64], n int) (values []float64) {
	for i := range n {
		values = append(values, b.Row(i)[:n]...)
	}
	return values
}

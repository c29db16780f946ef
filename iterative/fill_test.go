package iterative

import (
	"errors"
	"testing"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func torus(sides ...int) *sparse.CSR {
	n := 1
	for _, side := range sides {
		n *= side
	}
	var e []sparse.Triplet
	for i := range n {
		unit := 1
		for _, side := range sides {
			at := i / unit % side
			j := i + ((at+1)%side-at)*unit
			e = append(e, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: 1}, sparse.Triplet{Row: uint32(j), Col: uint32(i), Val: 1})
			unit *= side
		}
	}
	a, err := sparse.FromTriplets(n, n, e)
	if err != nil {
		panic(err)
	}
	return a
}

// Some degrees exceed the largest degree of the graph.
func TestFill(t *testing.T) {
	for _, c := range []struct {
		name string
		a    *sparse.CSR
		most float64 // entries for each entry of the matrix
	}{
		{"path", testgraph.Path(5000), 0.5},
		{"grid", grid(100), 1},
		{"torus of two dimensions", torus(100, 100), 1.2},
		{"torus of three dimensions", torus(20, 20, 20), 1.6},
		{"complete", testgraph.Complete(100), 0.5},
	} {
		n, _ := c.a.Dims()
		f, err := newCholesky(ctx, c.a, 1, nil, SampledBytes(n, c.a.NNZ()), 0)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if fill := float64(len(f.lower.col)) / float64(c.a.NNZ()); fill > c.most {
			t.Errorf("%s: %.3g times as many entries as the matrix, want at most %g", c.name, fill, c.most)
		}
	}
}

func TestSampledBytes(t *testing.T) {
	a := torus(100, 100)
	n, _ := a.Dims()
	f, err := newCholesky(ctx, a, 1, nil, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	need := sampledBytes(n, a.NNZ(), int64(len(f.lower.col)))
	if _, err := newCholesky(ctx, a, 1, nil, need, 0); err != nil {
		t.Error(err)
	}
	for _, memory := range []int64{need - 1, 1} {
		if _, err := newCholesky(ctx, a, 1, nil, memory, 0); !errors.As(err, new(*budget.Error)) {
			t.Errorf("within %d bytes: %v", memory, err)
		}
	}
}

func TestTooMuchFill(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	const n = 4000
	a := testgraph.Random(5, n, 10*n, true)
	g := graphOf(t, a)
	memory := SampledBytes(n, a.NNZ())
	if _, err := newCholesky(ctx, a, 1, nil, memory, 0); !errors.Is(err, ErrFill) {
		t.Fatalf("the factor of a random graph: %v", err)
	}
	for _, c := range []struct {
		normalized bool
		scale      func(i int) float64
	}{
		{false, func(int) float64 { return 1 }},
		{true, func(i int) float64 { return g.Degrees[i] }},
	} {
		s, err := ShiftedLaplacian(g, c.normalized, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		s.Memory = memory
		p, factored, err := s.Preconditioner(ctx)
		if err != nil || factored {
			t.Fatalf("a factor: %t, %v", factored, err)
		}
		x, y, z := randomBlock(1, n, 3), sparse.NewBlock[float64](n, 3), sparse.NewBlock[float64](n, 3)
		if err := p.ApplyTo(ctx, y, x); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			for j := range 3 {
				z.Row(i)[j] = x.At(i, j) * c.scale(i) / (g.Degrees[i] - g.Loops[i])
			}
		}
		testgraph.Close(t, y, z, 0, 1e-14)
		res, err := s.SolveTo(ctx, y, x, nil)
		if err != nil || res.SampledCholesky {
			t.Errorf("%v, with a factor: %v", err, res.SampledCholesky)
		}
	}
}

package kernel

import (
	"context"
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// resultsOf stores blocks of a kernel between nodes and, unless it is a distance, the product with x.
func resultsOf(ctx context.Context, g *graph.Graph, name string, given param.Values, nodes []int, x *sparse.Block[float64]) (results *sparse.Block[float64], bounds []float64, err error) {
	k, err := New(ctx, g, name, given)
	if err != nil {
		return nil, nil, err
	}
	m := len(nodes)
	results, bounds = sparse.NewBlock[float64](x.Rows, 3*m+x.Cols), make([]float64, 3*m+x.Cols)
	store := func(b *sparse.Block[float64], lo int, bound float64) {
		for i := range b.Rows {
			copy(results.Row(nodes[i])[lo:], b.Row(i))
		}
		for j := range m {
			bounds[lo+j] = bound
		}
	}
	for q, rows := range [][]int{nodes, nodes[:2]} {
		b, r, err := Matrix(ctx, k, rows, nodes, &Settings{Tolerance: 1e-8})
		if err != nil {
			return nil, nil, err
		}
		store(b, q*m, r.ErrorBound)
	}
	if Families().Named(name).Distance != "" {
		return results, bounds, nil
	}
	grams, _, err := Grams(ctx, []Kernel{k}, nodes, nil, nil)
	if err != nil {
		return nil, nil, err
	}
	store(grams[0], 2*m, 1e-8*blocks.Largest(nil, grams[0]))
	image := sparse.NewBlock[float64](x.Rows, x.Cols)
	r, err := k.ApplyTo(ctx, image, x, nil)
	if err != nil {
		return nil, nil, err
	}
	for i := range x.Rows {
		copy(results.Row(i)[3*m:], image.Row(i))
	}
	copy(bounds[3*m:], r.ColumnBound)
	return results, bounds, nil
}

func TestKernelsOnSeveralProcesses(t *testing.T) {
	ctx := t.Context()
	g, err := graph.New(ctx, testgraph.Random(11, 90, 70, true), nil)
	if err != nil {
		t.Fatal(err)
	}
	radius, err := On(ctx, g).Radius(true)
	if err != nil {
		t.Fatal(err)
	}
	x := sparse.NewBlock[float64](len(g.Degrees), 2)
	for i := range x.Rows {
		x.Row(i)[0], x.Row(i)[1] = math.Sin(float64(i)), math.Cos(float64(i*i))
	}
	of := func(parameter, word string) param.Values { return param.Values{parameter: param.Of(word)} }
	tests := []struct {
		name  string
		given param.Values
	}{
		{"diffusion", of("laplacian", combinatorial)},
		{"diffusion", of("laplacian", randomWalk)},
		{"exponential", nil},
		{"p-step", nil},
		{"matern", of("laplacian", combinatorial)},
		{"modularity", nil},
		{"modularity", param.Values{"rank": param.Of(5), "resolution": param.Of(0.8)}},
		{"von-neumann", nil},
		{"von-neumann", of("matrix", adjacency)},
		{"von-neumann", param.Values{"matrix": param.Of(adjacency), "alpha": param.Of(0.9995 / radius)}}, // computed by solves
		{"regularized-laplacian", of("laplacian", combinatorial)},
		{"pseudo-inverse", nil},
		{"commute-time", nil},
		{"regularized-commute-time", nil},
		{"pagerank", nil},
	}
	for i, test := range testgraph.Sample(t, 6, tests) {
		compareOnProcesses(t, 2+i%2, g, test.name, test.given, x)
	}
}

// A memory limit in one process makes all processes compute slabs again.
func TestMemoryLimitsOfProcesses(t *testing.T) {
	g, err := graph.New(t.Context(), testgraph.Random(11, 90, 170, true), nil)
	if err != nil {
		t.Fatal(err)
	}
	nodes := upTo(80)
	want, _ := mustMatrix(t, mustNew(t, g, "p-step", nil), nodes, nodes, nil)
	got := contract.OnProcesses(t, 2, g, nodes, func(part *graph.Graph, local func(row int) int) (*sparse.Block[float64], error) {
		k, err := New(t.Context(), part, "p-step", nil)
		if err != nil {
			return nil, err
		}
		rows := make([]int, len(nodes))
		for i := range rows {
			rows[i] = local(i)
		}
		set := new(Settings)
		if sparse.TeamOf(part.A).Rank() == 0 {
			set.Memory = k.(*spectral).work.root().bytes(k.Len(), 64, 1) + 8*64*2*int64(len(nodes))
		}
		b, _, err := Matrix(t.Context(), k, rows, rows, set)
		if err != nil {
			return nil, err
		}
		results := sparse.NewBlock[float64](k.Len(), len(nodes))
		for i, row := range rows {
			copy(results.Row(row), b.Row(i))
		}
		return results, nil
	})
	for i := range nodes {
		for j, w := range want.Row(i) {
			if v := got.Row(i)[j]; math.Abs(v-w) > 1e-9*blocks.Largest(nil, want) {
				t.Fatalf("(%d, %d) is %v, want %v", i, j, v, w)
			}
		}
	}
}

func compareOnProcesses(t *testing.T, size int, g *graph.Graph, name string, given param.Values, x *sparse.Block[float64]) {
	named := []int{2, 19, 20, 41, 77}
	want, wantBounds, err := resultsOf(t.Context(), g, name, given, named, x)
	if err != nil {
		t.Fatalf("%s %v: %v", name, given, err)
	}
	bounds := make([]float64, want.Cols)
	got := contract.OnProcesses(t, size, g, named, func(part *graph.Graph, local func(row int) int) (*sparse.Block[float64], error) {
		team, nodes := sparse.TeamOf(part.A), make([]int, len(named))
		for i, row := range named {
			nodes[i] = local(row)
		}
		own := sparse.NewBlock[float64](len(part.Degrees), x.Cols)
		for i := range own.Rows {
			if !team.IsPadding(i) {
				copy(own.Row(i), x.Row(team.Row(i)))
			}
		}
		b, of, err := resultsOf(t.Context(), part, name, given, nodes, own)
		if team.Rank() == 0 {
			copy(bounds, of)
		}
		return b, err
	})
	for j, bound := range bounds {
		if !(bound <= 1e-7*max(1, blocks.Largest(nil, want))) {
			t.Errorf("%s %v: error bound %.3g of column %d", name, given, bound, j)
		}
		for i := range want.Rows {
			if v, w := got.Row(i)[j], want.Row(i)[j]; v != w && !(math.Abs(v-w) <= bound+wantBounds[j]) {
				t.Fatalf("%s %v, %d processes: (%d, %d) is %v, want %v within %.3g", name, given, size, i, j, v, w, bound+wantBounds[j])
			}
		}
	}
}

package kernel

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/sparsetest"
	"github.com/heatwalk/heatwalk/spec"
)

// teamResults are results of a kernel with the bounds of their errors.
type teamResults struct {
	blocks []*sparse.Block[float64] // between named nodes
	images *sparse.Block[float64]   // K·X; nil for a distance
	bounds []float64                // of the blocks, and of the columns of the images
}

// teamResultsOf computes blocks of a kernel with its defaults for all parameters that are not given, and its
// product with the first column of x.
func teamResultsOf(ctx context.Context, g *graph.Graph, name string, given spec.Values, nodes []int, x *sparse.Block[float64]) (*teamResults, error) {
	k, err := New(ctx, g, name, given)
	if err != nil {
		return nil, err
	}
	out := new(teamResults)
	for _, rows := range [][]int{nodes, nodes[:2]} {
		b, r, err := Matrix(ctx, k, rows, nodes, &Settings{Tolerance: 1e-8, Lenient: true})
		if err != nil {
			return nil, err
		}
		out.blocks, out.bounds = append(out.blocks, b), append(out.bounds, r.ErrorBound)
	}
	if Families().Named(name).Distance != "" {
		return out, nil
	}
	grams, _, err := Grams(ctx, []Kernel{k}, nodes, nil, nil)
	if err != nil {
		return nil, err
	}
	out.blocks, out.bounds = append(out.blocks, grams[0]), append(out.bounds, 1e-8*largestOf(grams[0]))
	out.images = sparse.NewBlock[float64](x.Rows, x.Cols)
	r, err := k.ApplyTo(ctx, out.images, x, nil)
	if err != nil {
		return nil, err
	}
	out.bounds = append(out.bounds, r.ColumnBound...)
	return out, nil
}

// compare returns an error unless the results of a process, in the rows of a division, are those of one process.
func (got *teamResults) compare(want *teamResults, d *sparse.Division) error {
	for q, b := range got.blocks {
		bound := got.bounds[q] + want.bounds[q]
		for i := range b.Rows {
			for j, v := range b.Row(i) {
				if w := want.blocks[q].Row(i)[j]; v != w && !(math.Abs(v-w) <= bound) {
					return fmt.Errorf("block %d: (%d, %d) is %v, want %v within %.3g", q, i, j, v, w, bound)
				}
			}
		}
		if !(got.bounds[q] <= 1e-7*max(1, largestOf(b))) {
			return fmt.Errorf("block %d: error bound %.3g", q, got.bounds[q])
		}
	}
	if got.images == nil {
		return nil
	}
	for j, bound := range got.bounds[len(got.blocks):] {
		bound += want.bounds[len(got.blocks)+j]
		for i, row := range d.Rows {
			if v := got.images.Row(i)[j]; !d.IsPadding(i) && !(math.Abs(v-want.images.Row(int(row))[j]) <= bound) {
				return fmt.Errorf("image: (%d, %d) is %v, want %v within %.3g", row, j, v, want.images.Row(int(row))[j], bound)
			}
		}
	}
	return nil
}

// TestKernelsOnSeveralProcesses compares the kernels of processes that share the rows with those of one process,
// and the bits of two runs.
func TestKernelsOnSeveralProcesses(t *testing.T) {
	word := func(pairs ...string) spec.Values {
		v := spec.Values{}
		for i := 0; i < len(pairs); i += 2 {
			v[pairs[i]] = spec.Of(pairs[i+1])
		}
		return v
	}
	g, err := graph.New(t.Context(), testgraph.Random(11, 90, 70, true), nil)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		given spec.Values
	}{
		{"diffusion", word("laplacian", combinatorial)},
		{"diffusion", word("laplacian", randomWalk)},
		{"exponential", nil},
		{"p-step", nil},
		{"matern", word("laplacian", combinatorial)},
		{"heat-pagerank", spec.Values{"symmetric": spec.Of(true)}},
		{"vertex", nil},
		{"vertex", word("weights", geometricWeights)},
		{"von-neumann", word("matrix", adjacency)},
	}
	n, named := len(g.Degrees), []int{2, 19, 20, 41, 77}
	x := sparse.NewBlock[float64](n, 2)
	for i := range n {
		x.Row(i)[0], x.Row(i)[1] = math.Sin(float64(i)), math.Cos(float64(i*i))
	}
	for _, test := range tests {
		want, err := teamResultsOf(t.Context(), g, test.name, test.given, named, x)
		if err != nil {
			t.Errorf("%s %v: %v", test.name, test.given, err)
			continue
		}
		for _, size := range []int{2, 3} {
			last := make([]*teamResults, size)
			for run := range 2 {
				err := sparsetest.Processes(size, func(network sparse.Network) error {
					d := sparse.NewDivision(n, network, append([]int{0, 20, 50}[:size:size], n), named)
					part, err := graph.Divide(t.Context(), g, d)
					if err != nil {
						return err
					}
					nodes, own := make([]int, len(named)), sparse.NewBlock[float64](len(d.Rows), x.Cols)
					for i, row := range named {
						nodes[i], _ = d.Local(row)
					}
					for i, row := range d.Rows {
						if !d.IsPadding(i) {
							copy(own.Row(i), x.Row(int(row)))
						}
					}
					got, err := teamResultsOf(t.Context(), part, test.name, test.given, nodes, own)
					if err != nil {
						return err
					}
					if before := last[network.Rank()]; run > 0 {
						for q, b := range got.blocks {
							if !slices.Equal(b.Data, before.blocks[q].Data) {
								return fmt.Errorf("block %d: another run has other bits", q)
							}
						}
						if got.images != nil && !slices.Equal(got.images.Data, before.images.Data) {
							return fmt.Errorf("image: another run has other bits")
						}
					}
					last[network.Rank()] = got
					return got.compare(want, d)
				})
				if err != nil {
					t.Errorf("%s %v, %d processes: %v", test.name, test.given, size, err)
					break
				}
			}
		}
	}
}

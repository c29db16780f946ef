package lanczos

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

type teamCase struct {
	name     string
	a        *sparse.CSR
	k        int
	settings Settings
	problem  func(a sparse.Matrix, degrees []float64, c *sparse.Components, isolated []uint32) *Problem
}

var teamCases = []teamCase{
	{"lanczos", testgraph.Random(3, 1200, 1900, true), 6, Settings{}, func(a sparse.Matrix, degrees []float64, c *sparse.Components, isolated []uint32) *Problem {
		weights := blocks.Roots(degrees)
		for _, i := range isolated {
			weights[i] = 0
		}
		return &Problem{
			A: sparse.NewOperator[float64](sparse.NormalizedAdjacency, a, degrees), Beyond: true, Excluded: isolated,
			Known: &Known{Components: c, Weights: weights, Value: 1},
		}
	}},
	{"lobpcg", testgraph.Random(3, 1200, 1900, true), 60, Settings{Preconditioned: true, Tolerance: 1e-4}, func(a sparse.Matrix, degrees []float64, c *sparse.Components, _ []uint32) *Problem {
		jacobi := func(_ context.Context, _ int64) (Preconditioner, error) {
			return func(_ context.Context, dst, r *sparse.Block[float64]) error {
				for i, d := range degrees {
					for j, v := range r.Row(i) {
						dst.Row(i)[j] = v / max(d, 1e-3)
					}
				}
				return nil
			}, nil
		}
		return &Problem{A: sparse.NewOperator[float64](sparse.Laplacian, a, degrees), Which: Smallest, Known: &Known{Components: c}, Precondition: jacobi}
	}},
	{"dense", testgraph.Random(4, 150, 160, true), 60, Settings{}, func(a sparse.Matrix, degrees []float64, c *sparse.Components, isolated []uint32) *Problem {
		weights := blocks.Roots(degrees)
		for _, i := range isolated {
			weights[i] = 0
		}
		return &Problem{
			A: sparse.NewOperator[float64](sparse.NormalizedAdjacency, a, degrees), Excluded: isolated,
			Known: &Known{Components: c, Weights: weights, Value: 1},
		}
	}},
	{"lanczos", testgraph.Cycle(800), 7, Settings{}, func(a sparse.Matrix, _ []float64, _ *sparse.Components, _ []uint32) *Problem {
		return &Problem{A: &sparse.Operator[float64]{A: a}, Which: Largest, Positive: true}
	}},
}

// Equal numbers of products show that processes start with the same vectors.
func TestSeveralProcesses(t *testing.T) {
	for _, c := range testgraph.Sample(t, 3, teamCases) {
		n, _ := c.a.Dims()
		degrees, components := degreesOf(t, c.a), componentsOf(t, c.a)
		var isolated []uint32
		for i, d := range degrees {
			if d == 0 {
				isolated = append(isolated, uint32(i))
			}
		}
		whole := c.problem(c.a, degrees, components, isolated)
		want, err := whole.Solve(ctx, c.k, &c.settings)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if want.Method != c.name {
			t.Fatalf("solved by %s, not by %s", want.Method, c.name)
		}
		var before *Pairs
		for _, size := range []int{2, 3, 3} {
			var got *Pairs // pairs of process 0, with all rows
			err := testgraph.Processes(size, func(network sparse.Network) error {
				bounds := []int{0, n / 3, n / 2, n}
				d := sparse.NewDivision(n, network, append(bounds[:size:size], n), []int{5, n / 3, n - 2})
				a, err := sparse.Divide(ctx, c.a, d, 0, 1)
				if err != nil {
					return err
				}
				defer a.Close()
				part := &sparse.Components{Of: make([]uint32, len(d.Team.Rows)), Sizes: components.Sizes}
				deg, without := make([]float64, len(d.Team.Rows)), []uint32(nil)
				for i, row := range d.Team.Rows {
					if !d.Team.IsPadding(i) {
						deg[i], part.Of[i] = degrees[row], components.Of[row]
						if deg[i] == 0 {
							without = append(without, uint32(i))
						}
					}
				}
				settings := c.settings
				settings.Workers = 1 + network.Rank()
				pairs, err := c.problem(a, deg, part, without).Solve(ctx, c.k, &settings)
				if err != nil {
					return err
				}
				pairs.Vectors = testgraph.Whole(a.Team(), pairs.Vectors)
				if network.Rank() == 0 {
					got = pairs
				}
				return nil
			})
			if err != nil {
				t.Fatalf("%s, %d processes: %v", c.name, size, err)
			}
			if got.Known != want.Known || got.Converged != want.Converged || got.Method != want.Method || math.Abs(float64(got.Products)/float64(want.Products)-1) > 0.1 {
				t.Errorf("%s, %d processes: %d products, %d known pairs; want %d and %d", c.name, size, got.Products, got.Known, want.Products, want.Known)
			}
			if err := comparePairs(got, want); err != nil {
				t.Errorf("%s, %d processes: %v", c.name, size, err)
			}
			if size == 3 && before != nil && !(slices.Equal(before.Values, got.Values) && slices.Equal(before.Vectors.Data, got.Vectors.Data)) {
				t.Errorf("%s: another run of %d processes has other bits", c.name, size)
			}
			if before = nil; size == 3 {
				before = got
			}
		}
	}
}

// comparePairs compares values, and the spaces of vectors whose values are separated from the last value.
func comparePairs(got, want *Pairs) error {
	if len(got.Values) != len(want.Values) {
		return fmt.Errorf("%d pairs, want %d", len(got.Values), len(want.Values))
	}
	k := len(want.Values)
	inner := sparse.NewBlock[float64](k, k)
	blocks.ProductTo(nil, inner, want.Vectors, got.Vectors)
	for j, v := range got.Values {
		if math.Abs(v-want.Values[j]) > 1e-9*want.Norm {
			return fmt.Errorf("value %d is %v, want %v", j, v, want.Values[j])
		}
		share := 0.0
		for i := range k {
			share += inner.Row(i)[j] * inner.Row(i)[j]
		}
		gap := math.Abs(v - want.Values[k-1])
		if allowed := 4 * want.Norm * 1e-8 / gap; 1-share > allowed*allowed+1e-12 {
			return fmt.Errorf("vector %d: %g lies outside of the space", j, 1-share)
		}
	}
	return nil
}

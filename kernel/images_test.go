package kernel

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// (I + bA)², given by its products, has the same bits in any shape and memory limit.
func TestImages(t *testing.T) {
	const b = 0.01
	Register(&Family{
		Spec: param.Spec{Name: "square", Title: "(I + bA)²", Works: param.Undirected},
		New: func(_ context.Context, g *graph.Graph, _ param.Values) (Kernel, error) {
			op := &sparse.Operator[float64]{A: g.A, Workers: g.Workers}
			n := len(g.Degrees)
			return &Images{
				Nodes: n, Method: "two products", Sweeps: 2, Rounding: 1e-14, Norm: 4,
				Blocks: 3,
				Apply: func(ctx context.Context, dst, x *sparse.Block[float64], progress func(sweeps int)) error {
					y := sparse.NewBlock[float64](n, x.Cols)
					step := sparse.Step[float64]{Alpha: b, Delta: 1, Prev: x}
					if err := op.StepTo(ctx, y, x, step); err != nil {
						return err
					}
					progress(1)
					step.Prev = y
					progress(1)
					return op.StepTo(ctx, dst, y, step)
				},
			}, nil
		},
	})
	t.Cleanup(func() { families = families[:len(families)-1] })
	a := testgraph.Random(3, 200, 600, true)
	k := mustNew(t, newGraph(t, a, 2), "square", nil)
	dense := make([][]float64, 200) // I + bA
	for i := range dense {
		dense[i] = make([]float64, 200)
		for j := range dense[i] {
			dense[i][j] = b * a.At(i, j)
		}
		dense[i][i]++
	}
	all := upTo(200)
	whole, report := mustMatrix(t, k, all, all, nil)
	if report.Method != "two products" || report.Sweeps == 0 {
		t.Errorf("%+v", report)
	}
	for i := range all {
		for j := range all {
			want := 0.0
			for q, v := range dense[i] {
				want += v * dense[q][j]
			}
			if v := whole.Row(i)[j]; v != whole.Row(j)[i] || math.Abs(v-want) > report.ErrorBound {
				t.Fatalf("K[%d, %d] = %v, mirrored %v, want %v within %g", i, j, v, whole.Row(j)[i], want, report.ErrorBound)
			}
		}
	}
	for _, lists := range [][2][]int{{all, {3, 70, 9}}, {{3, 70, 9}, all}} {
		got, _ := mustMatrix(t, k, lists[0], lists[1], &Settings{Memory: 40_000})
		for i, row := range lists[0] {
			for j, col := range lists[1] {
				if want := whole.Row(max(row, col))[min(row, col)]; math.Abs(got.Row(i)[j]-want) > report.ErrorBound {
					t.Fatalf("K[%d, %d] = %v, want %v", row, col, got.Row(i)[j], want)
				}
			}
		}
	}
	if _, _, err := Matrix(background, k, all, all, &Settings{Memory: 1000}); !errors.Is(err, sparse.ErrMemory) {
		t.Errorf("%v within 1000 bytes", err)
	}
	if _, _, err := Matrix(background, k, all, all, &Settings{Tolerance: 1e-15}); !errors.Is(err, ErrTolerance) {
		t.Errorf("%v with a tolerance below the rounding", err)
	}
}

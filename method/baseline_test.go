package method

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/sparse"
)

// Label propagation gives what the whole walk does, however many classes fit at
// a time, and ends long before it.
func TestPropagation(t *testing.T) {
	ctx := context.Background()
	for _, directed := range []bool{false, true} {
		p := planted(t, 4, 600, 60)
		p.Directed = directed
		w := walkOf[float64](p, &Settings{}, propagationSteps)
		w.Variants = []cwk.Variant{{Absorb: 1}}
		want := sparse.NewBlock[float64](len(p.Degrees), len(p.Names))
		err := w.Run(ctx, func(t int, rows sparse.Rows, x *sparse.Block[float64]) {
			for i := rows.Lo; t == propagationSteps && i < rows.Hi; i++ {
				copy(want.Row(i), x.Row(i))
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		var first []float32
		for _, workers := range []int{1, 2, 7} {
			for _, width := range []int{len(p.Names), 2, 1} {
				s := &Settings{Workers: workers, Memory: keptBytes(p) + propagatedBytes(p, width)}
				if got, _ := propagated(p, &Settings{Memory: propagatedBytes(p, width)}); got != width {
					t.Fatalf("%d classes at a time, want %d", got, width)
				}
				out, err := labelPropagation{}.Predict(ctx, p, nil, s)
				if err != nil {
					t.Fatal(err)
				}
				passes := len(p.Names) / width
				if out.Work.Sweeps > passes*propagationSteps/2 {
					t.Errorf("%d classes at a time take %d sweeps", width, out.Work.Sweeps)
				}
				got := out.Scores
				if first == nil {
					first = slices.Clone(got.Data)
				}
				if !slices.Equal(first, got.Data) {
					t.Errorf("directed %t, %d workers, %d classes at a time: other bits", directed, workers, width)
				}
				for i := range got.Rows {
					if !out.Reached.Contains(uint32(i)) {
						continue
					}
					for j, v := range got.Row(i) {
						if math.Abs(float64(v)-want.Row(i)[j]) > 2e-6 {
							t.Fatalf("directed %t: [%d,%d] is %v, want %v", directed, i, j, v, want.Row(i)[j])
						}
					}
				}
			}
		}
	}
}

// pathOf returns a path of n nodes with a label at each end.
func pathOf(t *testing.T, n int, directed bool) *Problem {
	t.Helper()
	var e []sparse.Triplet
	for i := range n - 1 {
		e = append(e, sparse.Triplet{Row: uint32(i), Col: uint32(i + 1), Val: 1}, sparse.Triplet{Row: uint32(i + 1), Col: uint32(i), Val: 1})
	}
	a, err := sparse.FromTriplets(n, n, e)
	if err != nil {
		t.Fatal(err)
	}
	d, err := sparse.Degrees(context.Background(), a, 1)
	if err != nil {
		t.Fatal(err)
	}
	return &Problem{A: a, Degrees: d, Directed: directed, Row: []int{0, n - 1}, Class: []int{0, 1}, Names: []string{"a", "b"}}
}

// On a long path labels are propagated to its end, within the memory that the plan
// says; with less than a factor takes there is an error that says how much it lacks.
func TestPropagationOnPath(t *testing.T) {
	ctx := context.Background()
	const n = 5000
	p := pathOf(t, n, false)
	for _, lacks := range []int64{0, 1000} {
		set := &Settings{Memory: keptBytes(p) + propagatedBytes(p, 1) + factorBytes(p, 1) - lacks}
		out, err := labelPropagation{}.Predict(ctx, p, nil, set)
		var limited *ConvergenceError
		if lacks > 0 {
			if !errors.As(err, &limited) || limited.Short != lacks || !errors.Is(err, iterative.ErrIterationLimit) {
				t.Errorf("with %d bytes too few: %v", lacks, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if want := float64(i) / (n - 1); math.Abs(float64(out.Scores.Row(i)[1])-want) > 1e-6 {
				t.Fatalf("node %d has %v, want %v", i, out.Scores.Row(i)[1], want)
			}
		}
	}
}

// A walk that has not settled says so.
func TestUnsettled(t *testing.T) {
	for n, want := range map[int]bool{5000: true, 20: false} {
		out, err := labelPropagation{}.Predict(context.Background(), pathOf(t, n, true), nil, nil)
		if err != nil || (out.Unfinished != "") != want {
			t.Errorf("a path of %d nodes: %q, %v", n, out.Unfinished, err)
		}
	}
}

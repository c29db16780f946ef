package propagation

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/method/internal/problemtest"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// scoresOf returns the scores of all nodes, and how many sweeps they took.
func scoresOf(t *testing.T, l *Propagation) (*sparse.Block[float32], int, error) {
	t.Helper()
	var found, work graph.Work
	reached, err := l.P.Reachable(t.Context(), l.P.Row, 1, &found)
	if err != nil {
		t.Fatal(err)
	}
	scores := sparse.NewBlock[float32](len(l.P.Degrees), len(l.P.Names))
	_, err = l.ScoresTo(t.Context(), scores, reached, &work)
	return scores, work.Sweeps, err
}

// TestPropagation compares label propagation with the whole walk, for several numbers of classes at
// a time, and tests that it ends earlier.
func TestPropagation(t *testing.T) {
	ctx := context.Background()
	for _, directed := range []bool{false, true} {
		p := problemtest.Planted(t, 4, 600, 60)
		p.Directed = directed
		w := walk[float64](&Propagation{P: p, Alpha: 1}, mostSteps)
		want := sparse.NewBlock[float64](len(p.Degrees), len(p.Names))
		err := w.Run(ctx, 0, len(p.Names), func(t int, rows sparse.Rows, x *sparse.Block[float64]) {
			for i := rows.Lo; t == mostSteps && i < rows.Hi; i++ {
				copy(want.Row(i), x.Row(i))
			}
		}, nil)

		if err != nil {
			t.Fatal(err)
		}
		var first []float32
		for _, workers := range []int{1, 2, 7} {
			for _, cols := range []int{len(p.Names), 2, 1} {
				l := &Propagation{P: p, Alpha: 1, Workers: workers}
				l.Memory = blockBytes(l, cols)
				if got, _ := width(l); got != cols {
					t.Fatalf("%d classes at a time, want %d", got, cols)
				}
				got, sweeps, err := scoresOf(t, l)
				if err != nil {
					t.Fatal(err)
				}
				passes := len(p.Names) / cols
				if sweeps > passes*mostSteps/2 {
					t.Errorf("%d classes at a time take %d sweeps", cols, sweeps)
				}
				if first == nil {
					first = slices.Clone(got.Data)
				}
				if !slices.Equal(first, got.Data) {
					t.Errorf("directed %t, %d workers, %d classes at a time: other bits", directed, workers, cols)
				}
				for i := range got.Rows {
					if !l.reached.Contains(uint32(i)) {
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

// On a long path labels are propagated to its end, within the memory that the plan
// says; with less than a factor takes there is an error that says how much it lacks.
func TestPropagationOnPath(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a fifth of a second")
	}
	const n = 5000
	p := problemtest.Path(t, n, false)
	for _, lacks := range []int64{0, 1000} {
		l := &Propagation{P: p, Alpha: 1}
		l.Memory = blockBytes(l, 1) + factorBytes(l, 1) - lacks
		scores, _, err := scoresOf(t, l)
		var limited *problem.Error
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
			if want := float64(i) / (n - 1); math.Abs(float64(scores.Row(i)[1])-want) > 1e-6 {
				t.Fatalf("node %d has %v, want %v", i, scores.Row(i)[1], want)
			}
		}
	}
}

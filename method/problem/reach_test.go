package problem_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func search(a *sparse.CSR, seeds []int) *roaring.Bitmap {
	found := roaring.New()
	queue := slices.Clone(seeds)
	for len(queue) > 0 {
		to := queue[0]
		queue = queue[1:]
		if !found.CheckedAdd(uint32(to)) {
			continue
		}
		a.DoNonZero(func(i, j int, v float64) {
			if j == to && v != 0 {
				queue = append(queue, i)
			}
		})
	}
	return found
}

// reached follows entries if directed is set, else components.
func reached(ctx context.Context, a sparse.Matrix, seeds []int, directed bool, workers int) (*roaring.Bitmap, error) {
	return (&problem.Problem{Graph: &graph.Graph{A: a}, Directed: directed}).Reachable(ctx, seeds, workers, new(graph.Work))
}

func TestReached(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const n = 30
		rngSeed := rapid.Uint64Range(0, 1<<20).Draw(t, "rng seed")
		links := rapid.IntRange(0, 60).Draw(t, "links")
		seeds := rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 4).Draw(t, "seeds")
		a, d := testgraph.Random(rngSeed, n, links, true), testgraph.RandomDirected(rngSeed, n, links, true)
		for _, workers := range []int{1, 2, 7} {
			for _, c := range []struct {
				a        *sparse.CSR
				directed bool
			}{{a, false}, {a, true}, {d, true}} {
				got, err := reached(context.Background(), c.a, seeds, c.directed, workers)
				if err != nil {
					t.Fatal(err)
				}
				if want := search(c.a, seeds); !got.Equals(want) {
					t.Fatalf("directed %v: %v, want %v", c.directed, got, want)
				}
			}
		}
	})
}

func TestReachedOnKnownGraphs(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		hub := testgraph.Hub()
		n, _ := hub.Dims()
		for _, directed := range []bool{false, true} {
			got, err := reached(context.Background(), hub, []int{n - 1}, directed, workers)
			if err != nil || got.GetCardinality() != uint64(n) {
				t.Errorf("directed %v: a wheel is not reached as a whole: %v", directed, err)
			}
		}
		long, err := reached(context.Background(), testgraph.Path(100_000), []int{50_000}, false, workers)
		if err != nil || long.GetCardinality() != 100_000 {
			t.Errorf("a path is not reached as a whole: %v", err)
		}
	}
	want := roaring.BitmapOf(3, 4, 5)
	if got, err := reached(context.Background(), testgraph.TwoCliques(3), []int{4}, false, 1); err != nil || !got.Equals(want) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestReachedIgnoresZeros(t *testing.T) {
	a, err := sparse.NewCSR(2, 2, []int64{0, 1, 2}, []uint32{1, 0}, []float64{0, 0})
	if err != nil {
		t.Fatal(err)
	}
	for _, directed := range []bool{false, true} {
		if got, err := reached(context.Background(), a, []int{0}, directed, 1); err != nil || got.Contains(1) {
			t.Errorf("directed %v: %v, %v", directed, got, err)
		}
	}
}

func TestReachedStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, directed := range []bool{false, true} {
		if _, err := reached(ctx, testgraph.Path(5), []int{0}, directed, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("directed %v: %v", directed, err)
		}
	}
}

// A known component structure saves a sweep.
func TestWhole(t *testing.T) {
	p := &problem.Problem{Graph: &graph.Graph{A: testgraph.TwoCliques(5)}}
	var first, second graph.Work
	g, err := p.Whole(t.Context(), 2, &first)
	if err != nil {
		t.Fatal(err)
	}
	again, err := p.Whole(t.Context(), 2, &second)
	if err != nil {
		t.Fatal(err)
	}
	if p.Components != g.Components || again.Components != g.Components || !slices.Equal(again.Degrees, g.Degrees) {
		t.Error("another graph where components are known")
	}
	if first != (graph.Work{Sweeps: 2}) || second != (graph.Work{Sweeps: 1}) {
		t.Errorf("%v and then %v were counted", first, second)
	}
}

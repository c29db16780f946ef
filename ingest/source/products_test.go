package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/heatwalk/heatwalk/sparse"
)

type pair struct {
	I, J int
	V    float64
}

// random returns a matrix with empty rows and repeated values, so that cosines tie.
func random(t *testing.T, rows, cols int, share float64, rng *rand.Rand) (*sparse.CSR, [][]float64) {
	t.Helper()
	var entries []sparse.Triplet
	dense := make([][]float64, rows)
	for i := range rows {
		dense[i] = make([]float64, cols)
		for j := range cols {
			if rng.Float64() < share && i%7 != 3 {
				dense[i][j] = float64(1 + rng.IntN(2))
				if rng.IntN(5) == 0 {
					dense[i][j] = -1
				}
				entries = append(entries, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: dense[i][j]})
			}
		}
	}
	x, err := sparse.FromTriplets(rows, cols, entries)
	if err != nil {
		t.Fatal(err)
	}
	return x, dense
}

type visit = func(i int, j []uint32, v []float64) error

func collect(t *testing.T, run func(visit visit) error) (all []pair) {
	t.Helper()
	last := -1
	err := run(func(i int, j []uint32, v []float64) error {
		if i != last+1 || !slices.IsSorted(j) || len(j) != len(v) {
			t.Fatalf("row %d after %d has columns %v", i, last, j)
		}
		last = i
		for k := range j {
			all = append(all, pair{i, int(j[k]), v[k]})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func dot(a, b []float64) (sum float64) {
	for c := range a {
		sum += a[c] * b[c]
	}
	return sum
}

func TestProductsAreThoseOfDenseRows(t *testing.T) {
	x, dense := random(t, 60, 25, 0.15, rand.New(rand.NewPCG(1, 2)))
	var want []pair
	for i := range dense {
		for j := i + 1; j < len(dense); j++ {
			if v := dot(dense[i], dense[j]); v != 0 {
				want = append(want, pair{i, j, v})
			}
		}
	}
	got := collect(t, func(v visit) error { return eachProduct(context.Background(), x, 1, v) })
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNearestAreThoseOfAllPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, s := range []NeighbourSettings{{Neighbours: 1}, {Neighbours: 4}, {Neighbours: 100}, {Least: 0.4}, {Neighbours: 3, Least: 0.6}} {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			x, dense := random(t, 50, 12, 0.3, rng)
			var want []pair
			for i, a := range dense {
				var near []pair
				for j, b := range dense {
					cosine := min(dot(a, b)/math.Sqrt(dot(a, a)*dot(b, b)), 1)
					if i != j && cosine > 0 && cosine >= s.Least {
						near = append(near, pair{i, j, cosine})
					}
				}
				slices.SortStableFunc(near, func(a, b pair) int { return cmp.Compare(b.V, a.V) })
				if s.Neighbours > 0 {
					near = near[:min(len(near), s.Neighbours)]
				}
				slices.SortFunc(near, func(a, b pair) int { return cmp.Compare(a.J, b.J) })
				want = append(want, near...)
			}
			got := collect(t, func(v visit) error { return nearestRows(context.Background(), x, &s, v) })
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSameBitsForAnyWorkers(t *testing.T) {
	x, _ := random(t, 2000, 200, 0.1, rand.New(rand.NewPCG(5, 6)))
	run := func(workers int) []pair {
		return collect(t, func(v visit) error {
			return nearestRows(context.Background(), x, &NeighbourSettings{Neighbours: 5, Workers: workers}, v)
		})
	}
	one := run(1)
	for _, workers := range []int{2, 7} {
		if !slices.Equal(one, run(workers)) {
			t.Errorf("%d workers give other neighbours", workers)
		}
	}
}

func TestNeighbourSettings(t *testing.T) {
	x, _ := random(t, 5, 5, 0.5, rand.New(rand.NewPCG(1, 1)))
	for _, s := range []NeighbourSettings{{}, {Neighbours: -1}, {Neighbours: 1, Least: 1.5}, {Least: math.NaN()}} {
		if err := nearestRows(context.Background(), x, &s, nil); err == nil {
			t.Errorf("%+v is taken", s)
		}
	}
	for _, v := range []float64{1e200, 1e-200} {
		row, err := sparse.FromTriplets(1, 1, []sparse.Triplet{{Val: v}})
		if err != nil {
			t.Fatal(err)
		}
		if err := nearestRows(context.Background(), row, &NeighbourSettings{Neighbours: 1}, nil); err == nil {
			t.Errorf("the square of %g is taken", v)
		}
	}
}

func TestVisitEndsTheWork(t *testing.T) {
	x, _ := random(t, 50, 12, 0.3, rand.New(rand.NewPCG(3, 4)))
	stop := errors.New("stop")
	if err := eachProduct(context.Background(), x, 2, func(int, []uint32, []float64) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("error %v, want %v", err, stop)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := eachProduct(ctx, x, 2, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

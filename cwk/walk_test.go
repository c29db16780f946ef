package cwk_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// reference computes P_0 … P_Steps of one variant by powers of the dense (n+k)×(n+k) matrix of eq. (3) of the paper.
func reference(w *cwk.Walk[float64], v cwk.Variant, prior func(i, c int) float64) *sparse.Block[float64] {
	n, k := len(w.Degrees), w.Seeds.Classes
	m := mat.NewDense(n+k, n+k, nil)
	p := mat.NewDense(n+k, k, nil)
	for i := range n {
		m.Set(i, i, 1)
		if w.Degrees[i] > 0 {
			for j := range n {
				m.Set(i, j, w.A.(*sparse.CSR).At(i, j)/w.Degrees[i])
			}
		}
		for c := range k {
			p.Set(i, c, prior(i, c))
		}
	}
	for c := range k {
		m.Set(n+c, n+c, 1)
		p.Set(n+c, c, 1)
	}
	for s, i := range w.Seeds.Row {
		if v.Hidden != nil && v.Hidden[s] {
			continue
		}
		for j := range n {
			m.Set(i, j, (1-v.Absorb)*m.At(i, j))
		}
		m.Set(i, n+w.Seeds.Class[s], v.Absorb)
		for c := range k {
			p.Set(i, c, 0)
		}
		p.Set(i, w.Seeds.Class[s], 1)
	}
	all := sparse.NewBlock[float64]((w.Steps+1)*n, k)
	for t := range w.Steps + 1 {
		for i := range n {
			for c := range k {
				all.Row(t*n + i)[c] = p.At(i, c)
			}
		}
		var next mat.Dense
		next.Mul(m, p)
		p.Copy(&next)
	}
	return all
}

func TestDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rngSeed := rapid.Uint64Range(0, 1<<20).Draw(t, "rng seed")
		w := randomWalk[float64](t, rngSeed)
		if rapid.Bool().Draw(t, "directed") {
			w.A = testgraph.RandomDirected(rngSeed, 40, 80, rapid.Bool().Draw(t, "weighted"))
			w.Degrees = degrees(t, w.A)
		}
		n, k := len(w.Degrees), w.Seeds.Classes
		given := givenPrior(rngSeed, n, k)
		for _, prior := range []string{"uniform", "empirical", "given"} {
			for g, v := range w.Variants {
				of := func(i, c int) float64 { return 1 / float64(k) }
				switch prior {
				case "uniform":
					w.Prior = cwk.Prior{}
				case "empirical":
					w.Prior = cwk.Prior{Empirical: true, Pseudo: 0.5}
					count, total := make([]float64, k), 0.0
					for s, c := range w.Seeds.Class {
						if v.Hidden == nil || !v.Hidden[s] {
							count[c]++
							total++
						}
					}
					of = func(i, c int) float64 { return (count[c] + 0.5) / (total + 0.5*float64(k)) }
				case "given":
					w.Prior = cwk.Prior{Given: given}
					of = given.At
				}
				got := stack(t, w).Columns(g*k, (g+1)*k)
				// A step rounds sums of at most n terms, each at most 1.
				testgraph.Close(t, got, reference(w, v, of), float64(w.Steps*n)*0x1p-52, 0)
			}
		}
	})
}

func TestRowsSumToOne(t *testing.T) {
	t.Run("float32", testRowsSumToOne[float32])
	t.Run("float64", testRowsSumToOne[float64])
}

func testRowsSumToOne[T sparse.Float](t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := randomWalk[T](t, rapid.Uint64Range(0, 1<<20).Draw(t, "rng seed"))
		w.Steps = 20
		all := wide(stack(t, w))
		for i := range all.Rows {
			for g := range w.Variants {
				var sum float64
				for _, v := range all.Row(i)[g*3 : g*3+3] {
					if v < 0 {
						t.Fatalf("a probability of %v", v)
					}
					sum += v
				}
				// Each step rounds a product and a sum for each entry of the row.
				if bound := float64(1+w.Steps*len(w.Degrees)) * epsilon[T](); math.Abs(sum-1) > bound {
					t.Fatalf("row %d of variant %d sums to %v", i, g, sum)
				}
			}
		}
	})
}

// With degree 4, α = 1/2 and 4 classes all numbers are multiples of 2^-50, so that sums are exact in any order.
func TestRelabelling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const side = 6
		var links []sparse.Triplet
		for i := range side {
			for j := range side {
				for _, d := range [][2]int{{0, 1}, {0, side - 1}, {1, 0}, {side - 1, 0}} {
					links = append(links, sparse.Triplet{Row: uint32(i*side + j), Col: uint32((i+d[0])%side*side + (j+d[1])%side), Val: 1})
				}
			}
		}
		a, err := sparse.FromTriplets(side*side, side*side, links)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "rng seed"), 3))
		order := rng.Perm(side * side)
		w := &cwk.Walk[float64]{A: a, Degrees: degrees(t, a), Steps: 15, Variants: []cwk.Variant{{Absorb: 0.5}}}
		w.Seeds = cwk.Seeds{Row: rng.Perm(side * side)[:6], Class: []int{0, 1, 2, 3, 0, 1}, Classes: 4}
		renamed := *w
		renamed.A = testgraph.Permute(a, order)
		renamed.Seeds = cwk.Seeds{Classes: 4}
		for _, s := range rng.Perm(6) {
			renamed.Seeds.Row = append(renamed.Seeds.Row, order[w.Seeds.Row[s]])
			renamed.Seeds.Class = append(renamed.Seeds.Class, w.Seeds.Class[s])
		}
		f, err := w.Collect(background, 0, plainPicks(everyRow(a)))
		if err != nil {
			t.Fatal(err)
		}
		g, err := renamed.Collect(background, 0, plainPicks(order))
		if err != nil {
			t.Fatal(err)
		}
		sameBits(t, "renamed", g, f)
	})
}

func TestPrefix(t *testing.T) {
	w := randomWalk[float64](t, 5)
	picks := plainPicks(everyRow(w.A))
	long, err := w.Collect(background, 0, picks)
	if err != nil {
		t.Fatal(err)
	}
	for steps := range w.Steps + 1 {
		for from := range steps + 1 {
			w.Steps = steps
			short, err := w.Features(background, from, picks, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := wide(long.Columns(from*3, (steps+1)*3))
			for i := range want.Rows {
				for j := range want.Cols {
					want.Row(i)[j] /= math.Sqrt(float64(steps - from + 1))
				}
			}
			testgraph.Close(t, short, want, 4*0x1p-52, 0)
		}
	}
}

func TestUnreachedKeepPrior(t *testing.T) {
	a := testgraph.TwoCliques(4)
	w := &cwk.Walk[float64]{A: a, Degrees: degrees(t, a), Steps: 30, Variants: []cwk.Variant{{Absorb: 0.7}}, Prior: cwk.Prior{Empirical: true, Pseudo: 2}}
	w.Seeds = cwk.Seeds{Row: []int{1, 3}, Class: []int{0, 0}, Classes: 2}
	p := stack(t, w)
	for i := 4; i < 8; i++ {
		for c, want := range []float64{4.0 / 6, 2.0 / 6} {
			if got := p.At(30*8+i, c); math.Abs(got-want) > 30*0x1p-52 {
				t.Errorf("row %d, class %d: %v, want %v", i, c, got, want)
			}
		}
	}

	lone, err := sparse.FromTriplets(3, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	prior := givenPrior(1, 3, 2)
	w.A, w.Degrees, w.Prior = lone, make([]float64, 3), cwk.Prior{Given: prior}
	w.Seeds = cwk.Seeds{Row: []int{1}, Class: []int{1}, Classes: 2}
	p = stack(t, w)
	for i, want := range [][]float64{prior.Row(0), {0, 1}, prior.Row(2)} {
		for c := range want {
			if got := p.At(30*3+i, c); math.Abs(got-want[c]) > 30*0x1p-52 {
				t.Errorf("row %d, class %d: %v, want %v", i, c, got, want[c])
			}
		}
	}
}

func TestDirection(t *testing.T) {
	a, err := sparse.FromTriplets(3, 3, []sparse.Triplet{{Row: 0, Col: 1, Val: 1}, {Row: 1, Col: 2, Val: 1}})
	if err != nil {
		t.Fatal(err)
	}
	w := &cwk.Walk[float64]{A: a, Degrees: degrees(t, a), Steps: 2, Variants: []cwk.Variant{{Absorb: 1}}}
	for seed, want := range [][]float64{{1, 0.5, 0.5}, {1, 1, 0.5}, {1, 1, 1}} {
		w.Seeds = cwk.Seeds{Row: []int{seed}, Class: []int{0}, Classes: 2}
		p := stack(t, w)
		for i := range want {
			if got := p.At(2*3+i, 0); got != want[i] {
				t.Errorf("seed at %d: row %d is %v, want %v", seed, i, got, want[i])
			}
		}
	}
}

func TestCancel(t *testing.T) {
	w := hubWalk[float64](t)
	ctx, cancel := context.WithCancel(background)
	w.Progress = func(_ string, done, _ int64) {
		if done == 2 {
			cancel()
		}
	}
	last := 0
	var mu sync.Mutex
	err := w.Run(ctx, 0, w.Seeds.Classes*len(w.Variants), func(step int, _ sparse.Rows, _ *sparse.Block[float64]) {
		mu.Lock()
		last = max(last, step)
		mu.Unlock()
	}, nil)
	if !errors.Is(err, context.Canceled) || last != 2 {
		t.Errorf("%v at step %d", err, last)
	}
}

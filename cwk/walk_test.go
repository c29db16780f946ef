package cwk_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/sparse"
)

// reference computes P_0 … P_Steps of one variant as the paper writes them:
// powers of the dense (n+k)×(n+k) matrix of eq. (3) on the extended P_0.
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

// Every variant of every prior agrees with the definition.
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
					w.Prior = cwk.Uniform()
				case "empirical":
					w.Prior = cwk.Empirical(0.5)
					count, total := make([]float64, k), 0.0
					for s, c := range w.Seeds.Class {
						if v.Hidden == nil || !v.Hidden[s] {
							count[c]++
							total++
						}
					}
					of = func(i, c int) float64 { return (count[c] + 0.5) / (total + 0.5*float64(k)) }
				case "given":
					w.Prior = cwk.Given(given)
					of = given.At
				}
				got := stack(t, w).Columns(g*k, (g+1)*k)
				// A step rounds sums of at most n terms, each at most 1.
				testgraph.Close(t, got, reference(w, v, of), float64(w.Steps*n)*0x1p-52, 0)
			}
		}
	})
}

// Columns of a slab are those of the whole walk, with any memory and any
// number of workers, to the bit.
func TestSlabsAgree(t *testing.T) {
	t.Run("float32", testSlabsAgree[float32])
	t.Run("float64", testSlabsAgree[float64])
}

func testSlabsAgree[T sparse.Float](t *testing.T) {
	w := randomWalk[T](t, 11)
	w.Prior = cwk.Given(givenPrior(11, len(w.Degrees), w.Seeds.Classes))
	whole := stack(t, w)
	n, columns := len(w.Degrees), whole.Cols
	for _, width := range []int{1, 2, 3, 5, columns} {
		for lo := 0; lo < columns; lo += width {
			hi := min(lo+width, columns)
			slab := sparse.NewBlock[T](whole.Rows, hi-lo)
			err := w.RunColumns(background, lo, hi, func(step int, rows sparse.Rows, p *sparse.Block[T]) {
				for i := rows.Lo; i < rows.Hi; i++ {
					copy(slab.Row(step*n+i), p.Row(i))
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			sameBits(t, "slab", slab, whole.Columns(lo, hi))
		}
	}

	var picks []cwk.Pick
	for i := range n {
		picks = append(picks, cwk.Pick{Row: (i * 7) % n, Variant: i % 4}, cwk.Pick{Row: i, Variant: 3})
	}
	want, err := w.Collect(background, 2, picks)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range picks {
		for step := 2; step <= w.Steps; step++ {
			got := want.Row(i)[(step-2)*3 : (step-1)*3]
			if from := whole.Row(step*n + p.Row)[p.Variant*3 : p.Variant*3+3]; !slices.Equal(got, from) {
				t.Fatalf("pick %v at step %d is %v, the walk has %v", p, step, got, from)
			}
		}
	}
	slabs := 0
	for memory := w.CollectBytes(2, len(picks)); ; memory -= 97 {
		w.Memory = memory
		sweeps := 0
		w.Progress = func(done, all int) {
			if sweeps++; done != sweeps || all%w.Steps != 0 || done > all {
				t.Errorf("sweep %d reported as %d of %d", sweeps, done, all)
			}
		}
		got, err := w.Collect(background, 2, picks)
		var short *cwk.MemoryError
		if errors.As(err, &short) && errors.Is(err, cwk.ErrMemory) {
			if short.Limit != memory || short.Need <= memory || memory < short.Need-97 {
				t.Errorf("%v", short)
			}
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if slabs = max(slabs, sweeps/w.Steps); sweeps == w.Steps && memory < w.CollectBytes(2, len(picks))/2 {
			t.Errorf("%d bytes, but one slab", memory)
		}
		sameBits(t, "less memory", got, want)
	}
	if slabs != columns {
		t.Errorf("%d slabs at the lowest limit, want one for each of %d columns", slabs, columns)
	}
}

// On a small graph the workers walk slabs of their own.
func TestLanesAgree(t *testing.T) {
	w := randomWalk[float32](t, 13)
	for range 4 {
		w.Variants = append(w.Variants, w.Variants...) // 192 columns
	}
	for g := range w.Variants {
		w.Variants[g].Absorb = float64(g) / float64(len(w.Variants))
	}
	var picks []cwk.Pick
	for g := range w.Variants {
		picks = append(picks, cwk.Pick{Row: g % 40, Variant: g}, cwk.Pick{Row: w.Seeds.Row[g%9], Variant: g})
	}
	whole := stack(t, w)
	want := sparse.NewBlock[float32](len(picks), 3*(w.Steps+1))
	for i, p := range picks {
		for step := range w.Steps + 1 {
			copy(want.Row(i)[step*3:], whole.Row(step*40 + p.Row)[p.Variant*3:p.Variant*3+3])
		}
	}
	for _, workers := range []int{1, 2, 7} {
		for _, memory := range []int64{0, w.CollectBytes(0, len(picks)), w.CollectBytes(0, len(picks)) - 20_000} {
			w.Workers, w.Memory = workers, memory
			last, sweeps := 0, 0
			w.Progress = func(done, all int) {
				if done != last+1 {
					t.Errorf("sweep %d after %d", done, last)
				}
				last, sweeps = done, all
			}
			got, err := w.Collect(background, 0, picks)
			if err != nil {
				t.Fatal(err)
			}
			sameBits(t, "lanes", got, want)
			if last != sweeps || workers > 1 && sweeps < 2*w.Steps {
				t.Errorf("%d workers: %d of %d sweeps", workers, last, sweeps)
			}
		}
	}
}

// copies is a matrix like one read from disk: every panel in fresh memory that
// is overwritten after the visit.
type copies struct{ sparse.Matrix }

func (m copies) Sweep(ctx context.Context, workers int, visit func(int, sparse.Panel) error) error {
	return m.Matrix.Sweep(ctx, workers, func(worker int, p sparse.Panel) error {
		p.Ptr, p.Col, p.Val = slices.Clone(p.Ptr), slices.Clone(p.Col), slices.Clone(p.Val)
		for i := range p.Ptr {
			p.Ptr[i] += 12345
		}
		err := visit(worker, p)
		clear(p.Ptr)
		clear(p.Col)
		clear(p.Val)
		return err
	})
}

// hubWalk returns a walk on a graph with a row of several ranges, whose hub is
// a seed.
func hubWalk[T sparse.Float](t *testing.T) *cwk.Walk[T] {
	w := &cwk.Walk[T]{A: testgraph.Hub(), Steps: 4, Variants: []cwk.Variant{{Absorb: 0.25}, {Absorb: 0.75}}}
	w.Degrees = degrees(t, w.A)
	edge := w.A.Ranges()[5].Lo
	w.Seeds = cwk.Seeds{Row: []int{32_000, 9, 0, edge, 20_000, edge - 1}, Class: []int{0, 1, 2, 1, 0, 2}, Classes: 3}
	return w
}

// On a graph of many ranges the walk is what row by row sums give.
func TestManyRanges(t *testing.T) {
	w := hubWalk[float64](t)
	a := w.A.(*sparse.CSR)
	n, columns := len(w.Degrees), 6
	want := sparse.NewBlock[float64](n*(w.Steps+1), columns)
	for step := range w.Steps + 1 {
		for i := range n {
			row := want.Row(step*n + i)
			seed := slices.Index(w.Seeds.Row, i)
			for j := range row {
				class, alpha, first := j%3, w.Variants[j/3].Absorb, 0.0
				if seed >= 0 && w.Seeds.Class[seed] == class {
					first = 1
				}
				switch {
				case step == 0 && seed < 0:
					row[j] = 1.0 / 3
				case step == 0:
					row[j] = first
				default:
					col, _ := a.Row(i)
					for _, c := range col {
						row[j] += want.Row((step-1)*n + int(c))[j] / float64(len(col))
					}
					if seed >= 0 {
						row[j] = (1-alpha)*row[j] + alpha*first
					}
				}
			}
		}
	}
	testgraph.Close(t, stack(t, w), want, 1e-12, 0)
	picks := []cwk.Pick{{Row: 30_000}, {Row: 0, Variant: 1}, {Row: 17}, {Row: 9, Variant: 1}, {Row: 20_000}}
	f, err := w.Collect(background, 1, picks)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range picks {
		for j := range f.Cols {
			if got, want := f.At(i, j), want.At((1+j/3)*n+p.Row, 3*p.Variant+j%3); math.Abs(got-want) > 1e-12 {
				t.Errorf("pick %v, column %d: %v, want %v", p, j, got, want)
			}
		}
	}
}

func TestWorkersAgree(t *testing.T) {
	t.Run("float32", testWorkersAgree[float32])
	t.Run("float64", testWorkersAgree[float64])
}

func testWorkersAgree[T sparse.Float](t *testing.T) {
	w := hubWalk[T](t)
	w.Workers = 1
	walk := stack(t, w)
	weights := sparse.NewBlock[float64](w.Seeds.Classes*(w.Steps+1), 3)
	for i := range weights.Rows {
		for o := range 3 {
			weights.Row(i)[o] = math.Sin(float64(3*i + o))
		}
	}
	scores := func() *sparse.Block[float64] {
		dst := sparse.NewBlock[float64](len(w.Degrees), 3)
		if err := w.ScoresTo(background, dst, 0, weights, []float64{1, 2, 3}); err != nil {
			t.Fatal(err)
		}
		return dst
	}
	rows, cols := cwk.Plain(everyRow(w.A)[:3000]), cwk.Plain(w.Seeds.Row)
	one, block := scores(), func() *sparse.Block[T] { k, _ := gram(t, w, 0, rows, cols); return k }
	kernel := block()
	inMemory := w.A
	for _, a := range []sparse.Matrix{inMemory, copies{inMemory}} {
		for _, workers := range []int{1, 2, 7} {
			w.A, w.Workers = a, workers
			sameBits(t, "walk", stack(t, w), walk)
			sameBits(t, "scores", scores(), one)
			sameBits(t, "kernel", block(), kernel)
		}
	}
}

// Every row is visited once for each step, and its step is over everywhere
// before the next begins.
func TestVisits(t *testing.T) {
	w := hubWalk[float64](t)
	w.Workers = 3
	var mu sync.Mutex
	step, visits := 0, make([]int, len(w.Degrees))
	err := w.Run(background, func(s int, rows sparse.Rows, p *sparse.Block[float64]) {
		mu.Lock()
		defer mu.Unlock()
		if s != step {
			for i, v := range visits {
				if v != 1 {
					t.Fatalf("row %d has %d visits in step %d", i, v, step)
				}
			}
			clear(visits)
			step++
		}
		if s != step || rows.Worker < 0 || rows.Worker >= w.Workers {
			t.Errorf("step %d in step %d, worker %d", s, step, rows.Worker)
		}
		for i := rows.Lo; i < rows.Hi; i++ {
			visits[i]++
		}
	})
	if err != nil || step != w.Steps || slices.Min(visits) != 1 {
		t.Errorf("%v after %d steps", err, step)
	}
}

// Rows of P_t are distributions, in every variant.
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

// Other names for the nodes and another order of the seeds permute the rows
// and change nothing else. On a regular graph of degree 4 with α = 1/2 and 4
// classes all numbers are multiples of 2^-50, so that no order of summation
// rounds.
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
		f, err := w.Collect(background, 0, cwk.Plain(everyRow(a)))
		if err != nil {
			t.Fatal(err)
		}
		g, err := renamed.Collect(background, 0, cwk.Plain(order))
		if err != nil {
			t.Fatal(err)
		}
		sameBits(t, "renamed", g, f)
	})
}

// Features of a shorter walk are a prefix of those of a longer one.
func TestPrefix(t *testing.T) {
	w := randomWalk[float64](t, 5)
	picks := cwk.Plain(everyRow(w.A))
	long, err := w.Collect(background, 0, picks)
	if err != nil {
		t.Fatal(err)
	}
	for steps := range w.Steps + 1 {
		for from := range steps + 1 {
			w.Steps = steps
			short, err := w.Features(background, from, picks)
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

// Nodes that no seed reaches keep their prior, isolated ones even if it is
// their own.
func TestUnreachedKeepPrior(t *testing.T) {
	a := testgraph.TwoCliques(4)
	w := &cwk.Walk[float64]{A: a, Degrees: degrees(t, a), Steps: 30, Variants: []cwk.Variant{{Absorb: 0.7}}, Prior: cwk.Empirical(2)}
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
	w.A, w.Degrees, w.Prior = lone, make([]float64, 3), cwk.Given(prior)
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

// The walk follows the links of a row: 0 → 1 → 2 learns from 2, not the other
// way round.
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

// A cancelled context ends a walk within a range.
func TestCancel(t *testing.T) {
	w := hubWalk[float64](t)
	ctx, cancel := context.WithCancel(background)
	w.Progress = func(done, _ int) {
		if done == 2 {
			cancel()
		}
	}
	last := 0
	var mu sync.Mutex
	err := w.Run(ctx, func(step int, _ sparse.Rows, _ *sparse.Block[float64]) {
		mu.Lock()
		last = max(last, step)
		mu.Unlock()
	})
	if !errors.Is(err, context.Canceled) || last != 2 {
		t.Errorf("%v at step %d", err, last)
	}
}

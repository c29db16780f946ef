package cwk_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestSlabsAgree(t *testing.T) {
	t.Run("float32", testSlabsAgree[float32])
	t.Run("float64", testSlabsAgree[float64])
}

func testSlabsAgree[T sparse.Float](t *testing.T) {
	w := randomWalk[T](t, 11)
	w.Prior = cwk.Prior{Given: givenPrior(11, len(w.Degrees), w.Seeds.Classes)}
	whole := stack(t, w)
	n, columns := len(w.Degrees), whole.Cols
	for _, width := range []int{1, 2, 3, 5, columns} {
		for lo := 0; lo < columns; lo += width {
			hi := min(lo+width, columns)
			slab := sparse.NewBlock[T](whole.Rows, hi-lo)
			err := w.Run(background, lo, hi, func(step int, rows sparse.Rows, p *sparse.Block[T]) {
				for i := rows.Lo; i < rows.Hi; i++ {
					copy(slab.Row(step*n+i), p.Row(i))
				}
			}, nil)
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
	all := w.CollectBytes(2, len(picks))
	for memory := all; ; memory -= 97 {
		w.Memory = memory
		sweeps := 0
		w.Progress = func(_ string, done, all int64) {
			if sweeps++; int(done) != sweeps || int(all)%w.Steps != 0 || done > all {
				t.Errorf("sweep %d reported as %d of %d", sweeps, done, all)
			}
		}
		got, err := w.Collect(background, 2, picks)
		var short *budget.Error
		if errors.As(err, &short) && errors.Is(err, sparse.ErrMemory) {
			if short.Limit != memory || short.Need <= memory || memory < short.Need-97 {
				t.Errorf("%v", short)
			}
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if slabs = max(slabs, sweeps/w.Steps); sweeps == w.Steps && memory < all/2 {
			t.Errorf("%d bytes, but one slab", memory)
		}
		sameBits(t, "less memory", got, want)
	}
	if slabs != columns {
		t.Errorf("%d slabs at the lowest limit, want one for each of %d columns", slabs, columns)
	}
}

func TestLanesAgree(t *testing.T) {
	w := randomWalk[float32](t, 13)
	for range 4 {
		w.Variants = append(w.Variants, w.Variants...)
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
	all := w.CollectBytes(0, len(picks))
	for _, workers := range []int{1, 2, 7} {
		for _, memory := range []int64{0, all, all - 20_000} {
			w.Workers, w.Memory = workers, memory
			last, sweeps := 0, 0
			w.Progress = func(_ string, done, all int64) {
				if int(done) != last+1 {
					t.Errorf("sweep %d after %d", done, last)
				}
				last, sweeps = int(done), int(all)
			}
			got, err := w.Collect(background, 0, picks)
			if err != nil {
				t.Fatal(err)
			}
			sameBits(t, "slabs", got, want)
			if last != sweeps || (sweeps == w.Steps) != (memory == 0 || memory == all) {
				t.Errorf("%d workers: %d of %d sweeps", workers, last, sweeps)
			}
		}
	}
}

// copies overwrites the memory of each panel after the visit, as a matrix on disk does.
type copies struct{ sparse.Matrix }

func (m copies) SweepRows(ctx context.Context, lo, hi, workers int, visit func(int, sparse.Panel) error) error {
	return m.Matrix.SweepRows(ctx, lo, hi, workers, func(worker int, p sparse.Panel) error {
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

// The hub, whose row has several ranges, is a seed.
func hubWalk[T sparse.Float](t *testing.T) *cwk.Walk[T] {
	w := &cwk.Walk[T]{A: testgraph.Hub(), Steps: 4, Variants: []cwk.Variant{{Absorb: 0.25}, {Absorb: 0.75}}}
	w.Degrees = degrees(t, w.A)
	edge := w.A.Ranges()[5].Lo
	w.Seeds = cwk.Seeds{Row: []int{32_000, 9, 0, edge, 20_000, edge - 1}, Class: []int{0, 1, 2, 1, 0, 2}, Classes: 3}
	return w
}

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
	if testing.Short() {
		return
	}
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
		if err := w.Scores(background, dst, 0, weights, []float64{1, 2, 3}, nil); err != nil {
			t.Fatal(err)
		}
		return dst
	}
	rows, cols := plainPicks(everyRow(w.A)[:3000]), plainPicks(w.Seeds.Row)
	one, block := scores(), func() *sparse.Block[T] { k, _ := gram(t, w, 0, rows, cols); return k }
	kernel := block()
	inMemory := w.A
	for turn, a := range []sparse.Matrix{inMemory, copies{inMemory}} {
		for _, workers := range testgraph.Workers(turn) {
			w.A, w.Workers = a, workers
			sameBits(t, "walk", stack(t, w), walk)
			sameBits(t, "scores", scores(), one)
			sameBits(t, "kernel", block(), kernel)
		}
	}
}

func TestVisits(t *testing.T) {
	w := hubWalk[float64](t)
	w.Workers = 3
	var mu sync.Mutex
	step, visits := 0, make([]int, len(w.Degrees))
	err := w.Run(background, 0, w.Seeds.Classes*len(w.Variants), func(s int, rows sparse.Rows, p *sparse.Block[float64]) {
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
	}, nil)
	if err != nil || step != w.Steps || slices.Min(visits) != 1 {
		t.Errorf("%v after %d steps", err, step)
	}
}

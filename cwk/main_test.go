package cwk_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"go.uber.org/goleak"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var background = context.Background()

func walkOn[T sparse.Float](g testgraph.Graph, alpha float64, prior cwk.Prior, steps int) *cwk.Walk[T] {
	return &cwk.Walk[T]{
		A: g.A, Degrees: g.Degrees, Prior: prior, Steps: steps,
		Seeds:    cwk.Seeds{Row: g.Train, Class: g.TrainClass, Classes: len(g.Classes)},
		Variants: []cwk.Variant{{Absorb: alpha}},
	}
}

// randomWalk returns a walk on a graph of 40 nodes, some isolated, with self loops, 9 seeds, 3 classes and four
// variants.
func randomWalk[T sparse.Float](t testgraph.TB, rngSeed uint64) *cwk.Walk[T] {
	t.Helper()
	const nodes, seeds, classes = 40, 9, 3
	rng := rand.New(rand.NewPCG(rngSeed, 1))
	w := &cwk.Walk[T]{A: testgraph.Random(rngSeed, nodes, 60, true), Steps: 6}
	w.Degrees = degrees(t, w.A)
	w.Seeds.Classes = classes
	for i, row := range rng.Perm(nodes)[:seeds] {
		w.Seeds.Row = append(w.Seeds.Row, row)
		w.Seeds.Class = append(w.Seeds.Class, i%classes)
	}
	hidden := func() []bool {
		h := make([]bool, seeds)
		for i := range h {
			h[i] = rng.IntN(2) == 0
		}
		return h
	}
	w.Variants = []cwk.Variant{{Absorb: 0}, {Absorb: 0.25, Hidden: hidden()}, {Absorb: rng.Float64(), Hidden: hidden()}, {Absorb: 1}}
	return w
}

func givenPrior(rngSeed uint64, rows, classes int) *sparse.Block[float64] {
	rng := rand.New(rand.NewPCG(rngSeed, 2))
	p := sparse.NewBlock[float64](rows, classes)
	for i := range rows {
		var sum float64
		for c := range classes {
			p.Row(i)[c] = rng.Float64()
			sum += p.Row(i)[c]
		}
		for c := range classes {
			p.Row(i)[c] /= sum
		}
	}
	return p
}

func plainPicks(rows []int) []cwk.Pick { return cwk.Picks(rows, cwk.Seeds{}, nil) }

func stack[T sparse.Float](t testgraph.TB, w *cwk.Walk[T]) *sparse.Block[T] {
	t.Helper()
	all := sparse.NewBlock[T](len(w.Degrees)*(w.Steps+1), w.Seeds.Classes*len(w.Variants))
	err := w.Run(background, 0, all.Cols, func(step int, rows sparse.Rows, p *sparse.Block[T]) {
		for i := rows.Lo; i < rows.Hi; i++ {
			copy(all.Row(step*len(w.Degrees)+i), p.Row(i))
		}
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func gram[T sparse.Float](t testgraph.TB, w *cwk.Walk[T], from int, rows, cols []cwk.Pick) (*sparse.Block[T], []int) {
	t.Helper()
	k := sparse.NewBlock[T](len(rows), len(cols))
	var panels []int
	next := 0
	err := w.Gram(background, from, rows, cols, func(lo int, p *sparse.Block[T]) error {
		if lo != next || p.Cols != len(cols) || p.Stride != p.Cols {
			t.Errorf("panel of %d×%d, stride %d, at row %d, want row %d", p.Rows, p.Cols, p.Stride, lo, next)
		}
		for i := range p.Rows {
			copy(k.Row(lo+i), p.Row(i))
		}
		next += p.Rows
		panels = append(panels, p.Rows)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if next != len(rows) {
		t.Errorf("%d rows arrived, want %d", next, len(rows))
	}
	return k, panels
}

func sameBits[T sparse.Float](t testgraph.TB, what string, a, b *sparse.Block[T]) {
	t.Helper()
	if a.Rows != b.Rows || a.Cols != b.Cols {
		t.Fatalf("%s: %d×%d and %d×%d", what, a.Rows, a.Cols, b.Rows, b.Cols)
	}
	for i := range a.Rows {
		for j, v := range a.Row(i) {
			if u := b.Row(i)[j]; math.Float64bits(float64(v)) != math.Float64bits(float64(u)) {
				t.Fatalf("%s: (%d, %d) is %v and %v", what, i, j, v, u)
			}
		}
	}
}

func wide[T sparse.Float](b *sparse.Block[T]) *sparse.Block[float64] {
	w := sparse.NewBlock[float64](b.Rows, b.Cols)
	for i := range b.Rows {
		for j, v := range b.Row(i) {
			w.Row(i)[j] = float64(v)
		}
	}
	return w
}

func epsilon[T sparse.Float]() float64 {
	if math.Float64bits(float64(T(1)+T(0x1p-30))) == math.Float64bits(1) {
		return 0x1p-23
	}
	return 0x1p-52
}

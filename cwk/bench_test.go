package cwk_test

import (
	"context"
	"testing"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func benchWalk[T sparse.Float](b *testing.B, nodes, edges, classes, steps int) *cwk.Walk[T] {
	b.Helper()
	w := &cwk.Walk[T]{A: testgraph.Random(1, nodes, edges, false), Steps: steps}
	w.Degrees = degrees(b, w.A)
	w.Seeds.Classes = classes
	for i := 0; i < nodes; i += 20 {
		w.Seeds.Row = append(w.Seeds.Row, i)
		w.Seeds.Class = append(w.Seeds.Class, i/20%classes)
	}
	w.Variants = []cwk.Variant{{Absorb: 0.5}}
	return w
}

// A grid of 13 rates and 10 folds on a graph of Cora's size, with 7 classes.
func BenchmarkGrid(b *testing.B) {
	w := benchWalk[float32](b, 2708, 5278, 7, 200)
	fold := make([]int, len(w.Seeds.Row))
	for i := range fold {
		fold[i] = i % 10
	}
	w.Variants = nil
	var picks []cwk.Pick
	for a := range 13 {
		for _, p := range cwk.Picks(w.Seeds.Row, w.Seeds, fold) {
			picks = append(picks, cwk.Pick{Row: p.Row, Variant: p.Variant + len(w.Variants)})
		}
		w.Variants = append(w.Variants, cwk.FoldVariants(float64(a)/12, fold)...)
	}
	columns := w.Seeds.Classes * len(w.Variants)
	for b.Loop() {
		if _, err := w.Collect(context.Background(), 0, picks); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(w.A.NNZ())/float64(w.Steps*columns), "ns/entry/column")
}

func BenchmarkFeatures100k(b *testing.B) {
	b.Run("float32", benchFeatures[float32])
	b.Run("float64", benchFeatures[float64])
}

func benchFeatures[T sparse.Float](b *testing.B) {
	w := benchWalk[T](b, 100_000, 374_480, 5, 10)
	picks := plainPicks(everyRow(w.A))
	for b.Loop() {
		if _, err := w.Features(context.Background(), 0, picks, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGram(b *testing.B) {
	b.Run("float32", benchGram[float32])
	b.Run("float64", benchGram[float64])
}

func benchGram[T sparse.Float](b *testing.B) {
	w := benchWalk[T](b, 100_000, 374_480, 5, 10)
	rows := plainPicks(everyRow(w.A)[:10_000])
	for b.Loop() {
		err := w.Gram(context.Background(), 0, rows, plainPicks(w.Seeds.Row), func(int, *sparse.Block[T]) error { return nil })
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(rows)*len(w.Seeds.Row)*w.Seeds.Classes*(w.Steps+1)), "ns/product")
}

func BenchmarkScores(b *testing.B) {
	w := benchWalk[float32](b, 100_000, 374_480, 5, 10)
	weights := sparse.NewBlock[float64](w.Seeds.Classes*(w.Steps+1), 10)
	scores := sparse.NewBlock[float64](len(w.Degrees), weights.Cols)
	for b.Loop() {
		if err := w.Scores(context.Background(), scores, 0, weights, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func degrees(t testgraph.TB, a sparse.Matrix) []float64 {
	t.Helper()
	deg, err := sparse.Degrees(context.Background(), a, 0)
	if err != nil {
		t.Fatal(err)
	}
	return deg
}

func everyRow(a sparse.Matrix) []int {
	n, _ := a.Dims()
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

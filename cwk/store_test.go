package cwk_test

import (
	"path/filepath"
	"testing"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

func TestStoreAgrees(t *testing.T) {
	w := hubWalk[float32](t)
	a, n := w.A.(*sparse.CSR), len(w.Degrees)
	dir := filepath.Join(t.TempDir(), "hub")
	writer, err := shard.Create(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		col, val := a.Row(i)
		if err := writer.Append(col, val, nil); err != nil {
			t.Fatal(err)
		}
	}
	writer.Nodes = shard.NewNumericNodes(n)
	if err := writer.Commit(background); err != nil {
		t.Fatal(err)
	}
	rows := plainPicks(everyRow(a)[:500])
	walk, kernel := stack(t, w), kernelOf(t, w, rows)
	for _, stream := range []bool{false, true} {
		store, err := shard.Open(background, dir, &shard.Options{Stream: stream})
		if err != nil {
			t.Fatal(err)
		}
		w.A, w.Degrees = store, store.Degrees
		for _, w.Workers = range []int{1, 2, 7} {
			sameBits(t, "walk", stack(t, w), walk)
			sameBits(t, "kernel", kernelOf(t, w, rows), kernel)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func kernelOf[T sparse.Float](t *testing.T, w *cwk.Walk[T], rows []cwk.Pick) *sparse.Block[T] {
	k, _ := gram(t, w, 0, rows, plainPicks(w.Seeds.Row))
	return k
}

package test

import (
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk"
)

func TestConcurrentJobs(t *testing.T) {
	dir, labels := coraStore(t)
	single := openStore(t, dir)
	want, err := single.Classify(t.Context(), labels, &heatwalk.ClassifyOptions{Method: "lgc:alpha=0.9"})
	if err != nil {
		t.Fatal(err)
	}
	id := single.IDs()[:3]
	kernel, _, err := single.Kernel(t.Context(), "diffusion:beta=2", id, id, 0)
	if err != nil {
		t.Fatal(err)
	}
	g := openStore(t, dir)
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			got, err := g.Classify(t.Context(), labels, &heatwalk.ClassifyOptions{Method: "lgc:alpha=0.9"})
			if err != nil || !slices.Equal(got.Class, want.Class) {
				t.Errorf("other classes, %v", err)
			}
		})
		group.Go(func() {
			got, _, err := g.Leave(1<<20, "a table").Kernel(t.Context(), "diffusion:beta=2", id, id, 0)
			if err != nil || !mat.Equal(got, kernel) {
				t.Errorf("another kernel, %v", err)
			}
		})
	}
	group.Wait()
	handle := g.Leave(1, "nothing")
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if err := handle.Close(); err != nil {
		t.Errorf("a second call of Close: %v", err)
	}
}

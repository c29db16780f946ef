package graphs

import (
	"testing"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/ingest/generate"
	"github.com/heatwalk/heatwalk/param"
)

// molecules draws a collection.
func molecules(t testing.TB, graphs, vertices int) *graphfile.Collection {
	t.Helper()
	c, err := generate.NewCollection(t.Context(), param.Values{
		"graphs": param.Of(graphs), "nodes": param.Of(vertices), "classes": param.Of(3), "noise": param.Of(0.3),
	}, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func BenchmarkSequence1000(b *testing.B)     { bench(b, "label-sequence", 1000, 20) }
func BenchmarkPair1000(b *testing.B)         { bench(b, "label-pair", 1000, 20) }
func BenchmarkPatterns1000(b *testing.B)     { bench(b, "cyclic-patterns", 1000, 20) }
func BenchmarkTanimoto1000(b *testing.B)     { bench(b, "tanimoto", 1000, 20) }
func BenchmarkPropagation10000(b *testing.B) { bench(b, "propagation", 10_000, 30) }

func bench(b *testing.B, name string, graphs, vertices int) {
	c := molecules(b, graphs, vertices)
	for b.Loop() {
		gramOf(b, name, c, nil, nil)
	}
}

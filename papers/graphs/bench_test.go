package graphs

import (
	"testing"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/test/contract"
)

func molecules(graphs, vertices int) *graphfile.Collection {
	return contract.Molecules(graphs, vertices, 3, 0.3, 1)
}

func BenchmarkSequence1000(b *testing.B) { bench(b, "label-sequence", 1000, 20) }
func BenchmarkPair1000(b *testing.B)     { bench(b, "label-pair", 1000, 20) }
func BenchmarkPatterns1000(b *testing.B) { bench(b, "cyclic-patterns", 1000, 20) }
func BenchmarkTanimoto1000(b *testing.B) { bench(b, "tanimoto", 1000, 20) }

func bench(b *testing.B, name string, graphs, vertices int) {
	c := molecules(graphs, vertices)
	for b.Loop() {
		gramOf(b, name, c, nil, nil)
	}
}

package generate

import (
	"io"
	"testing"
)

func BenchmarkBlockModel(b *testing.B) {
	g := made(b, "sbm", given{"nodes": 3_000_000, "edges": 30_000_000, "classes": 6, "homophily": 0.9}, 1)
	for b.Loop() {
		if err := g.EdgesTo(b.Context(), io.Discard); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(g.Size().Lines), "ns/line")
}

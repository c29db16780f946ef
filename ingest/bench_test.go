package ingest

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/ingest/generate"
	"github.com/heatwalk/heatwalk/ingest/internal/lines"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

var benchScale = flag.Int("bench-scale", 16, "scale of the R-MAT graph of the benchmarks")

func rmatText(b *testing.B) []byte {
	b.Helper()
	var text bytes.Buffer
	g, err := generate.New("rmat", param.Values{"scale": param.Of(*benchScale)}, 1, 0)
	if err != nil {
		b.Fatal(err)
	}
	if err := g.EdgesTo(b.Context(), &text); err != nil {
		b.Fatal(err)
	}
	return text.Bytes()
}

func BenchmarkScan(b *testing.B) {
	text := append(rmatText(b), make([]byte, textio.Slack)...)
	text = text[:len(text)-textio.Slack]
	t := lines.Template{Sep: table.Tab, Limit: 1 << 32}
	code := make([]uint32, 0, textio.ChunkBytes)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		for at := 0; at < len(text); {
			end := min(at+textio.ChunkBytes, len(text))
			end = at + bytes.LastIndexByte(text[at:end], '\n') + 1
			if n, _, _ := t.Scan(text[:end], at, code[:0], nil); n != end {
				b.Fatalf("stopped at %d", n)
			}
			at = end
		}
	}
}

func BenchmarkRun(b *testing.B) {
	text := rmatText(b)
	named := func() string {
		var s strings.Builder
		for line := range bytes.Lines(text) {
			u, v, _ := bytes.Cut(bytes.TrimSpace(line), []byte{table.Tab})
			fmt.Fprintf(&s, "user_%s\titem %s\n", u, v)
		}
		return s.String()
	}
	weighted := func() string { return strings.ReplaceAll(string(text), "\n", "\t0.25\n") }
	for _, test := range []struct {
		name string
		text func() string
		c    Config
	}{
		{"numbers", func() string { return string(text) }, Config{}},
		{"weighted", weighted, Config{Duplicates: SumDuplicates}},
		{"names", named, Config{}},
	} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/workers=%d", test.name, workers), func(b *testing.B) {
				content := test.text()
				path := filepath.Join(b.TempDir(), "edges.tsv")
				if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
					b.Fatal(err)
				}
				var sync, reading float64
				b.SetBytes(int64(len(content)))
				for b.Loop() {
					c := test.c
					c.Workers, c.Force = workers, true
					c.Store = &shard.WriteOptions{}
					report, err := Run(context.Background(), filepath.Join(b.TempDir(), "graph"), []string{path}, &c)
					if err != nil {
						b.Fatal(err)
					}
					sync += report.SecondsSync
					reading += report.SecondsRead
				}
				b.ReportMetric(sync/float64(b.N), "s-sync/op")
				b.ReportMetric(reading/float64(b.N), "s-read/op")
			})
		}
	}
}

package textio

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
)

func BenchmarkGzip(b *testing.B) {
	var text, stored bytes.Buffer
	random := rand.New(rand.NewPCG(1, 0))
	for range 1 << 20 {
		fmt.Fprintf(&text, "%d\t%d\n", random.Uint32N(1<<20), random.Uint32N(1<<20))
	}
	w := gzip.NewWriter(&stored)
	if _, err := w.Write(text.Bytes()); err != nil {
		b.Fatal(err)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "edges.gz")
	if err := os.WriteFile(path, stored.Bytes(), 0o666); err != nil {
		b.Fatal(err)
	}
	b.Run("inflater", func(b *testing.B) {
		b.SetBytes(int64(text.Len()))
		for b.Loop() {
			r, err := gzip.NewReader(bytes.NewReader(stored.Bytes()))
			if err != nil {
				b.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, r); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("chunks/workers=%d", workers), func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				r, err := Open(b.Context(), path, nil)
				if err != nil {
					b.Fatal(err)
				}
				if err := r.Chunks(workers, func(int, *Chunk) error { return nil }); err != nil {
					b.Fatal(err)
				}
				r.Close()
			}
		})
	}
}

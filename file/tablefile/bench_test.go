package tablefile

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

func BenchmarkVectors(b *testing.B) {
	var text bytes.Buffer
	rng := rand.New(rand.NewPCG(1, 1))
	rows := make([][]float32, 20_000)
	for i := range rows {
		rows[i] = make([]float32, 50)
		for j := range rows[i] {
			rows[i][j] = float32(rng.NormFloat64())
		}
	}
	writeRows(b, &text, LIBSVM, &Matrix{Rows: Axis{N: len(rows)}, Cols: Axis{N: 50}}, rows)
	path := filepath.Join(b.TempDir(), "x.svm")
	if err := os.WriteFile(path, text.Bytes(), 0o666); err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	f, err := Inspect(ctx, path, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("inspect", func(b *testing.B) {
		b.SetBytes(int64(text.Len()))
		for b.Loop() {
			if _, err := Inspect(ctx, path, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(text.Len()))
		for b.Loop() {
			if err := Read(ctx, f, func([]byte, []float32) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	})
}

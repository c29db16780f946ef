package featurefile

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/heatwalk/heatwalk/export"
)

// BenchmarkVectors inspects and reads text of float32 values.
func BenchmarkVectors(b *testing.B) {
	var text bytes.Buffer
	l := export.NewLIBSVM(&text)
	rng := rand.New(rand.NewPCG(1, 1))
	row := make([]float32, 50)
	for i := range 20_000 {
		for j := range row {
			row[j] = float32(rng.NormFloat64())
		}
		if err := export.Features(l, strconv.Itoa(i%3), row); err != nil {
			b.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
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

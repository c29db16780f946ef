package ingest

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestSpilledStoresAreTheSame compares stores made with little memory, of
// every kind of ids, weights and orders, with those made with any.
func TestSpilledStoresAreTheSame(t *testing.T) {
	const lines = 150_000
	for i, test := range []struct {
		name string
		c    Config
		line func(r *rand.Rand) string
	}{
		{"numbers", Config{}, func(r *rand.Rand) string { return fmt.Sprintf("%d\t%d", r.IntN(3000), r.IntN(3000)) }},
		{"gaps", Config{Directed: true, Order: DegreeOrder}, func(r *rand.Rand) string {
			return fmt.Sprintf("%d\t%d", 1000*r.IntN(3000), 1000*r.IntN(3000))
		}},
		{"wide", Config{}, func(r *rand.Rand) string {
			return fmt.Sprintf("%d\t%d", 4_000_000_000+r.IntN(3000), 4_000_000_000+r.IntN(3000))
		}},
		{"names", Config{SelfLoops: KeepLoops, Order: CuthillMcKeeOrder}, func(r *rand.Rand) string {
			return fmt.Sprintf("n%d\tn%d", r.IntN(3000), r.IntN(3000))
		}},
		{"late name", Config{}, func(r *rand.Rand) string {
			if r.IntN(lines) == 0 {
				return "x\ty"
			}
			return fmt.Sprintf("%d\t%d", r.IntN(3000), r.IntN(3000))
		}},
		{"weights", Config{Duplicates: SumDuplicates}, func(r *rand.Rand) string {
			return fmt.Sprintf("%d\t%d\t%g", r.IntN(3000), r.IntN(3000), r.Float64())
		}},
		{"first weights", Config{Duplicates: FirstDuplicates, Directed: true}, func(r *rand.Rand) string {
			return fmt.Sprintf("%d\t%d\t%d", r.IntN(300), r.IntN(300), r.IntN(100))
		}},
		{"one weight", Config{Duplicates: MaxDuplicates}, func(r *rand.Rand) string {
			return fmt.Sprintf("%d\t%d\t0.3", r.IntN(300), r.IntN(300))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(i), 7))
			var text strings.Builder
			for range lines {
				fmt.Fprintln(&text, test.line(r))
			}
			paths := write(t, file{"edges.tsv", text.String()})
			dir, report, err := ingestInto(t, fixed(test.c), paths...)
			if err != nil {
				t.Fatal(err)
			}
			want := contents(t, dir)
			for _, workers := range []int{1, 3} {
				for _, memory := range []int64{1 << 20, 3 << 20, report.PeakBytes * 5 / 4} {
					c := test.c
					c.Workers, c.TempDir = workers, t.TempDir()
					c.Memory = memory + int64(workers)*workerBytes + pageBytes
					if c.Order == CuthillMcKeeOrder {
						c.Memory += 4 * 2 * lines
					}
					left := filepath.Join(c.TempDir, ".heatwalk-edges.heatwalk-tmp-01234567")
					if err := os.WriteFile(left, nil, 0o666); err != nil {
						t.Fatal(err)
					}
					dir, report, err := ingestInto(t, fixed(c), paths...)
					if err != nil {
						t.Fatal(err)
					}
					if got := contents(t, dir); !maps.Equal(got, want) {
						t.Errorf("another store with %d workers and %d bytes", workers, memory)
					}
					if memory == 1<<20 && report.SpilledBytes < 2*lines {
						t.Errorf("%d bytes on disk", report.SpilledBytes)
					}
					if names, err := os.ReadDir(c.TempDir); err != nil || len(names) > 0 && report.SpilledBytes > 0 {
						t.Errorf("left in the temporary directory: %v, %v", names, err)
					}
				}
			}
		})
	}
}

// TestRecords packs and unpacks codes and weights.
func TestRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		top := rapid.Uint32().Draw(t, "top") >> rapid.IntRange(0, 31).Draw(t, "shift")
		code := rapid.SliceOfN(rapid.Uint32Range(0, top), 0, 100).Draw(t, "code")
		code = code[:len(code)&^1]
		width := codeWidth(top)
		b := packCodes([]byte("head"), code, width)
		if want := 4 + (len(code)*int(width)+7)/8; len(b) != want {
			t.Fatalf("%d bytes, want %d", len(b), want)
		}
		got := make([]uint32, len(code))
		unpackCodes(got, append(b, make([]byte, packSlack)...)[4:], width)
		for i := range got {
			if got[i] != code[i] {
				t.Fatalf("code %d is %d, want %d (%d bits)", i, got[i], code[i], width)
			}
		}
		weight := rapid.SliceOfN(rapid.OneOf(rapid.Just(0.1), rapid.Just(0.25), rapid.Just(2.0), rapid.Float64Min(0)), 0, 20).Draw(t, "weight")
		form := formOf(weight)
		back := make([]float64, len(weight))
		weightsTo(back, appendWeights(nil, weight, form), form)
		for i := range back {
			if math.Float64bits(back[i]) != math.Float64bits(weight[i]) {
				t.Fatalf("weight %v came back as %v in form %d", weight[i], back[i], form)
			}
		}
	})
}

package ingest

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestSpilledStoresAreTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const lines = 150_000
	for i, test := range testgraph.Sample(t, 2, []struct {
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
		{"names", Config{KeepLoops: true, Order: LocalityOrder}, func(r *rand.Rand) string {
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
	}) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(i), 7))
			paths := write(t, file{"edges.tsv", edgeText(lines, func(int) string { return test.line(r) })})
			roomy := test.c
			roomy.TempDir = t.TempDir()
			const left = ".heatwalk-edges.heatwalk-tmp-01234567" // a killed run left this file
			if err := os.WriteFile(filepath.Join(roomy.TempDir, left), nil, 0o666); err != nil {
				t.Fatal(err)
			}
			dir, report, err := ingestInto(t, fixed(roomy), paths...)
			if err != nil {
				t.Fatal(err)
			}
			if names, err := os.ReadDir(roomy.TempDir); err != nil || len(names) > 0 {
				t.Errorf("left in the temporary directory by a run that has no use for it: %v, %v", names, err)
			}
			want := contents(t, dir)
			for _, workers := range []int{1, 3} {
				for _, memory := range []int64{1 << 20, 3 << 20, report.PeakBytes * 5 / 4} {
					if workers == 1 && memory > 1<<20 && !testgraph.Hunt {
						continue
					}
					c := test.c
					c.Workers, c.TempDir = workers, t.TempDir()
					c.Memory = memory + int64(workers)*workerBytes + pageBytes
					if c.Order == LocalityOrder {
						c.Memory += 12 * 2 * lines
					}
					if err := os.WriteFile(filepath.Join(c.TempDir, left), nil, 0o666); err != nil {
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
					if names, err := os.ReadDir(c.TempDir); err != nil || len(names) > 0 {
						t.Errorf("left in the temporary directory: %v, %v", names, err)
					}
				}
			}
		})
	}
}

func TestSpillIsUsedAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	paths := write(t, file{"edges.tsv", edgeText(300_000, func(i int) string {
		return fmt.Sprintf("%d\t%d", i%2000, 2000+i/2000)
	})})
	spilled := func(c Config) int64 {
		wantDir, _, err := ingestInto(t, fixed(c), paths...)
		if err != nil {
			t.Fatal(err)
		}
		c.Workers, c.Memory, c.TempDir = 1, workerBytes+pageBytes+1<<20, t.TempDir()
		dir, report, err := ingestInto(t, fixed(c), paths...)
		if err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(contents(t, dir), contents(t, wantDir)) {
			t.Errorf("%+v: another store", c)
		}
		return report.SpilledBytes
	}
	if again, apart := spilled(Config{}), spilled(Config{Duplicates: ErrorDuplicates}); again > apart*4/5 {
		t.Errorf("%d bytes on disk, %d where the lines are kept", again, apart)
	}
	spilled(Config{Directed: true})
}

func TestIDsMustFit(t *testing.T) {
	const lines = 40_000
	name := func(i int) string { return fmt.Sprintf("%xé%d", i*7919%100_003, i%9) }
	for _, test := range []struct {
		name string
		c    Config
		line func(i int) string
		list bool // the list of nodes has the ids too
	}{
		{"names", Config{}, func(i int) string { return name(i) + "\t" + name(i+1) }, false},
		{"numbers far apart", Config{Order: DegreeOrder}, func(i int) string { return fmt.Sprintf("%d\t%d", i*100_003, i/2*100_003) }, false},
		{"names after numbers", Config{}, func(i int) string {
			if i < lines/2 {
				return fmt.Sprintf("%d\t%d", i, i/2)
			}
			return name(i) + "\t" + name(i/2)
		}, false},
		{"listed", Config{}, func(i int) string { return name(i) + "\t" + name(i/2) }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if testing.Short() && test.name != "names after numbers" {
				t.Skip("refused and advised as the others are")
			}
			t.Parallel()
			files := []file{{"edges.tsv", edgeText(lines, test.line)}}
			if test.list {
				files = append(files, file{"nodes", edgeText(lines, name)})
			}
			paths := write(t, files...)
			c := test.c
			if test.list {
				c.Nodes = paths[1]
			}
			dir, _, err := ingestInto(t, fixed(c), paths[0])
			if err != nil {
				t.Fatal(err)
			}
			want := contents(t, dir)
			c.Workers, c.Memory = 2, 2*workerBytes+pageBytes+1<<20
			refused := func(err error) int64 {
				var over *LimitError
				if !errors.As(err, &over) || over.Need <= c.Memory {
					t.Fatalf("with %d bytes: error %v", c.Memory, err)
				}
				return over.Need
			}
			_, _, err = ingestInto(t, fixed(c), paths[0])
			var report *Report
			for try := 0; err != nil; try++ {
				if c.Memory = refused(err); try == 3 {
					t.Fatalf("with the %d bytes that were asked for last: %v", c.Memory, err)
				}
				dir, report, err = ingestInto(t, fixed(c), paths[0])
			}
			if got := contents(t, dir); !maps.Equal(got, want) {
				t.Errorf("another store with %d bytes, %d of them on disk", c.Memory, report.SpilledBytes)
			}
		})
	}
}

func TestProgressOfFillings(t *testing.T) {
	const lines = 300_000
	paths := write(t, file{"e.txt", edgeText(lines, func(i int) string { return fmt.Sprintf("%d %d", i%5003, i*7919%10_007) })})
	var steps []int64
	c := &Config{Directed: true, Workers: 2, Memory: 2*workerBytes + pageBytes + 1<<20}
	c.Progress = func(stage string, done, total int64) {
		if stage == writingStage {
			steps = append(steps, done)
			if total != 2*10_007 {
				t.Errorf("%d of %d", done, total)
			}
		}
	}
	if _, _, err := ingestInto(t, c, paths...); err != nil {
		t.Fatal(err)
	}
	largest := int64(0)
	for i, done := range steps[1:] {
		largest = max(largest, done-steps[i])
	}
	if !slices.IsSorted(steps) || steps[len(steps)-1] < 2*10_007-1 || largest > 2*10_007/5 {
		t.Errorf("steps %v", steps)
	}
}

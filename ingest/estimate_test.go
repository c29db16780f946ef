package ingest

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/ingest/internal/sort"
	"github.com/heatwalk/heatwalk/spec"
)

// TestEstimate compares what is guessed with what comes of it.
func TestEstimate(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds, with one worker")
	}
	r := rand.New(rand.NewPCG(1, 5))
	skewed := func(n int) int { return int(float64(n) * r.Float64() * r.Float64()) }
	for _, test := range []struct {
		name string
		c    Config
		line func() string
	}{
		{"numbers", Config{}, func() string { return fmt.Sprintf("%d %d", skewed(50_000), skewed(50_000)) }},
		{"few numbers", Config{Directed: true}, func() string { return fmt.Sprintf("%d %d", r.IntN(1000), r.IntN(1000)) }},
		{"weights", Config{Duplicates: SumDuplicates}, func() string { return fmt.Sprintf("%d %d %g", skewed(50_000), skewed(50_000), r.Float64()) }},
		{"names", Config{Duplicates: MaxDuplicates}, func() string { return fmt.Sprintf("user%d item%d", skewed(50_000), skewed(50_000)) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := write(t, file{"e.txt", edgeText(400_000, func(int) string { return test.line() })})
			c := test.c
			c.Workers = 1
			plan, err := Estimate(t.Context(), path, &c)
			if err != nil {
				t.Fatal(err)
			}
			dir, report, err := ingestInto(t, &c, path...)
			if err != nil {
				t.Fatal(err)
			}
			within := func(what string, guess, is int64, factor float64) {
				if guess < is || float64(guess) > factor*float64(is) {
					t.Errorf("%s: guessed %d, is %d", what, guess, is)
				}
			}
			within("lines", plan.Lines*101/100, report.Lines, 1.05)
			within("nodes", plan.Nodes, report.Nodes, 1.5)
			within("disk", plan.Disk, size(t, dir), 1.6)
			if plan.Temp != 0 || plan.Passes != 1 {
				t.Errorf("%d bytes of temporary files, %d passes", plan.Temp, plan.Passes)
			}
			c.Memory = spec.Sum(plan.Memory) // with so much hardly a line goes to disk
			if _, report, err = ingestInto(t, &c, path...); err != nil || report.SpilledBytes > report.Lines/3 {
				t.Errorf("with %d bytes: error %v, %d bytes of temporary files", c.Memory, err, report.SpilledBytes)
			}
			c.Memory = spec.Sum(plan.Memory) * 7 / 8
			if plan, err = Estimate(t.Context(), path, &c); err != nil {
				t.Fatal(err)
			}
			if _, report, err = ingestInto(t, &c, path...); err != nil {
				t.Fatal(err)
			}
			if plan.Temp < report.SpilledBytes || plan.Temp > 17*report.Lines {
				t.Errorf("%d bytes of temporary files, guessed %d", report.SpilledBytes, plan.Temp)
			}
			if spec.Sum(plan.Memory) > c.Memory {
				t.Errorf("%v in memory, limit %d", plan.Memory, c.Memory)
			}
			c.Memory = 1 << 20
			var over *LimitError
			if _, err = Estimate(t.Context(), path, &c); !errors.As(err, &over) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestEstimateFromSamples: what a twelfth of a file tells of it, packed or not, bounds
// what it holds, and not by much, whether its ids are few or every line has another.
func TestEstimateFromSamples(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	const lines = 150_000
	for _, c := range []struct{ users, items int }{{1500, 1500}, {lines, 2}} {
		nodes := int64(c.users + c.items)
		r := rand.New(rand.NewPCG(7, 5))
		text := edgeText(lines, func(i int) string {
			return fmt.Sprintf("user%d item%d %g", i*7919%c.users, r.IntN(c.items), r.Float64())
		})
		for _, f := range []file{{"e.txt", text}, {"e.txt.gz", packed(text)}} {
			g := &guess{sampled: newSampled(), share: int64(len(text)) / 12}
			plan, err := g.estimate(t.Context(), write(t, f))
			if err != nil {
				t.Fatal(err)
			}
			if g.whole || plan.Lines < lines*98/100 || plan.Lines > lines*110/100 || plan.Nodes < nodes || plan.Nodes > nodes*11/10 || !g.weighted {
				t.Errorf("%s, all of it %v: %d lines with weights %v of %d nodes are guessed, want %d of %d", f.name, g.whole, plan.Lines, g.weighted, plan.Nodes, lines, nodes)
			}
		}
	}
}

// TestEstimateOfHubs holds that what is accepted with little memory is not refused
// by the run, and that not much more is asked for than it needs.
func TestEstimateOfHubs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	r := rand.New(rand.NewPCG(3, 9))
	path := write(t, file{"e.txt", edgeText(400_000, func(i int) string {
		if i%2 == 0 {
			return fmt.Sprintf("7 %d", r.IntN(200_000))
		}
		return fmt.Sprintf("%d %d", r.IntN(50_000), r.IntN(50_000))
	})})
	for _, order := range []Order{DefaultOrder, DegreeOrder} {
		accepted, ran := int64(0), int64(0) // the least
		for memory := int64(32 << 20); memory > 12<<20; memory = memory * 7 / 8 {
			c := fixed(Config{Order: order, Memory: memory, Workers: 2})
			_, refused := Estimate(t.Context(), path, c)
			_, _, err := ingestInto(t, c, path...)
			var over *LimitError
			if err != nil && !errors.As(err, &over) {
				t.Fatal(err)
			}
			if refused == nil && err != nil {
				t.Errorf("%v: %d bytes are planned for and then refused: %v", order, memory, err)
			}
			if refused == nil {
				accepted = memory
			}
			if err == nil {
				ran = memory
			}
		}
		if ran == 0 || accepted > ran*3/2 {
			t.Errorf("%v: %d bytes are asked for, %d are enough", order, accepted, ran)
		}
	}
}

// What is held until the last line is read is no more than the limit, beyond which lines go
// to disk, nor than what is held at the most.
func TestEstimateOfReading(t *testing.T) {
	path := write(t, file{"e.txt", edgeText(400_000, func(i int) string { return fmt.Sprintf("user%d item%d", i%5000, i%7001) })})
	for _, memory := range []int64{0, 9 << 20} {
		plan, err := Estimate(t.Context(), path, fixed(Config{Memory: memory, Workers: 1}))
		if err != nil {
			t.Fatal(err)
		}
		reading, most := spec.Sum(plan.Reading), spec.Sum(plan.Memory)
		if reading <= 0 || reading > most || memory > 0 && reading > memory {
			t.Errorf("limit %d: %d bytes while lines are read, %d at the most", memory, reading, most)
		}
		if memory == 0 && reading <= 9<<20 {
			t.Fatalf("%d bytes are no more than the limit", reading)
		}
	}
}

// size returns the bytes of the files in a directory.
func size(t *testing.T, dir string) int64 {
	t.Helper()
	var sum int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		sum += info.Size()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func TestEstimateOfWhatCannotBeLookedAt(t *testing.T) {
	if _, err := Estimate(t.Context(), []string{"-"}, nil); err == nil || !strings.Contains(err.Error(), "only once") {
		t.Errorf("standard input: %v", err)
	}
	if _, err := Estimate(t.Context(), []string{"/no/such"}, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	empty := write(t, file{"e.txt", ""}, file{"c.txt", "# nothing\n"})
	if p, err := Estimate(t.Context(), empty, nil); err != nil || p.Lines != 0 {
		t.Errorf("empty: %+v, %v", p, err)
	}
}

// TestEstimateOfGraphFiles: files of other tools are taken for as many edges and
// nodes as they hold.
func TestEstimateOfGraphFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	var metis, gml strings.Builder
	const n, long = 30_000, 60_000 // a circle with chords; a path
	fmt.Fprintf(&metis, "%d %d\n", n, 2*n)
	for i := range n {
		for _, far := range []int{1, n - 1, 2, n - 2} {
			fmt.Fprintf(&metis, "%d ", (i+far)%n+1)
		}
		metis.WriteString("\n")
	}
	gml.WriteString("graph [\n")
	for i := range long {
		fmt.Fprintf(&gml, "node [ id %d ]\n", i)
	}
	for i := range long - 1 {
		fmt.Fprintf(&gml, "edge [ source %d target %d ]\n", i, i+1)
	}
	gml.WriteString("]\n")
	samples := func(name string) string { return filepath.Join("..", "graphfile", "testdata", name) }
	for _, path := range []string{
		samples("lesmis.gml"), samples("lesmis.graph"), samples("lesmis.graphml"), samples("lesmis.net"),
		samples("small-csr.npz"), samples("small-csc.npz"), samples("small-coo.npz"), samples("gnnbench-cora.npz"),
		write(t, file{"m.graph", metis.String()})[0], write(t, file{"g.gml", gml.String()})[0],
	} {
		for _, c := range []*Config{{}, {Directed: true}} {
			plan, err := Estimate(t.Context(), []string{path}, c)
			if err != nil {
				t.Fatal(err)
			}
			_, report, err := ingestInto(t, c, path)
			if err != nil {
				t.Fatal(err)
			}
			// Reciprocal entries of a matrix are one edge, and loops are dropped.
			edges := report.Edges + report.Reciprocal + report.Duplicates + report.SelfLoops
			if plan.Lines*101/100 < edges || plan.Lines > 2*edges+edges/4 || plan.Nodes < report.Nodes || plan.Nodes > report.Nodes*3/2+1 {
				t.Errorf("%s, directed %v: guessed %d edges of %d nodes, are %d of %d", filepath.Base(path), c.Directed, plan.Lines, plan.Nodes, edges, report.Nodes)
			}
		}
	}
}

// TestEstimateOfSpill holds that lines which an order moves to disk early, though all
// would fit, are planned for.
func TestEstimateOfSpill(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	r := rand.New(rand.NewPCG(5, 1))
	path := write(t, file{"e.txt", edgeText(2_000_000, func(int) string {
		return fmt.Sprintf("%d %d", r.IntN(200_000), r.IntN(200_000))
	})})
	for _, order := range []Order{DefaultOrder, AutoOrder} {
		c := fixed(Config{Order: order, Directed: true, Memory: 37 << 20, Workers: 2})
		plan, err := Estimate(t.Context(), path, c)
		if err != nil {
			t.Fatal(err)
		}
		_, report, err := ingestInto(t, c, path...)
		if err != nil {
			t.Fatal(err)
		}
		early := order != DefaultOrder
		if early != (report.SpilledBytes > 0) || plan.Temp < report.SpilledBytes {
			t.Errorf("%v: %d bytes of temporary files, guessed %d", order, report.SpilledBytes, plan.Temp)
		}
	}
}

// TestEstimateOfStar: the entries of one hub are finished by one worker.
func TestEstimateOfStar(t *testing.T) {
	star := write(t, file{"star.txt", edgeText(400_000, func(i int) string { return fmt.Sprintf("0 %d", i+1) })})
	path := write(t, file{"path.txt", edgeText(400_000, func(i int) string { return fmt.Sprintf("%d %d", i, i+1) })})
	memory := func(path []string) int64 {
		plan, err := Estimate(t.Context(), path, &Config{Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		return spec.Sum(plan.Memory)
	}
	const hub = 400_000 * (2*4 + 4) // moved and merged
	if more := memory(star) - memory(path); more < 0 || more > hub {
		t.Errorf("a hub takes %d bytes more, want %d at the most", more, hub)
	}
}

// TestEstimateReadsAll: what samples cannot tell, that no number below the largest id is
// missing, is found out before a limit is called too low.
func TestEstimateReadsAll(t *testing.T) {
	if testing.Short() {
		t.Skip("reads millions of lines")
	}
	const leaves = 200_000
	star := write(t, file{"star.txt", edgeText(leaves, func(i int) string { return fmt.Sprintf("0 %d", i+1) })})
	gaps := write(t, file{"gaps.txt", edgeText(leaves, func(i int) string { return fmt.Sprintf("0 %d", i+2) })})
	const step = leaves // bytes: a quarter of what a list of the ids takes
	least := func(path []string) int64 {
		for memory := int64(2*workerBytes+pageBytes) + sort.LeastBytes; ; memory += step {
			c := fixed(Config{Memory: memory, Workers: 2})
			_, refused := Estimate(t.Context(), path, c)
			if over := new(*LimitError); refused != nil && !errors.As(refused, over) {
				t.Fatal(refused)
			}
			if refused == nil {
				return memory
			}
		}
	}
	all, some := least(star), least(gaps)
	if more := some - all; more < 4*leaves-step || more > 4*leaves+step {
		t.Errorf("%d bytes of limit with all numbers, %d without one", all, some)
	}
	for _, run := range []struct {
		path   []string
		memory int64
		fits   bool
	}{{star, all, true}, {gaps, some, true}, {gaps, all, false}} {
		_, _, err := ingestInto(t, fixed(Config{Memory: run.memory, Workers: 2}), run.path...)
		if (err == nil) != run.fits {
			t.Errorf("%s with %d bytes: %v", run.path, run.memory, err)
		}
	}
}

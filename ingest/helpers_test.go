package ingest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

type file struct {
	name string
	text string
}

// graphMLText returns a graph in GraphML with edges such as "1 2 5", where the weight is optional.
func graphMLText(direction string, edges ...string) string {
	var nodes []string
	var body strings.Builder
	for _, edge := range edges {
		f := strings.Fields(edge)
		for _, id := range f[:2] {
			if !slices.Contains(nodes, id) {
				nodes = append(nodes, id)
			}
		}
		fmt.Fprintf(&body, `<edge source="%s" target="%s">`, f[0], f[1])
		if len(f) > 2 {
			fmt.Fprintf(&body, `<data key="weight">%s</data>`, f[2])
		}
		body.WriteString("</edge>\n")
	}
	return `<graphml><graph edgedefault="` + direction + `"><node id="` + strings.Join(nodes, `"/><node id="`) + "\"/>\n" + body.String() + "</graph></graphml>"
}

func write(t testing.TB, files ...file) []string {
	t.Helper()
	dir := t.TempDir()
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = filepath.Join(dir, f.name)
		if err := os.WriteFile(paths[i], []byte(f.text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

func packed(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

type graph struct {
	ids      []string              // in the order of the ids
	out, in  map[[2]string]float64 // in is nil unless the graph is directed
	directed bool
	weighted bool
}

func verify(dir string) error {
	_, err := shard.Verify(context.Background(), dir, nil, nil, nil)
	return err
}

func load(t testing.TB, dir string) graph {
	t.Helper()
	if err := verify(dir); err != nil {
		t.Fatal(err)
	}
	s, err := shard.Open(context.Background(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	g := graph{directed: s.Manifest.Directed, weighted: s.Manifest.Weighted}
	for row := range s.Nodes.Rows() {
		g.ids = append(g.ids, s.Nodes.ID(row))
	}
	g.out = entriesOf(t, s, s.Nodes)
	if g.directed {
		g.in = map[[2]string]float64{}
		for e, w := range entriesOf(t, s.Transpose(), s.Nodes) {
			g.in[[2]string{e[1], e[0]}] = w
		}
		if !maps.Equal(g.in, g.out) {
			t.Error("the columns are not those of the rows")
		}
	}
	return g
}

func entriesOf(t testing.TB, m sparse.Matrix, nodes *shard.Nodes) map[[2]string]float64 {
	t.Helper()
	entries := map[[2]string]float64{}
	err := sparse.Sweep(context.Background(), m, 1, func(_ int, p sparse.Panel) error {
		for i := range p.Hi - p.Lo {
			col, val := p.Row(i)
			for e, c := range col {
				w := 1.0
				if val != nil {
					w = val[e]
				}
				entries[[2]string{nodes.ID(p.Lo + i), nodes.ID(int(c))}] = w
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func ingestInto(t testing.TB, c *Config, paths ...string) (dir string, report *Report, err error) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "graph")
	report, err = Run(context.Background(), dir, paths, c)
	if err != nil {
		if _, statErr := os.Stat(dir); statErr == nil {
			t.Errorf("%s is left behind after %v", dir, err)
		}
	}
	return dir, report, err
}

func read(t testing.TB, c *Config, files ...file) (graph, *Report) {
	t.Helper()
	dir, report, err := ingestInto(t, c, write(t, files...)...)
	if err != nil {
		t.Fatal(err)
	}
	return load(t, dir), report
}

// contents returns the files of a store without the manifest, by their names without identity.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, name := range names {
		base := filepath.Base(name)
		if base == "manifest" || strings.HasSuffix(base, "lock") {
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[base] = string(b)
	}
	return all
}

// Stores of fixed have the same identity.
func fixed(c Config) *Config {
	c.Store = &shard.WriteOptions{Identity: 0x1234}
	return &c
}

// slow is the reference for edge lists with tabs, commas and blanks without quotes.
func slow(t testing.TB, c Config, sep byte, texts ...string) graph {
	t.Helper()
	type lines struct{ weights, back []float64 }
	var order []string
	seen := map[string]bool{}
	pairs := map[[2]string]*lines{}
	weighted := false
	for _, text := range texts {
		scanner := bufio.NewScanner(strings.NewReader(text))
		for scanner.Scan() {
			line := strings.TrimSpace(scanner.Text())
			if line == "" || line[0] == '#' || line[0] == '%' || strings.HasPrefix(line, "//") {
				continue
			}
			var f []string
			if sep == table.Blanks {
				f = strings.Fields(line)
			} else {
				f = strings.Split(line, string(sep))
			}
			for i := range f {
				f[i] = strings.TrimSpace(f[i])
			}
			w := 1.0
			if len(f) > 2 {
				weighted = true
				var err error
				if w, err = strconv.ParseFloat(f[2], 64); err != nil {
					t.Fatal(err)
				}
			}
			for _, id := range f[:2] {
				if !seen[id] {
					seen[id] = true
					order = append(order, id)
				}
			}
			if w == 0 || f[0] == f[1] && !c.KeepLoops {
				continue
			}
			for direction, key := range [][2]string{{f[0], f[1]}, {f[1], f[0]}} {
				if direction == 1 && (c.Directed || f[0] == f[1]) {
					continue
				}
				if pairs[key] == nil {
					pairs[key] = &lines{}
				}
				p := pairs[key]
				if direction == 0 {
					p.weights = append(p.weights, w)
				} else {
					p.back = append(p.back, w)
				}
			}
		}
		if err := scanner.Err(); err != nil {
			t.Fatal(err)
		}
	}
	integers := true
	for _, id := range order {
		v, err := strconv.ParseInt(id, 10, 64)
		integers = integers && err == nil && strconv.FormatInt(v, 10) == id
	}
	if integers {
		slices.SortFunc(order, func(a, b string) int {
			x, _ := strconv.ParseInt(a, 10, 64)
			y, _ := strconv.ParseInt(b, 10, 64)
			return int(x - y)
		})
	}
	g := graph{ids: order, out: map[[2]string]float64{}, directed: c.Directed}
	for key, p := range pairs {
		w := 1.0
		switch {
		case c.Duplicates == SumDuplicates:
			w = sumOf(append(slices.Clone(p.weights), p.back...))
		case !weighted:
		case c.Duplicates == MaxDuplicates:
			w = slices.Max(append(slices.Clone(p.weights), p.back...))
		case c.Duplicates == MinDuplicates:
			w = slices.Min(append(slices.Clone(p.weights), p.back...))
		case p.weights != nil:
			w = sumOf(p.weights)
		default:
			w = sumOf(p.back)
		}
		g.out[key] = w
		g.weighted = g.weighted || w != 1
	}
	if c.Directed {
		g.in = g.out
	}
	return g
}

func sumOf(w []float64) float64 {
	w = slices.Clone(w)
	slices.Sort(w)
	var sum float64
	for _, x := range w {
		sum += x
	}
	return sum
}

func same(t testing.TB, got, want graph) {
	t.Helper()
	if !slices.Equal(got.ids, want.ids) {
		t.Fatalf("ids %.20q…, want %.20q…", got.ids, want.ids)
	}
	if got.directed != want.directed || got.weighted != want.weighted {
		t.Errorf("directed %v, weighted %v, want %v, %v", got.directed, got.weighted, want.directed, want.weighted)
	}
	if len(got.out) != len(want.out) {
		t.Errorf("%d entries, want %d", len(got.out), len(want.out))
	}
	shown := 0
	for key, w := range want.out {
		if v, ok := got.out[key]; !ok || math.Float64bits(v) != math.Float64bits(w) {
			t.Errorf("entry %q: %v (there: %v), want %v", key, v, ok, w)
			if shown++; shown == 5 {
				return
			}
		}
	}
}

func edgeText(n int, line func(i int) string) string {
	var b strings.Builder
	b.Grow(16 * n)
	for i := range n {
		b.WriteString(line(i))
		b.WriteByte('\n')
	}
	return b.String()
}

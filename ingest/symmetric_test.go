package ingest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

func TestNearlySymmetric(t *testing.T) {
	market := func(lines ...string) file {
		return file{"m.mtx", fmt.Sprintf("%%%%MatrixMarket matrix coordinate real general\n3 3 %d\n%s\n", len(lines), strings.Join(lines, "\n"))}
	}
	const third = 0.3333333333333333
	next := math.Nextafter(third, 1)
	a, b := fmt.Sprint(third), fmt.Sprint(next)
	mean := third/2 + next/2
	for _, test := range []struct {
		name     string
		c        Config
		in       file
		directed bool
		weight   float64
		averaged int64
	}{
		{"the last bit", Config{}, market("1 2 "+a, "2 1 "+b, "2 3 1", "3 2 1"), false, mean, 1},
		{"asked for", Config{Undirected: true}, market("1 2 "+b, "2 1 "+a, "2 3 1", "3 2 1"), false, mean, 1},
		{"an edge list", Config{}, file{"e.tsv", "1\t2\t" + a + "\n2\t1\t" + b + "\n2\t3\t1\n"}, false, mean, 1},
		{"all pairs", Config{}, market("1 2 "+a, "2 1 "+b, "2 3 "+b, "3 2 "+a), false, mean, 2},
		{"the maximum", Config{Undirected: true, Duplicates: MaxDuplicates}, market("1 2 "+a, "2 1 "+b, "2 3 1"), false, next, 0},
		{"directed as asked", Config{Directed: true}, market("1 2 "+a, "2 1 "+b, "2 3 1", "3 2 1"), true, third, 0},
		{"more than rounding", Config{}, market("1 2 1", "2 1 1.0000000002", "2 3 1", "3 2 1"), true, 1, 0},
		{"one direction", Config{}, market("1 2 1", "2 1 1", "2 3 1"), true, 1, 0},
	} {
		g, report := read(t, &test.c, test.in)
		if g.directed != test.directed || g.out[[2]string{"1", "2"}] != test.weight || report.Averaged != test.averaged {
			t.Errorf("%s: directed %v, %v, averaged %d; want %v, %v, %d", test.name, g.directed, g.out, report.Averaged, test.directed, test.weight, test.averaged)
		}
		if warned := slices.ContainsFunc(report.Warnings, func(w string) bool { return strings.Contains(w, "differ by rounding") }); warned != (test.averaged > 0) {
			t.Errorf("%s: warnings %q", test.name, report.Warnings)
		}
	}
}

// D·A·D, computed row by row, is symmetric only up to rounding.
func TestNearlySymmetricForms(t *testing.T) {
	const n = 500
	rng := rand.New(rand.NewPCG(1, 2))
	d := make([]float64, n)
	for i := range d {
		d[i] = 1 / math.Sqrt(1+rng.Float64())
	}
	var lines []string
	for i := range n {
		for j := range n {
			if w := (i + j) % 50; w < 5 && i != j {
				lines = append(lines, fmt.Sprintf("%d %d %v", i+1, j+1, d[i]*float64(1+w)*d[j]))
			}
		}
	}
	head := fmt.Sprintf("%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", n, n, len(lines))
	paths := write(t, file{"m.mtx", head + strings.Join(lines, "\n") + "\n"})
	dir, _, err := ingestInto(t, &Config{Directed: true}, paths...)
	if err != nil {
		t.Fatal(err)
	}
	s, err := shard.Open(context.Background(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var scipy bytes.Buffer
	if _, err := graphfile.Write(context.Background(), graphfile.SciPy, &scipy, s, nil); err != nil {
		t.Fatal(err)
	}
	paths = append(paths, write(t, file{"m.npz", scipy.String()})...)
	var want graph
	for _, path := range paths {
		for _, c := range []Config{{}, {Undirected: true, Workers: 1}, {Memory: 24 << 20, Workers: 7}} {
			dir, report, err := ingestInto(t, &c, path)
			if err != nil {
				t.Fatal(err)
			}
			got := load(t, dir)
			if got.directed || report.Averaged == 0 {
				t.Fatalf("%s %+v: directed %v, averaged %d", path, c, got.directed, report.Averaged)
			}
			if want.out == nil {
				want = got
			}
			if len(want.out) != len(lines) || !maps.EqualFunc(ordered(got), ordered(want), func(a, b float64) bool { return a == b }) {
				t.Errorf("%s %+v: other entries", path, c)
			}
		}
	}
}

func ordered(g graph) map[[2]int]float64 {
	at := map[string]int{}
	for i, id := range g.ids {
		at[id] = i
	}
	entries := map[[2]int]float64{}
	for e, w := range g.out {
		entries[[2]int{at[e[0]], at[e[1]]}] = w
	}
	return entries
}

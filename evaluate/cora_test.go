package evaluate

import (
	"bufio"
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/sparse"
)

// cora returns the graph that the demo carries.
func cora(t *testing.T) *Problem {
	read := func(name string) [][2]string {
		f, err := os.Open(filepath.Join(testgraph.Root(t), "internal", "cli", "cora", name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		var pairs [][2]string
		lines := bufio.NewScanner(z)
		for lines.Scan() {
			a, b, ok := strings.Cut(lines.Text(), "\t")
			if ok && !strings.HasPrefix(a, "#") {
				pairs = append(pairs, [2]string{a, b})
			}
		}
		return pairs
	}
	labels := read("labels.tsv.gz")
	p := new(Problem)
	row := make(map[string]int)
	for _, l := range labels {
		p.Names = append(p.Names, l[1])
		row[l[0]] = len(row)
	}
	slices.Sort(p.Names)
	p.Names = slices.Compact(p.Names)
	for i, l := range labels {
		class, _ := slices.BinarySearch(p.Names, l[1])
		p.Row, p.Class = append(p.Row, i), append(p.Class, class)
	}
	var entries []sparse.Triplet
	for _, e := range read("edges.tsv.gz") {
		i, j := uint32(row[e[0]]), uint32(row[e[1]])
		entries = append(entries, sparse.Triplet{Row: i, Col: j, Val: 1}, sparse.Triplet{Row: j, Col: i, Val: 1})
	}
	a, err := sparse.FromTriplets(len(row), len(row), entries)
	if err != nil {
		t.Fatal(err)
	}
	if a.Weighted() || a.NNZ() != 2*5278 || len(p.Names) != 7 {
		t.Fatalf("%d entries, %d classes", a.NNZ(), len(p.Names))
	}
	p.A = a
	if p.Degrees, err = sparse.Degrees(context.Background(), a, 0); err != nil {
		t.Fatal(err)
	}
	return p
}

// The protocol of the paper reaches the paper's accuracies (72.1 and 76.0 % for
// plain features), and honest features theirs, on a coarse grid.
func TestCoraAccuracy(t *testing.T) {
	if testing.Short() {
		t.Skip("minutes of walks")
	}
	p := cora(t)
	methods, err := ParseMethods("cwk")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		grid *Grid
		want [2]float64 // at 5 and 10 %
	}{
		{&Grid{Alpha: []float64{0.8, 0.99}, Steps: []int{40, 100}, Cost: []float64{0.5, 2}, Features: []Features{Plain}}, [2]float64{0.721, 0.76}},
		{&Grid{Alpha: []float64{0.8, 0.99}, Steps: []int{200}, Cost: []float64{32, 128}, Features: []Features{Honest}}, [2]float64{0.73, 0.766}},
	} {
		r, err := Run(context.Background(), p, &Plan{
			Methods: methods, Fractions: []float64{0.05, 0.1}, Splits: 8, TuningSplits: 3,
			Settings: &Settings{Grid: test.grid, RNGSeed: 1},
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range r.Fractions() {
			res, base := r.result("cwk", f), r.result("majority", f)
			t.Logf("%v %%, %v: %.4f (%.4f), rng seed 1", 100*f, *res.Parameters, res.AccuracyMean, res.AccuracyStderr)
			if res.AccuracyMean < test.want[i] || base.AccuracyMean > 0.31 {
				t.Errorf("accuracy %v, majority %v", res.AccuracyMean, base.AccuracyMean)
			}
		}
	}
}

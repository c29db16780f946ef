package testgraph

import (
	"bufio"
	"compress/gzip"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
)

// Labelled is a graph with classes on some of its nodes.
type Labelled struct {
	A       *sparse.CSR
	Degrees []float64
	Row     []int    // the labelled nodes
	Class   []int    // their classes, positions in Names
	Names   []string // the classes
}

// Planted returns a weighted graph of three blocks, with a few nodes without edges, a separate pair, and classes on
// labelled nodes.
func Planted(t testing.TB, seed uint64, n, labelled int) Labelled {
	rng := rand.New(rand.NewPCG(seed, 0))
	class := make([]int, n)
	for i := range class {
		class[i] = rng.IntN(3)
	}
	b := builder{nodes: n}
	// Nodes 0 and 1 have no edges. Nodes 2 and 3 are the pair.
	b.edge(2, 3, 0.5+rng.Float64())
	for i := 4; i < n; i++ {
		for j := 4; j < i; j++ {
			p := 0.02
			if class[i] == class[j] {
				p = 4 / float64(n)
			}
			if rng.Float64() < p {
				b.edge(i, j, 0.5+rng.Float64())
			}
		}
	}
	a := b.csr()
	p := Labelled{A: a, Degrees: Degrees(t, a), Names: []string{"a", "b", "c"}}
	order := rng.Perm(n)
	for _, i := range append([]int{0, 2, 3}, order...) {
		if len(p.Row) == labelled {
			break
		}
		if len(p.Row) < 3 || i > 3 {
			p.Row, p.Class = append(p.Row, i), append(p.Class, class[i])
		}
	}
	return p
}

// Cora returns the citation graph of the demo, with a label on every node.
func Cora(t testing.TB) Labelled {
	read := func(name string) [][2]string {
		f, err := os.Open(filepath.Join(Root(t), "cmd", "heatwalk", "internal", "learn", "cora", name))
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
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
		return pairs
	}
	labels := read("labels.tsv.gz")
	var p Labelled
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
	b := builder{nodes: len(row)}
	for _, e := range read("edges.tsv.gz") {
		b.edge(row[e[0]], row[e[1]], 1)
	}
	if p.A = b.csr(); p.A.NNZ() != 2*5278 || len(p.Names) != 7 {
		t.Fatalf("%d entries, %d classes", p.A.NNZ(), len(p.Names))
	}
	p.Degrees = Degrees(t, p.A)
	return p
}

// Degrees returns the degrees of the nodes of a graph.
func Degrees(t TB, a *sparse.CSR) []float64 {
	t.Helper()
	d, err := sparse.Degrees(context.Background(), a, 1)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Clouds draws n items with p normally distributed features around one centre for each class, and returns the features
// and the classes. spread scales the distances between centres. Every class has an item.
func Clouds(rngSeed uint64, n, p, classes int, spread float64) (f *sparse.Block[float64], y []int) {
	rng := rand.New(rand.NewPCG(rngSeed, 1))
	centre := make([]float64, classes*p)
	for i := range centre {
		centre[i] = spread * rng.NormFloat64()
	}
	f = sparse.BlockOf(n, p, make([]float64, n*p))
	y = make([]int, n)
	for i := range n {
		y[i] = rng.IntN(classes)
		if i < classes {
			y[i] = i
		}
		for j := range p {
			f.Row(i)[j] = float64(float32(centre[y[i]*p+j] + rng.NormFloat64())) // the same in single precision
		}
	}
	return f, y
}

// Command sparsifier prints a graph with fewer edges and nearly the Laplacian of a given graph, as lines
// SOURCE<TAB>TARGET<TAB>WEIGHT:
//
//	go run ./examples/sparsifier GRAPH SAMPLES >SMALLER.tsv
//
// It is the method of Spielman and Srivastava (2008): edges are drawn in proportion to weight times effective resistance, and
// resistances are distances between the rows of L⁺·Bᵀ·Q for the incidence matrix B and a few columns Q of random signs.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"sort"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk"
)

// columns is the number of random columns: the error of a resistance is about √(2/columns) of it.
const columns = 64

// resistances returns the edges of a graph and estimates of weight times effective resistance: the probability that the
// edge is in a random spanning tree. Their sum is about the number of nodes less one for each component.
func resistances(ctx context.Context, g *heatwalk.Graph, rng *rand.Rand) ([]heatwalk.Edge, []float64, error) {
	var edges []heatwalk.Edge
	b := mat.NewDense(len(g.IDs()), columns, nil) // Bᵀ·Q, to which each edge adds at its two ends
	err := g.EachEdge(ctx, func(e heatwalk.Edge) error {
		edges = append(edges, e)
		source := b.RawRowView(e.Source)
		target := b.RawRowView(e.Target)
		for j := range source {
			v := math.Sqrt(e.Weight / columns)
			if rng.IntN(2) == 0 {
				v = -v
			}
			source[j] += v
			target[j] -= v
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	x, _, err := g.Solve(ctx, heatwalk.Laplacian, 1, 0, b, 1e-4)
	if err != nil {
		return nil, nil, err
	}
	shares := make([]float64, len(edges))
	for i, e := range edges {
		d := floats.Distance(x.RawRowView(e.Source), x.RawRowView(e.Target), 2)
		shares[i] = e.Weight * d * d
	}
	return edges, shares, nil
}

// sparsify draws edges of a graph. The expected weight of each edge in the result is its weight in the graph.
func sparsify(ctx context.Context, g *heatwalk.Graph, samples int, rng *rand.Rand) ([]heatwalk.Edge, error) {
	edges, shares, err := resistances(ctx, g, rng)
	if err != nil {
		return nil, err
	}
	if len(edges) == 0 {
		return nil, nil
	}
	sums := floats.CumSum(make([]float64, len(shares)), shares)
	total := sums[len(sums)-1]
	drawn := make([]int, len(edges))
	for range samples {
		drawn[sort.SearchFloat64s(sums[:len(sums)-1], rng.Float64()*total)]++
	}
	var smaller []heatwalk.Edge
	for i, e := range edges {
		if drawn[i] > 0 {
			e.Weight *= float64(drawn[i]) * total / (float64(samples) * shares[i])
			smaller = append(smaller, e)
		}
	}
	return smaller, nil
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: sparsifier GRAPH SAMPLES")
	}
	samples, err := strconv.Atoi(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	g, err := heatwalk.Open(ctx, os.Args[1], nil)
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	smaller, err := sparsify(ctx, g, samples, rand.New(rand.NewPCG(1, 0)))
	if err != nil {
		log.Fatal(err)
	}
	ids := g.IDs()
	out := bufio.NewWriter(os.Stdout)
	for _, e := range smaller {
		fmt.Fprintf(out, "%s\t%s\t%v\n", ids[e.Source], ids[e.Target], e.Weight)
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}

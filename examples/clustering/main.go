// Command clustering divides the nodes of a graph into clusters, and prints a line ID<TAB>CLUSTER for each:
//
//	go run ./examples/clustering GRAPH COUNT
//
// It is the method of Ng, Jordan and Weiss (2001): k-means on the rows of the eigenvectors of the smallest eigenvalues of
// the normalized Laplacian, scaled to length 1.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/lanczos"
)

// cluster returns the cluster of each node, in the order of the ids.
func cluster(ctx context.Context, g *heatwalk.Graph, count int) ([]int, error) {
	// Angles between rows change by no more than the residuals, so that a tolerance of 1e-6 is enough.
	vectors, pairs, err := g.Eigen(ctx, heatwalk.NormalizedLaplacian, lanczos.Smallest, count,
		1e-6)
	if err != nil {
		return nil, err
	}
	log.Printf("eigenvalues %.3g, residuals below %.2g", pairs.Values, slices.Max(pairs.Residuals))
	points := make([][]float64, vectors.RawMatrix().Rows)
	for i := range points {
		points[i] = mat.Row(nil, i, vectors)
		if norm := floats.Norm(points[i], 2); norm > 0 {
			floats.Scale(1/norm, points[i])
		}
	}
	return kMeans(points, count), nil
}

// kMeans returns the cluster of each point. The first centres are a point and, in turn, the point that is farthest from
// all centres before it, so that a result does not depend on chance.
func kMeans(points [][]float64, count int) []int {
	centres := [][]float64{slices.Clone(points[0])}
	for len(centres) < count {
		farthest := 0
		distance := -1.0
		for i, x := range points {
			if d := floats.Distance(x, centres[nearest(centres, x)], 2); d > distance {
				farthest = i
				distance = d
			}
		}
		centres = append(centres, slices.Clone(points[farthest]))
	}
	clusters := make([]int, len(points))
	const rounds = 100
	for range rounds {
		isChanged := false
		sizes := make([]float64, count)
		sums := make([][]float64, count)
		for i, x := range points {
			c := nearest(centres, x)
			isChanged = isChanged || c != clusters[i]
			clusters[i] = c
			sizes[c]++
			if sums[c] == nil {
				sums[c] = make([]float64, len(x))
			}
			floats.Add(sums[c], x)
		}
		if !isChanged {
			break
		}
		for c, sum := range sums {
			if sum != nil {
				floats.ScaleTo(centres[c], 1/sizes[c], sum)
			}
		}
	}
	return clusters
}

func nearest(centres [][]float64, x []float64) (index int) {
	for c := range centres {
		if floats.Distance(x, centres[c], 2) < floats.Distance(x, centres[index], 2) {
			index = c
		}
	}
	return index
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: clustering GRAPH COUNT")
	}
	count, err := strconv.Atoi(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	g, err := heatwalk.Open(ctx, os.Args[1], nil)
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	clusters, err := cluster(ctx, g, count)
	if err != nil {
		log.Fatal(err)
	}
	for i, id := range g.IDs() {
		fmt.Printf("%s\t%d\n", id, clusters[i])
	}
}

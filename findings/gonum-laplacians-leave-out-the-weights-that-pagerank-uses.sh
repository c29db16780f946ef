#!/usr/bin/env bash
# gonum 0.17.0: the Laplacians of a weighted graph are those of the graph without weights
#
# spectral.NewLaplacian, NewSymNormLaplacian and NewRandomWalkLaplacian take a WeightedUndirectedGraph
# and count its neighbours: an edge of weight 9 gives the element -1. network.Diffuse takes a Laplacian
# and has no other way to be given weights, so that heat flows over an edge of weight 9 and over one of
# weight 1 alike. network.PageRank of the same module, and the measures of community, ask whether a
# graph has weights and use them; nothing is said or raised where they are left out.
#
# The good guess is that a function which takes a weighted graph gives its weighted Laplacian, as
# NetworkX, igraph and SciPy do and as PageRank beside it does. Who wants weights builds the matrix and
# puts it into the field Matrix of spectral.Laplacian, which Diffuse accepts.
#
# Output seen (a path of three nodes with the weights 9 and 1, heat 1 in the middle):
#
#     row of the middle: -1 2 -1
#     Diffuse, t = 0.1: 0.0864 0.8272 0.0864
#     Diffuse with the weighted matrix: 0.3979 0.5356 0.0665
#     PageRank of the ends with weights: 0.422 0.091
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >go.mod <<'MOD'
module weights

go 1.24
MOD
cat >main.go <<'GO'
package main

import (
	"fmt"
	"math"
	"os"

	"gonum.org/v1/gonum/graph/network"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/spectral"
	"gonum.org/v1/gonum/mat"
)

func main() {
	path := simple.NewWeightedUndirectedGraph(0, 0)
	arcs := simple.NewWeightedDirectedGraph(0, 0)
	for i, weight := range []float64{9, 1} {
		for _, ends := range [][2]int{{i, i + 1}, {i + 1, i}} {
			edge := simple.WeightedEdge{F: simple.Node(ends[0]), T: simple.Node(ends[1]), W: weight}
			path.SetWeightedEdge(edge)
			arcs.SetWeightedEdge(edge)
		}
	}
	laplacian := spectral.NewLaplacian(path)
	middle := laplacian.Index[1]
	left, right := laplacian.Index[0], laplacian.Index[2]
	fmt.Println("row of the middle:", laplacian.At(middle, left), laplacian.At(middle, middle), laplacian.At(middle, right))

	heat := map[int64]float64{1: 1}
	plain := network.Diffuse(nil, heat, laplacian, 0.1)
	fmt.Printf("Diffuse, t = 0.1: %.4f %.4f %.4f\n", plain[0], plain[1], plain[2])

	weighted := mat.NewSymDense(3, nil)
	for end, weight := range map[int]float64{left: 9, right: 1} {
		weighted.SetSym(end, end, weight)
		weighted.SetSym(end, middle, -weight)
	}
	weighted.SetSym(middle, middle, 10)
	laplacian.Matrix = weighted
	byWeight := network.Diffuse(nil, heat, laplacian, 0.1)
	fmt.Printf("Diffuse with the weighted matrix: %.4f %.4f %.4f\n", byWeight[0], byWeight[1], byWeight[2])

	rank := network.PageRank(arcs, 0.85, 1e-10)
	fmt.Printf("PageRank of the ends with weights: %.3f %.3f\n", rank[0], rank[2])
	if math.Abs(plain[0]-plain[2]) > 1e-9 || byWeight[0] < 2*byWeight[2] || rank[0] < 2*rank[2] {
		os.Exit(1)
	}
}
GO
go get gonum.org/v1/gonum@v0.17.0 2>/dev/null
go run .

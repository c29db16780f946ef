#!/usr/bin/env bash
# gonum 0.17.0: DiffuseToEquilibrium with NewLaplacian ends in NaN, whatever the limit of updates
#
# network.DiffuseToEquilibrium repeats h ← h − L·h, a step of length 1 of the heat equation. The step
# is stable only if no eigenvalue of L is above 2, and the Laplacian of spectral.NewLaplacian has an
# eigenvalue of at least 3 as soon as one node has two neighbours. On a path of three nodes 10 updates
# give heats of several hundreds and 10,000 give NaN; the second result is false. With
# NewRandomWalkLaplacian(g, 0) the heat of the path goes from the middle to the ends and back for ever,
# as on every tree, grid, and graph of two kinds of nodes. network.Diffuse with t = 1000, the same
# Laplacian and the same heat returns the equilibrium, 1/3 at each node.
#
# The good guess is that a function of this name, given one of the three Laplacians of its own library,
# a connected graph of three nodes and many updates, returns the equilibrium that exists. NaN then
# looks like a fault of the data, but every graph with a node of two neighbours ends there.
#
# Output seen:
#
#     10 updates: -341 683 -341, converged false
#     10000 updates: NaN NaN NaN, converged false
#     random walk, 10000 updates: 0 1 0, converged false
#     random walk, 10001 updates: 0.5 0 0.5, converged false
#     Diffuse, t = 1000: 0.333333 0.333333 0.333333
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >go.mod <<'MOD'
module heat

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
)

func main() {
	path := simple.NewUndirectedGraph()
	for i := range 2 {
		path.SetEdge(simple.Edge{F: simple.Node(i), T: simple.Node(i + 1)})
	}
	heat := map[int64]float64{1: 1}
	laplacian := spectral.NewLaplacian(path)
	walk := spectral.NewRandomWalkLaplacian(path, 0)

	same := true
	for _, updates := range []int{10, 10000} {
		result, converged := network.DiffuseToEquilibrium(nil, heat, laplacian, 1e-9, updates)
		fmt.Printf("%d updates: %.6g %.6g %.6g, converged %v\n",
			updates, result[0], result[1], result[2], converged)
		same = same && !converged && (math.IsNaN(result[0]) || math.Abs(result[0]) > 300)
	}
	for _, updates := range []int{10000, 10001} {
		result, converged := network.DiffuseToEquilibrium(nil, heat, walk, 1e-9, updates)
		fmt.Printf("random walk, %d updates: %.6g %.6g %.6g, converged %v\n",
			updates, result[0], result[1], result[2], converged)
		same = same && !converged && math.Abs(result[0]-result[1]) > 0.4
	}
	result := network.Diffuse(nil, heat, laplacian, 1000)
	fmt.Printf("Diffuse, t = 1000: %.6g %.6g %.6g\n", result[0], result[1], result[2])
	if !same || math.Abs(result[0]-1.0/3) > 1e-6 {
		os.Exit(1)
	}
}
GO
go get gonum.org/v1/gonum@v0.17.0 2>/dev/null
go run .

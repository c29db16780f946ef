// Package graph represents a graph for algorithms: its matrix, and vectors derived from it.
//
// A [Graph] is a symmetric matrix A with weights ≥ 0, its degrees, self loops, components, and
// the null spaces of its Laplacians. [New] returns the graph of a [sparse.Matrix] in two
// sweeps, [FromMat] the graph of a gonum matrix; package heatwalk
// opens any file.
//
// Degrees are exact sums, rounded once. Self loops cancel in the Laplacian L = D − A, but in
// floating point a heavy loop would cancel the other weights of its node too: with a loop of
// 1e20 and an edge of 1, D − A is 0 in place of 1. Heavy loops are therefore omitted from L, see
// [Graph.WithoutHeavyLoops].
package graph

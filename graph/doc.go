// Package graph represents a graph for algorithms: its matrix, and vectors derived from it.
//
// A [Graph] is a symmetric matrix A with weights ≥ 0, its degrees, self loops, components, and the null spaces of its
// Laplacians. [New] returns the graph of a [sparse.Matrix] in two sweeps, [FromMat] the graph of a gonum matrix; package
// heatwalk opens any file.
//
// Degrees are exact sums, rounded once. A heavy self loop would cancel the other weights of its node in L = D − A by
// rounding, and is omitted from L, see [Graph.WithoutHeavyLoops].
package graph

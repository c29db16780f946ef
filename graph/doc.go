// Package graph holds a graph as algorithms see it: its matrix, and vectors derived from it.
//
// A [Graph] is a symmetric matrix A with weights ≥ 0, its degrees, self loops,
// components, and the null spaces of its Laplacians. [New] makes one of any
// [sparse.Matrix] in two sweeps, [Open] of a store, [FromMat] of a gonum matrix; package
// heatwalk opens any file. Degrees are rounded once. Self loops are left out of
// the Laplacian L = D − A where they would cancel the other weights of a node in floating
// point.
package graph

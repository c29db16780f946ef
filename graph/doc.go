// Package graph holds a graph as algorithms see it: its matrix and what follows from it.
//
// A [Graph] is a symmetric matrix A with weights ≥ 0, its degrees, self loops,
// components, and the null spaces of its Laplacians. [New] makes one of any
// [sparse.Matrix] in two sweeps, [Open] of a store, [FromMat] of a gonum matrix; package
// heatwalk opens any file. Degrees are rounded once, and the Laplacian
// L = D − A is made without self loops where these would drown in it what is left of
// the other edges of a node.
package graph

// Package heatwalk labels the rest of a graph: a streaming sparse-matrix
// engine for large graphs, and the kernels and learners that run on it.
//
// Start at package sparse with a matrix in memory, or at package shard with a
// store on disk; docs/architecture.md shows how the packages fit together.
package heatwalk

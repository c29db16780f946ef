// Package source makes graphs from other data, as inputs of [ingest.Run]: from hypergraphs ([Hyperedges]),
// from citations ([Citations]), and from nearest neighbours among rows ([Neighbours]). It computes the rows
// of X·Xᵀ one after another by Gustavson's algorithm. For the arcs A of a directed graph, A·Aᵀ counts
// the nodes to which two nodes both point (bibliographic coupling), and Aᵀ·A the nodes that point to both
// (co-citation).
package source

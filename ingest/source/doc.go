// Package source makes graphs from data that are not edges, as inputs of [ingest.Run]: from hypergraphs ([Hyperedges]),
// citations ([Citations]) and nearest neighbours among rows ([Neighbours]). It computes the rows of X·Xᵀ one after another by
// Gustavson's algorithm: for the arcs A of a directed graph, A·Aᵀ counts the nodes to which two nodes point (bibliographic
// coupling), and Aᵀ·A the nodes that point to both (co-citation).
package source

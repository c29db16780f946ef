// Package source makes graphs from data that are no edges, as inputs of [ingest.Run]:
// hypergraphs ([Hyperedges]), nodes that cite or are cited by the same ([Citations]) and
// nearest neighbours among rows ([Neighbours]). Rows with something in common are rows of X·Xᵀ, which are
// computed one after the other by Gustavson's algorithm: of the arcs A of a directed graph, A·Aᵀ counts the nodes to which
// two nodes point (bibliographic coupling), and Aᵀ·A the nodes that point to both (co-citation).
package source

// Package source makes graphs from data that are no edges, as inputs of [ingest.Run]:
// hypergraphs ([Hyperedges]), nodes that cite or are cited by the same ([Citations]) and
// nearest neighbours among rows ([Neighbours]).
package source

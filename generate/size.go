package generate

// Size is what a model makes, and what this takes.
type Size struct {
	Nodes int64 // at the most
	Lines int64 // of edges, at the most
	Whole bool  // every node has a line
	Bytes int64 // of memory, at the most
}

// Size implements [Graph].
func (g RMAT) Size() Size {
	g = g.withDefaults()
	return Size{Nodes: 1 << g.Scale, Lines: int64(g.EdgeFactor) << g.Scale, Bytes: blockLines * longestEdge * int64(g.Workers)}
}

// Size implements [Graph].
func (g SBM) Size() Size {
	g = g.withDefaults()
	const node = 1 + 8 + 2*16*5/4 // touched, class, and two urns that have grown
	return Size{Nodes: int64(g.Nodes), Lines: int64(g.Edges), Bytes: node*int64(g.Nodes) + pairSetBytes(g.Edges)}
}

// Size implements [Graph].
func (g ErdosRenyi) Size() Size {
	return Size{Nodes: int64(g.Nodes), Lines: int64(g.Edges), Bytes: pairSetBytes(g.Edges)}
}

// Size implements [Graph].
func (g Grid) Size() Size {
	n := int64(g.Rows) * int64(g.Columns)
	return Size{Nodes: n, Lines: 2 * n, Whole: true}
}

// pairSetBytes is what room for so many pairs takes.
func pairSetBytes(pairs int) int64 { return 8 * int64(pairSlots(pairs)) }

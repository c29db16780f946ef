// Package partition finds orders of the nodes of a graph in which neighbours
// have numbers close to each other: frames then need fewer bits for an entry,
// and a sweep finds more of the rows that it gathers in a cache.
//
//	order, err := partition.Locality(ctx, a, nil)
//	// order[i] is the row of a that comes i-th
//
// An order is a permutation: order[i] is the old row of new row i. It depends
// on the matrix alone, never on time or chance. All functions take symmetric
// matrices without regard to their values and self loops. Nodes without neighbours
// come last in every order, among themselves as they were.
//
// [BreadthFirst] puts nodes of a level beside each other, and
// [ReverseCuthillMcKee] does so from a far end and by degree: a mesh becomes a
// narrow band, and many other graphs gain too.
// [Locality] finds communities of communities, where there are some. Ids that
// mean something, such as URLs in their order, may already be the best order.
package partition

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
// [BreadthFirst] makes the nodes of a level neighbours in the order, and
// [ReverseCuthillMcKee] does so from a peripheral node and by degree: a mesh becomes a
// narrow band, and many other graphs gain too.
// [Locality] finds communities of communities, if there are some. Ids with a
// meaning, for example sorted URLs, may already be the best order.
package partition

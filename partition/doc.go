// Package partition finds orders of the nodes of a graph in which neighbours
// have numbers close to each other: frames then need fewer bits for an entry,
// and a sweep finds more of the rows that it gathers in a cache.
//
//	order, err := partition.Locality(ctx, a)
//	// order[i] is the row of a that comes i-th
//
// An order is a permutation: order[i] is the old row of new row i. It depends
// on the matrix alone, never on time or chance. All functions take symmetric
// matrices without regard to their values; self loops have no influence on any
// order but Degree's, which is told its counts. Nodes without neighbours come
// last in every order, among themselves as they were.
//
// Degree, and a breadth-first order, take next to no time. [ReverseCuthillMcKee]
// is for meshes and road networks, where it makes the matrix a narrow band.
// [Locality] finds communities of communities and is for social and web graphs.
package partition

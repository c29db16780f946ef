// Package partition computes orders of the nodes of a graph in which the numbers of neighbours are close to each other.
// Frames then need fewer bits for an entry, and a sweep finds more of the rows that it gathers in the cache.
//
//	order, err := partition.Locality(ctx, a, nil)
//	// order[i] is the row of a that comes i-th
//
// An order is a permutation: order[i] is the old row of the new row i. It depends on the matrix only. The matrix must
// be symmetric; its values and self loops are ignored. Nodes without neighbours are last in every order, in their old
// order.
//
// [Locality] finds nested communities. Ids with a meaning, for example sorted URLs, may already be the best order.
//
// [Ranges] cuts the rows of an order into consecutive ranges for several processes. In a step each process receives
// rows from other processes. On graphs with communities, the order of Locality needs about as few of these rows as the
// partitions of METIS, see docs/run.md.
package partition

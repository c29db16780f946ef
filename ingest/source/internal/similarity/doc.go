// Package similarity finds the rows of a sparse matrix that have something in common,
// exactly and without a table of all pairs: the rows of X·Xᵀ one after the other, by
// Gustavson's algorithm, and the nearest neighbours of each row by cosine.
//
//	err := similarity.Products(ctx, x, workers, func(i int, j []uint32, v []float64) error { … })
//	err := similarity.Nearest(ctx, x, &similarity.Settings{Neighbours: 10}, visit)
//
// Of the arcs of a directed graph, A·Aᵀ counts the nodes to which two nodes both point
// (bibliographic coupling) and Aᵀ·A those that point to both (co-citation). Rows come
// in increasing order and with the same bits for any number of workers.
package similarity

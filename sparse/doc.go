// Package sparse provides sparse matrices that are read in sweeps, dense blocks of columns, and the fused step from
// which every walk, polynomial and solver is built.
//
// # Matrices and blocks
//
// A [Matrix] passes its stored entries in ranges of consecutive rows, as [Panel] values, to several goroutines. The
// ranges depend on the lengths of the rows only (see [Cut]), so that a matrix in memory ([CSR]) and the same matrix on
// disk (package shard) give the same bits. [EachRow] visits whole rows.
//
// A [Block] is a dense n×k matrix. It is stored by rows, because one sparse entry then touches k adjacent numbers.
//
// # Operators and steps
//
// An [Operator] is a linear map, and a [Step] applies it:
//
//	Operator   Ā = scale·diag(left)·A·diag(right) + diag(d) + γ·u·vᵀ
//	Step       Y = α·ĀX + β·X + δ·Z
//
// Ā needs no storage for its entries: the transition matrix, the normalised adjacency, both Laplacians and the
// modularity matrix need one or two vectors in addition to A. Z may be Y, so that a three-term recurrence needs two
// blocks; X must not overlap Y. A visitor may read finished rows of Y while they are still in the cache.
//
// # Layouts in memory
//
// The layout of a matrix in memory affects the time of a step, but not its bits. [FindLayout] chooses between
//
//   - plain column ids of four bytes, see [Load];
//   - tiles, if the first columns have many of the entries, as in a graph ordered by degree. The rows of X that a tile of columns needs stay in the second-level cache of a core.
//
// # Concurrency, aliasing, errors
//
// Matrices and operators are safe for concurrent use; blocks are not while they are written. A panel and its slices are
// valid during the visit only. Wrong shapes and overlapping blocks panic, because they are mistakes of the caller;
// errors of a disk and of a cancelled context are returned. Every result has the same bits for any number of workers.
package sparse

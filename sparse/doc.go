// Package sparse holds the numbers of heatwalk: sparse matrices that are read
// in sweeps, dense blocks of columns, and the one fused step from which every
// walk, polynomial and solver is built.
//
// # Matrices
//
// A [Matrix] hands out its stored entries in ranges of consecutive rows, one
// [Panel] at a time, to several goroutines at once. A range holds at most
// [MaxRange] entries and at most MaxRange rows; a row longer than that is cut
// into pieces, which are ranges of their own. Where the cuts fall depends on
// the lengths of the rows alone (see [Cut]), so a matrix in memory ([CSR]) and
// the same matrix on disk (package shard) give the same bits, for any number
// of workers.
//
// # Blocks
//
// A [Block] is a dense n×k matrix of columns that travel together. It is
// stored by rows, because one sparse entry then touches k neighbouring
// numbers. Rows may lie further apart than k: [NewBlock] pads them to the
// width of a vector register.
//
// # Operators and steps
//
// What a map is and what one step does with it are two things:
//
//	Operator   Ā = scale·diag(left)·A·diag(right) + diag(d) + γ·u·vᵀ
//	Step       Y = α·ĀX + β·X + δ·Z
//
// Nothing of Ā is stored for each entry: the transition matrix, the
// normalised adjacency, both Laplacians and the modularity matrix cost a
// vector or two on top of A. Z may be Y itself, so a three-term recurrence
// needs two blocks; X may not. A visitor may read finished rows of Y while
// they are still in cache. Columns never mix: the work is cut into slabs of
// columns that fit registers, and where a matrix has fewer ranges than there
// are workers, its columns are shared out instead.
//
// # Layouts in memory
//
// How a matrix lies in memory changes the time of its steps and no bit of them.
// [FindLayout] finds the layout of a copy that is best for a matrix and for the blocks that
// it will be swept with, and [Layout.Load] makes the copy:
//
//   - plain column ids, four bytes each, as [Load] makes them;
//   - tiles, where the first columns have many of the entries, as in a graph by degree,
//     so that their rows of X stay in the second cache of a core: steps gather the rows of
//     one tile of columns for many rows of A, then those of the next tile. Values that are
//     not all 1 are stored in the narrowest type that holds them exactly.
//
// # Concurrency, aliasing, errors
//
// Matrices and operators are safe for concurrent use; blocks are not while
// they are written. A panel and its slices are valid only during the visit.
// Wrong shapes and overlapping blocks are the caller's mistakes and panic;
// errors come from the world (a disk, a cancelled context) and are returned.
// Every result is the same to the bit for any number of workers.
package sparse

// Package sched runs numbered pieces of work on a few goroutines.
//
// Pieces are handed out in increasing order from one counter, so that a piece
// that takes long is balanced by the others. What a piece is (a range of rows,
// a chunk of a file) is decided by the caller from the data alone, never from
// the number of workers: that is how results stay the same for any number of
// them. Sums over pieces are kept by the caller in one slot for each piece and
// added in the order of the pieces afterwards.
package sched

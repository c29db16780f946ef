// Package sched runs numbered pieces of work on several goroutines.
//
// Goroutines take pieces in increasing order from one counter, which balances pieces of different cost. The caller must
// define the pieces (ranges of rows, chunks of a file) by the data and not by the number of workers, so that results do
// not depend on this number. For example, a sum has one slot for each piece, and the slots are added in the order of
// the pieces.
package sched

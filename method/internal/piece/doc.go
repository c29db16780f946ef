// Package piece does work on all nodes in pieces of fixed length, so that results are the
// same for any number of goroutines, and makes the blocks that such work goes through. The
// [Phases] of a prediction are timed.
package piece

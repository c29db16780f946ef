// Package chunks runs loops over all nodes in pieces of fixed length, so that results are the same for
// any number of goroutines, and allocates blocks without padding for them.
package chunks

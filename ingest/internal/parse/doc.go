// Package parse reads the numbers of edge lists for package ingest, in a fast loop over
// lines of the usual form. A [Template] describes that form. Lines of another form are
// left to the caller.
package parse

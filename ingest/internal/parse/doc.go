// Package parse reads the numbers of edge lists: it is the room of package ingest with
// the loop over lines of the usual form. A [Template] says what these are; what does not
// follow it is left to the caller, line by line.
package parse

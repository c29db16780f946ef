// Package sort makes sorted rows from lines in any order, for package ingest: entries are
// thrown into buckets, sorted by radix and merged. Those that exceed the memory go to a
// temporary file.
//
//	s := &sort.Sorter{Context: ctx, Workers: 2, Rows: n, View: sort.Undirected, Load: load}
//	counts, err := s.Plan(lines)                  // of each part
//	err = s.Each(func(b *sort.Rows) error { … })  // buckets of rows, in order
//
// A [Sorter] reads the lines of all parts twice, whatever the memory: to count the
// entries of each bucket, and to make them. [Sorter.Bytes] returns its memory after Plan. Rows are
// the same for any number of workers and any memory.
package sort

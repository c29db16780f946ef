// Package sort makes sorted rows from lines in any order, for package ingest. It puts entries into buckets,
// sorts them by radix and merges them. Entries that do not fit in memory go to a temporary file.
//
//	s := &sort.Sorter{Context: ctx, Workers: 2, Rows: n, View: sort.Undirected, Load: load}
//	counts, err := s.Plan(lines)                  // of each part
//	err = s.Each(func(b *sort.Rows) error { … })  // buckets of rows, in order
//
// Plan reads the lines of all parts to count the entries of each bucket, and Each reads them again.
// [Sorter.Bytes] returns the memory after Plan. Rows are the same for any number of workers and any memory
// limit.
package sort

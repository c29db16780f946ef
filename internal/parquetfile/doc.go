// Package parquetfile reads and writes Parquet row by row: a [Reader] some columns of a
// file, within a memory limit, and a [Writer] columns of text, numbers
// and truth values.
package parquetfile

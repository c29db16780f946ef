// Package parquetfile reads and writes Parquet files row by row. A [Reader] reads selected
// columns within a memory limit. A [Writer] writes columns of text, numbers and booleans.
package parquetfile

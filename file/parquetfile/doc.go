// Package parquetfile reads and writes Parquet files row by row, within a memory limit. Import it blank to let a program
// read and write them wherever it reads tables:
//
//	import _ "github.com/heatwalk/heatwalk/file/parquetfile"
package parquetfile

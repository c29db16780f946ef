package textio

import (
	"path/filepath"

	"github.com/heatwalk/heatwalk/file/input"
)

// Error is [input.Error].
type Error = input.Error

// ErrInput is [input.ErrInput].
var ErrInput = input.ErrInput

// Fault is [input.Fault].
func Fault(file string, line int64, fix, format string, args ...any) *Error {
	return input.Fault(file, line, fix, format, args...)
}

// Partition returns the name of a folder in a directory of hive partitions, for example label=red. It returns "" for
// other directories.
func Partition(path string) string {
	folders, _ := filepath.Glob(filepath.Join(path, "*=*"))
	if len(folders) == 0 {
		return ""
	}
	return filepath.Base(folders[0])
}

// Directory returns the error about a directory where a file is needed.
func Directory(path string) *Error {
	if partition := Partition(path); partition != "" {
		return &Error{File: path, Msg: "a folder of hive partitions, such as " + partition, Err: ErrInput,
			Fix: `write one file: duckdb -c "COPY (FROM read_parquet('` + path + `/**/*.parquet', hive_partitioning = true)) TO 'all.parquet'"`}
	}
	return &Error{File: path, Msg: "a directory", Fix: "list its files",
		Err: ErrInput}
}

//go:build !linux

package ingest

// adviseHugePages does nothing where the system cannot be asked.
func adviseHugePages[T uint32 | uint64 | float64]([]T) {}

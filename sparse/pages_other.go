//go:build !linux

package sparse

// adviseHugePages does nothing where the system cannot be asked.
func adviseHugePages[T Float]([]T) {}

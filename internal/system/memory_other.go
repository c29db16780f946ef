//go:build !linux && !darwin

package system

import "runtime"

// PeakMemory returns the memory that the Go runtime has obtained from the system, in bytes. It is an upper bound on the
// resident memory.
func PeakMemory() int64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.Sys)
}

// machine returns 0, because the memory of the machine is unknown.
func machine() int64 { return 0 }

// container returns 0, because the system has no such limit.
func container() int64 { return 0 }

// addressSpace returns zeros, because the limit is read on Linux only.
func addressSpace() (limit, used int64) { return 0, 0 }

//go:build !linux && !darwin

package system

import "runtime"

// PeakMemory returns the memory that the Go runtime has obtained from the
// system, in bytes, which bounds its resident memory from above.
func PeakMemory() int64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.Sys)
}

// Memory returns 0: the memory of the machine is not known here.
func Memory() int64 { return 0 }

// container returns 0: there is no such limit here.
func container() int64 { return 0 }

// addressSpace returns zeros: such a limit is not looked for here.
func addressSpace() (limit, taken int64) { return 0, 0 }

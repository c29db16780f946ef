//go:build !linux && !darwin

package cli

import "runtime"

// peakMemory returns the memory that the Go runtime has obtained from the
// system, in bytes, which bounds its resident memory from above.
func peakMemory() int64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.Sys)
}

// machineMemory returns 0: the memory of the machine is not known here.
func machineMemory() int64 { return 0 }

// containerMemory returns 0: there is no such limit here.
func containerMemory() int64 { return 0 }

// addressSpace returns zeros: such a limit is not looked for here.
func addressSpace() (limit, taken int64) { return 0, 0 }

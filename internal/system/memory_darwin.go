package system

import (
	"golang.org/x/sys/unix"
)

// PeakMemory returns the largest resident memory of this process so far, in bytes.
func PeakMemory() int64 {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return usage.Maxrss
}

// machine returns the memory of the machine in bytes, or 0 if it is unknown.
func machine() int64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(n)
}

// container returns 0, because the system has no such limit.
func container() int64 { return 0 }

// addressSpace returns zeros, because the limit is read on Linux only.
func addressSpace() (limit, used int64) { return 0, 0 }

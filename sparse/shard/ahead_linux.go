package shard

import (
	"golang.org/x/sys/unix"

	"github.com/heatwalk/heatwalk/internal/durable"
)

// willNeed announces that a part of a file is read soon. The system begins to
// read it at once if it has not got it; this does not wait. A kernel takes only
// so much of one announcement, so there are several.
func willNeed(f durable.File, offset, bytes int64) {
	onDisk, ok := f.(interface{ Fd() uintptr })
	if !ok {
		return
	}
	const step = 128 << 10
	for at := int64(0); at < bytes; at += step {
		_ = unix.Fadvise(int(onDisk.Fd()), offset+at, min(step, bytes-at), unix.FADV_WILLNEED)
	}
}

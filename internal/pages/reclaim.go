package pages

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// reclaim collects garbage if so many bytes more would exceed the runtime's
// memory limit. The collector's own pace is for many small objects: a block made
// while it runs, or just before it would begin, comes on top of what it is to
// free. Pools keep what they have for one collection, so there are up to two.
func reclaim(bytes int) {
	if bytes < alignBytes {
		return
	}
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return
	}
	for range 2 {
		if used()+int64(bytes) <= limit {
			return
		}
		runtime.GC()
	}
}

// used returns the bytes that the runtime holds, but for pages of the heap that
// are free.
func used() int64 {
	sample := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64() - sample[1].Value.Uint64() - sample[2].Value.Uint64())
}

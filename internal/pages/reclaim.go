package pages

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
)

// making is held while a block is made, so that the next one counts it.
var making sync.Mutex

// most is the limit that [Within] allows where the first one is too low.
var most atomic.Int64

// Within makes the runtime collect garbage before it holds more than so many bytes
// or, once a block does not fit beside what is in use, more than another number
// that is not smaller.
func Within(bytes, atMost int64) {
	most.Store(atMost)
	debug.SetMemoryLimit(bytes)
}

// Expect makes room for so many bytes that something other than [Make] is
// about to take.
func Expect(bytes int64) { reclaim(int(bytes)) }

// reclaim collects garbage if so many bytes more would exceed the runtime's
// memory limit. The collector's own pace is for many small objects: a block made
// while it runs, or just before it would begin, comes on top of what it is to
// free. Pools keep what they have for one collection, so there are up to two. If
// that is not enough the limit is raised by what is missing, as far as [Within] allows.
func reclaim(bytes int) {
	limit, allowed := debug.SetMemoryLimit(-1), most.Load()
	if limit == math.MaxInt64 || bytes < hugePage && limit >= allowed {
		return
	}
	for range 2 {
		if used()+int64(bytes) <= limit {
			return
		}
		runtime.GC()
	}
	if need := used() + int64(bytes); limit < allowed && need > limit {
		// Not all at once: what is garbage by the next block would stay.
		debug.SetMemoryLimit(min(allowed, need+need/32))
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

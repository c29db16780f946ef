package system

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
)

const hugePage = 2 << 20

// making is locked during an allocation, so that the next allocation counts its memory.
var making sync.Mutex

// Strict makes an allocation panic if live memory and the new block exceed atMost of [Within]. A workspace that
// declares too little then fails in tests.
var Strict bool

// peak is the limit atMost of [Within], and planned the name part.
var (
	peak    atomic.Int64
	planned atomic.Value
)

// Within sets the memory limit of the runtime to bytes. If live memory and new blocks need more, they raise the limit,
// up to atMost ≥ bytes. A low limit at first keeps the peak close to the live memory, because the runtime lets garbage
// grow up to its limit. part names the largest part of the memory, for the panic of [Strict].
func Within(bytes, atMost int64, part string) {
	planned.Store(part)
	peak.Store(atMost)
	debug.SetMemoryLimit(bytes)
}

// Expect makes room for an allocation of the given bytes by code that does not use [Make].
func Expect(bytes int64) { reclaim(int(bytes)) }

// reclaim collects garbage if an allocation of the given bytes would exceed the memory limit of the runtime. The pace
// of the collector is made for small objects: a large block that is allocated while the collector runs, or shortly
// before, adds to the garbage that is not freed yet. reclaim collects up to twice, because a sync.Pool keeps its
// objects during the first collection. If this does not suffice, it raises the limit, as far as [Within] allows, to the
// need and an eighth more. With more, garbage would grow up to the limit. With less, a few KiB of garbage would start a
// collection, which took a quarter of the time of 20 eigenpairs of a graph with 37,700 nodes.
func reclaim(bytes int) {
	limit := debug.SetMemoryLimit(-1)
	allowed := peak.Load()
	if limit == math.MaxInt64 || bytes < hugePage && limit >= allowed {
		return
	}
	for collections := 0; ; collections++ {
		live := runtimeBytes() + int64(bytes)
		need := live
		if limit < allowed {
			need = min(allowed, need+need/8)
		}
		switch {
		case need <= limit:
			return
		case collections < 2:
			runtime.GC()
		default:
			// The limit leaves a 16th of the data free for pages that the runtime brings back, see [budget.HeapLimit].
			if Strict && live > allowed+allowed/16 {
				panic(fmt.Sprintf("%v: %d bytes in memory exceed the %d bytes of its workspace", planned.Load(), live, allowed))
			}
			if limit < allowed {
				debug.SetMemoryLimit(need)
			}
			return
		}
	}
}

// runtimeBytes returns the bytes that the runtime holds, without free pages of the heap.
func runtimeBytes() int64 {
	sample := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64() - sample[1].Value.Uint64() -
		sample[2].Value.Uint64())
}

package system

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"testing"
)

func TestGarbageBeforeBlocks(t *testing.T) {
	const block = 48 << 20
	heap := func() int64 {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		return int64(sample[0].Value.Uint64())
	}
	runtime.GC()
	runtime.GC()
	base := heap()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(base + 3*block))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var most int64
	var data []float64
	for range 12 {
		data = Make[float64](block / 8)
		most = max(most, heap()-base)
	}
	runtime.KeepAlive(data)
	if most > 3*block {
		t.Errorf("blocks of %d bytes one after the other: %d bytes of heap, limit %d", block, most, 3*block)
	}
}

func TestGarbageOfGoroutines(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a fifth of a second")
	}
	const block, blocks, goroutines = 4 << 20, 40, 6
	runtime.GC()
	runtime.GC()
	held := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.Sys - m.HeapIdle)
	}
	limit := held() + (goroutines+2)*block
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var most atomic.Int64
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range blocks {
				data := Make[float64](block / 8)
				for now := held(); ; {
					before := most.Load()
					if now <= before || most.CompareAndSwap(before, now) {
						break
					}
				}
				runtime.KeepAlive(data)
			}
		})
	}
	all.Wait()
	if more := most.Load() - limit; more > block/2 {
		t.Errorf("%d bytes above a limit of %d", more, limit)
	}
}

package pages_test

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"github.com/heatwalk/heatwalk/internal/pages"
)

// TestGarbageBeforeBlocks: blocks that are no longer used make room for the next
// ones before the heap exceeds its limit.
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
	for i := range 12 {
		if i%2 == 0 {
			data = pages.Room[float64](block / 8)
		} else {
			data = pages.Make[float64](block / 8)
		}
		most = max(most, heap()-base)
	}
	runtime.KeepAlive(data)
	if most > 3*block {
		t.Errorf("blocks of %d bytes one after the other: %d bytes of heap, limit %d", block, most, 3*block)
	}
}

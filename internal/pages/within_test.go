package pages_test

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/heatwalk/heatwalk/internal/pages"
)

// TestWithin: blocks that are all in use raise the limit, garbage does not.
func TestWithin(t *testing.T) {
	const block = 48 << 20
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	base := int64(m.Sys - m.HeapReleased)
	low, high := base+3*block, base+10*block
	pages.Within(low, high)
	for range 6 {
		_ = pages.Make[float64](block / 8)
	}
	if limit := debug.SetMemoryLimit(-1); limit != low {
		t.Errorf("garbage has made the limit %d, want %d", limit, low)
	}
	var used [][]float64
	for range 4 {
		used = append(used, pages.Make[float64](block/8))
	}
	if limit := debug.SetMemoryLimit(-1); limit != high {
		t.Errorf("%d blocks in use: limit %d, want %d", len(used), limit, high)
	}
	pages.Within(low, high)
	pages.Expect(4 * block)
	if limit := debug.SetMemoryLimit(-1); limit != high {
		t.Errorf("memory is expected: limit %d, want %d", limit, high)
	}
	runtime.KeepAlive(used)
}

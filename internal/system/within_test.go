package system

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestWithin(t *testing.T) {
	const block = 16 << 20
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	base := int64(m.Sys - m.HeapReleased)
	low, high := base+3*block, base+10*block
	garbage := func() {
		for range 6 {
			_ = Make[float64](block / 8)
		}
	}
	limit := func() int64 { return debug.SetMemoryLimit(-1) }
	Within(low, high, "blocks")
	garbage()
	if limit() != low {
		t.Errorf("garbage has made the limit %d, want %d", limit(), low)
	}
	var used [][]float64
	for range 4 {
		used = append(used, Make[float64](block/8))
	}
	if limit() < base+4*block || limit() > base+6*block {
		t.Errorf("%d blocks in use, the last of which no longer fitted %d: limit %d", len(used), low, limit())
	}
	garbage()
	if limit() > base+7*block {
		t.Errorf("garbage with %d blocks in use has raised the limit to %d", len(used), limit())
	}
	Within(low, high, "blocks")
	Expect(10 * block)
	if limit() != high {
		t.Errorf("memory is expected: limit %d, want %d", limit(), high)
	}
	runtime.KeepAlive(used)
}

func TestStrict(t *testing.T) {
	const block = 16 << 20
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	defer func() { Strict = false }()
	Strict = true
	debug.FreeOSMemory()
	limit := runtimeBytes() + 3*block
	Within(limit, limit, "columns of a kernel")
	var used [][]byte
	for range 6 {
		used = append(used[:0], Make[byte](block))
	}
	defer func() {
		if text, _ := recover().(string); !strings.HasPrefix(text, "columns of a kernel: ") || len(used) < 2 || len(used) > 3 {
			t.Errorf("with %d blocks in use: %q", len(used), text)
		}
	}()
	for range 6 {
		used = append(used, Make[byte](block))
	}
}

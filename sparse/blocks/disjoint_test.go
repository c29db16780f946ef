package blocks

import (
	"runtime"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
)

// Every component has rows in every chunk.
func TestShareMemory(t *testing.T) {
	const n, cols = 5 * ChunkRows, 3
	for _, components := range []int{1, 7, ChunkRows, n} {
		of, unit := make([]uint32, n), make([]float64, n)
		for i := range of {
			of[i], unit[i] = uint32(i%components), 1
		}
		var s Share
		x := sparse.NewBlock[float64](n, cols)
		s.RemoveTo(NewDisjointOf(nil, of, components, unit), x, x, 1)
		if held := int64(8 * (len(s.partial) + len(s.Totals))); held > ShareMemory(n, components, cols) {
			t.Errorf("%d components: %d bytes held, %d listed", components, held, ShareMemory(n, components, cols))
		}
	}
}

func TestDisjointMemory(t *testing.T) {
	const n = 1 << 18
	for _, size := range []int{1, 2, n} {
		of, unit := make([]uint32, n), make([]float64, n)
		for i := range of {
			of[i], unit[i] = uint32(i/size), 1
		}
		components, vectors := n/size, n/size
		if size == 1 {
			vectors = 0
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		NewDisjointOf(nil, of, components, unit)
		runtime.ReadMemStats(&after)
		const slots = 4 * 5 // bytes of the vector of a slot, in a slice that grows
		got, said := int(after.TotalAlloc-before.TotalAlloc), 4*n+4*components+(28+slots)*vectors+1<<16
		if got > said {
			t.Errorf("components of %d rows: %d bytes, %d expected", size, got, said)
		}
	}
}

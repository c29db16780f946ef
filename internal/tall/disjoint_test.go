package tall

import (
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
)

// Components whose rows alternate meet every chunk.
func TestShareMemory(t *testing.T) {
	const n, cols = 5 * ChunkRows, 3
	for _, components := range []int{1, 7, ChunkRows, n} {
		of, unit := make([]uint32, n), make([]float64, n)
		for i := range of {
			of[i], unit[i] = uint32(i%components), 1
		}
		var s Share
		x := sparse.NewBlock[float64](n, cols)
		if err := s.RemoveTo(t.Context(), NewDisjointOf(of, components, unit), x, x, 1); err != nil {
			t.Fatal(err)
		}
		if held := int64(8 * (len(s.sums.partial) + len(s.sums.totals))); held > ShareMemory(n, components, cols) {
			t.Errorf("%d components: %d bytes held, %d listed", components, held, ShareMemory(n, components, cols))
		}
	}
}

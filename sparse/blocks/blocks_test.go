package blocks

import (
	"runtime"
	"runtime/metrics"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
)

// BlockBytes is an upper bound of the memory of a block, including its alignment.
func TestBlockBytes(t *testing.T) {
	for _, rows := range []int{10, 3 << 17, 1<<20 - 8, 1 << 20, 5<<19 + 1} {
		sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
		metrics.Read(sample)
		before := sample[0].Value.Uint64()
		b := sparse.NewBlock[float64](rows, 1)
		metrics.Read(sample)
		runtime.KeepAlive(b)
		const slack = 1 << 20 // rounding to pages, and allocations of other goroutines
		if took, counted := int64(sample[0].Value.Uint64()-before), BlockBytes[float64](rows, 1); took > counted+slack {
			t.Errorf("%d rows take %d bytes, counted are %d", rows, took, counted)
		}
	}
}

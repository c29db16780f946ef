package bench

import (
	"context"
	"math/rand/v2"
	"unsafe"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

// Limit is a measured limit of the machine.
type Limit struct {
	Timing
	Bytes          int64   `json:"bytes"`
	BytesPerSecond float64 `json:"bytes_per_second"`
	NsPerRow       float64 `json:"ns_per_row,omitempty"`
}

// StreamBytes is the memory that [Stream] takes, far beyond the caches of the
// machines in use.
const StreamBytes = 256 << 20

// gatherEntries is the number of rows that Gather adds up.
const gatherEntries = 1 << 23

// GatherBytes returns the memory that [Gather] takes.
func GatherBytes[T sparse.Float](rows, cols int) int64 {
	return sparse.BlockBytes[T](rows, cols) + 4*gatherEntries
}

// Stream measures how fast memory is read in order: the sum of an array of
// 256 MiB on the given number of workers.
func Stream(ctx context.Context, workers, repeat int) (Limit, error) {
	data := sparse.NewBlock[float64](StreamBytes/64, 8).Data
	for i := range data {
		data[i] = 1
	}
	const chunk = 1 << 17
	chunks := len(data) / chunk
	sums := make([]float64, chunks)
	timing, err := measure(repeat, func() error {
		return sched.Run(ctx, workers, chunks, func(_, i int) error {
			part := data[i*chunk : (i+1)*chunk]
			var a, b, c, d float64
			for len(part) >= 8 {
				v := (*[8]float64)(part)
				a += v[0] + v[1]
				b += v[2] + v[3]
				c += v[4] + v[5]
				d += v[6] + v[7]
				part = part[8:]
			}
			sums[i] = a + b + c + d
			return nil
		})
	})
	return Limit{Timing: timing, Bytes: StreamBytes, BytesPerSecond: StreamBytes / timing.SecondsMin}, err
}

// Gather measures how fast rows of cols numbers are added up in random order
// out of a block of rows×cols: the limit of a sweep without locality.
func Gather[T sparse.Float](ctx context.Context, rows, cols, workers, repeat int) (Limit, error) {
	rng := rand.New(rand.NewPCG(1, 0))
	ids := make([]uint32, gatherEntries, gatherEntries+256)
	for i := range ids {
		ids[i] = uint32(rng.Uint64N(uint64(rows)))
	}
	timing, rowBytes, err := gather[T](ctx, ids, rows, cols, workers, repeat)
	bytes := int64(gatherEntries) * rowBytes
	return Limit{
		Timing:         timing,
		Bytes:          bytes,
		BytesPerSecond: float64(bytes) / timing.SecondsMin,
		NsPerRow:       timing.SecondsMin / gatherEntries * 1e9,
	}, err
}

// gather times the sum of the rows ids of a block, in chunks of one range.
func gather[T sparse.Float](ctx context.Context, ids []uint32, rows, cols, workers, repeat int) (Timing, int64, error) {
	x := sparse.NewBlock[T](rows, cols)
	for i := range x.Data {
		x.Data[i] = 1
	}
	chunks := (len(ids) + sparse.MaxRange - 1) / sparse.MaxRange
	sums := make([]T, sched.Workers(workers)*x.Stride)
	timing, err := measure(repeat, func() error {
		return sched.Run(ctx, workers, chunks, func(worker, i int) error {
			part := ids[i*sparse.MaxRange:]
			n := min(len(part), sparse.MaxRange)
			sum := sums[worker*x.Stride : (worker+1)*x.Stride]
			simd.GatherSum(simd.Rows[T]{Data: sum, Stride: x.Stride}, x.Stride, []T{1},
				simd.Rows[T]{Data: x.Data, Stride: x.Stride}, []int64{0, int64(n)}, part)
			return nil
		})
	})
	var t T
	return timing, int64(x.Stride) * int64(unsafe.Sizeof(t)), err
}

package bench

import (
	"context"
	"math/rand/v2"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

// streamBytes is the memory that stream takes, far beyond the caches of the
// machines in use.
const streamBytes = 256 << 20

// gatherEntries is the number of rows that are added up.
const gatherEntries = 1 << 23

func measuredStreamBytes(*Target, *Settings) (int64, error) { return streamBytes, nil }

// stream measures how fast memory is read in order: the sum of an array of 256 MiB.
func stream(ctx context.Context, _ *Target, s *Settings) (*Report, error) {
	data := sparse.NewBlock[float64](streamBytes/64, 8).Data
	for i := range data {
		data[i] = 1
	}
	const chunk = 1 << 17
	chunks := len(data) / chunk
	sums := make([]float64, chunks)
	v, err := measure(s.Repeat, func() error {
		return sched.Run(ctx, s.Workers, chunks, func(_, i int) error {
			chunkData := data[i*chunk : (i+1)*chunk]
			var a, b, c, d float64
			for len(chunkData) >= 8 {
				v := (*[8]float64)(chunkData)
				a += v[0] + v[1]
				b += v[2] + v[3]
				c += v[4] + v[5]
				d += v[6] + v[7]
				chunkData = chunkData[8:]
			}
			sums[i] = a + b + c + d
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	v.Bytes, v.BytesPerSecond = streamBytes, streamBytes/v.SecondsMin
	return v, nil
}

// gatherBytes returns the memory of gatherRandom: the block and the ids of rows.
func gatherBytes(_ *Target, s *Settings) (int64, error) {
	return s.blockBytes(s.Rows, s.Columns) + 4*gatherEntries, nil
}

// gatherRandom measures how fast rows are added up in random order out of a block: the
// limit of a sweep without locality.
func gatherRandom(ctx context.Context, _ *Target, s *Settings) (*Report, error) {
	rng := rand.New(rand.NewPCG(1, 0))
	ids := make([]uint32, gatherEntries, gatherEntries+256)
	for i := range ids {
		ids[i] = uint32(rng.Uint64N(uint64(s.Rows)))
	}
	v, err := gather(ctx, ids, s.Rows, s)
	if err != nil {
		return nil, err
	}
	v.Bytes = gatherEntries * s.blockBytes(1, s.Columns)
	v.BytesPerSecond, v.NsPerRow = float64(v.Bytes)/v.SecondsMin, v.SecondsMin/gatherEntries*1e9
	return v, nil
}

// gather times the sum of the rows ids of a block of the given number of rows, in chunks of one range.
func gather(ctx context.Context, ids []uint32, rows int, s *Settings) (*Report, error) {
	if s.Double {
		return gatherOf[float64](ctx, ids, rows, s)
	}
	return gatherOf[float32](ctx, ids, rows, s)
}

func gatherOf[T sparse.Float](ctx context.Context, ids []uint32, rows int, s *Settings) (*Report, error) {
	x := sparse.NewBlock[T](rows, s.Columns)
	for i := range x.Data {
		x.Data[i] = 1
	}
	chunks := (len(ids) + sparse.MaxRange - 1) / sparse.MaxRange
	sums := make([]T, sched.Workers(s.Workers)*x.Stride)
	return measure(s.Repeat, func() error {
		return sched.Run(ctx, s.Workers, chunks, func(worker, i int) error {
			entries := ids[i*sparse.MaxRange:]
			n := min(len(entries), sparse.MaxRange)
			sum := sums[worker*x.Stride : (worker+1)*x.Stride]
			simd.Gather(simd.Rows[T]{Data: sum, Stride: x.Stride}, x.Stride, []T{1},
				simd.Rows[T]{Data: x.Data, Stride: x.Stride}, []int64{0, int64(n)}, entries, nil)
			return nil
		})
	})
}

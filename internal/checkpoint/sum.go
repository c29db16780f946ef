package checkpoint

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// GraphSum returns a hash of the rows of a graph: the sum of a hash of each row. Cost: one sweep.
func GraphSum(ctx context.Context, a sparse.Matrix, workers int) (string, error) {
	sums := make([][sha256.Size / 8]uint64, sched.Workers(workers))
	buffers := make([][]byte, len(sums))
	err := sparse.EachRow(ctx, a, workers, func(worker, row int, col []uint32, val []float64) error {
		b := binary.LittleEndian.AppendUint64(buffers[worker][:0], uint64(row))
		b = binary.LittleEndian.AppendUint64(b, uint64(len(col)))
		for _, c := range col {
			b = binary.LittleEndian.AppendUint32(b, c)
		}
		for _, v := range val {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		buffers[worker] = b
		hash := sha256.Sum256(b)
		for i := range sums[worker] {
			sums[worker][i] += binary.LittleEndian.Uint64(hash[8*i:])
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	n, _ := a.Dims()
	list := binary.LittleEndian.AppendUint64(nil, uint64(n))
	for i := range sums[0] {
		total := uint64(0)
		for _, s := range sums {
			total += s[i]
		}
		list = binary.LittleEndian.AppendUint64(list, total)
	}
	sum := sha256.Sum256(list)
	return hex.EncodeToString(sum[:16]), nil
}

// BlockSum returns a hash of the elements of a block, or "" for nil.
func BlockSum(b *sparse.Block[float64]) string {
	if b == nil {
		return ""
	}
	h := sha256.New()
	for i := range b.Rows {
		_ = binary.Write(h, binary.LittleEndian, b.Row(i)) // writing to a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

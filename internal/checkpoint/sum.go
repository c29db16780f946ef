package checkpoint

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"

	"github.com/heatwalk/heatwalk/sparse"
)

// GraphSum returns a hash of the rows of a graph. Cost: one sweep.
func GraphSum(ctx context.Context, a sparse.Matrix, workers int) (string, error) {
	sums := make([][sha256.Size]byte, len(a.Ranges()))
	err := a.Sweep(ctx, workers, func(_ int, panel sparse.Panel) error {
		var b []byte
		h := sha256.New()
		for i := range panel.Hi - panel.Lo {
			col, val := panel.Row(i)
			b = binary.LittleEndian.AppendUint64(b[:0], uint64(len(col)))
			for _, c := range col {
				b = binary.LittleEndian.AppendUint32(b, c)
			}
			for _, v := range val {
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
			}
			h.Write(b)
		}
		h.Sum(sums[panel.Index][:0])
		return nil
	})
	if err != nil {
		return "", err
	}
	n, _ := a.Dims()
	list := binary.LittleEndian.AppendUint64(nil, uint64(n))
	for _, s := range sums {
		list = append(list, s[:]...)
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

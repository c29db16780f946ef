package sparse

import (
	"context"
	"sync"

	"github.com/heatwalk/heatwalk/internal/system"
)

// Load returns a copy of a in memory with plain column ids of 4 bytes. Cost: one sweep.
func Load(ctx context.Context, a Matrix, workers int) (*CSR, error) {
	rows, cols := a.Dims()
	ranges := a.Ranges()
	start := make([]int64, len(ranges)+1)
	for i, r := range ranges {
		start[i+1] = start[i] + int64(r.Entries)
	}
	m := &CSR{rows: rows, cols: cols, ranges: ranges, ptr: make([]int64, rows+1),
		col: system.Make[uint32](int(a.NNZ()) + spareIDs)[:a.NNZ()]}
	m.ptr[rows] = a.NNZ()
	var weighted sync.Once
	ones := make([]bool, len(ranges)) // ranges without values
	err := Sweep(ctx, a, workers, func(_ int, p Panel) error {
		offset := start[p.Index]
		copy(m.col[offset:], p.Col)
		if p.Val == nil {
			ones[p.Index] = true
		} else {
			weighted.Do(func() { m.val = make([]float64, a.NNZ()) })
			copy(m.val[offset:], p.Val)
		}
		if p.Piece == 0 {
			for i := p.Lo; i < p.Hi; i++ {
				m.ptr[i] = offset + p.Ptr[i-p.Lo] - p.Ptr[0]
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if m.val != nil {
		for i, unweighted := range ones {
			if unweighted {
				for e := start[i]; e < start[i+1]; e++ {
					m.val[e] = 1
				}
			}
		}
	}
	return m, nil
}

// LoadBytes returns the memory of the result of [Load] for the given numbers of rows and entries, with values if
// weighted is set.
func LoadBytes(rows, entries int64, weighted bool) int64 {
	bytes := 9*rows + 4*entries
	if weighted {
		bytes += 8 * entries
	}
	return bytes
}

// spareIDs is the number of ids behind the last column id that the gather loops may read. If they are fewer, a slower
// loop gathers the last rows.
const spareIDs = 256

package tablefile

import (
	"context"
	"io"

	"github.com/heatwalk/heatwalk/sparse"
)

// ReadCSR reads the nonzero entries of a matrix, and the ids of its rows. The ids are the lines of the file called
// named ("-" reads stdin) or, if named is "", the ids that [File.Axis] finds, or else numbers from 0. The error about
// a repeated id is a [*nodefile.ParseError].
//
// If room is not nil, ReadCSR calls it before the entries grow, with the number of entries so far and the bytes
// required. After an error of room, ReadCSR only counts the remaining entries. It then calls room with the number of
// entries of the whole matrix, and returns the error of this call and the ids.
func ReadCSR(ctx context.Context, f *File, named string, stdin io.Reader,
	room func(entries, bytes int64) error) (*sparse.CSR, []string, error) {
	ids, err := f.rowIDs(ctx, named, stdin)
	if err != nil {
		return nil, nil, err
	}
	const entry = 2 * (4 + 8) // bytes of a column and a value, twice because append copies as it grows
	var (
		ptr = make([]int64, 1, f.Rows+1)
		col []uint32
		val []float64
	)
	reading := f.rowBytes(8)
	if room != nil {
		if err := room(0, reading); err != nil {
			return nil, ids, err
		}
	}
	full := false // whether room returned an error: then only count entries
	var entries int64
	err = Read(ctx, f, func(_ []byte, row []float64) error {
		for j, v := range row {
			if v != 0 {
				entries++
			}
			if v != 0 && !full {
				col = append(col, uint32(j))
				val = append(val, v)
			}
		}
		ptr = append(ptr, int64(len(col)))
		if room == nil {
			return nil
		}
		if !full && room(entries, reading+entry*int64(cap(col))) != nil {
			full = true
			col = nil
			val = nil
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if full {
		return nil, ids, room(entries, reading+entry*(entries+entries/4))
	}
	x, err := sparse.NewCSR(len(ptr)-1, f.Cols, ptr, col, val)
	return x, ids, err
}

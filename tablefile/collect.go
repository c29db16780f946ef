package tablefile

import (
	"context"
	"io"

	"github.com/heatwalk/heatwalk/sparse"
)

// ReadCSR reads a matrix and keeps its entries that are not zero. It returns them with
// what the rows are called: by the lines of the file named ("-" reads stdin), or for "" as
// [File.Axis] finds out, or else by numbers from 0. An id that is given twice is a
// [*nodefile.ParseError]. room is asked, as the entries grow, whether so many bytes may be
// taken; nil: always. Where they may not all entries are counted, and the error is what it
// says of these; the ids are returned with it.
func ReadCSR(ctx context.Context, f *File, named string, stdin io.Reader, room func(entries, bytes int64) error) (*sparse.CSR, []string, error) {
	ids, err := f.rowIDs(ctx, named, stdin)
	if err != nil {
		return nil, nil, err
	}
	const entry = 2 * (4 + 8) // bytes of a column and a value, which are copied as they grow
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
	full := false // entries are only counted
	var entries int64
	err = Read(ctx, f, func(_ []byte, row []float64) error {
		for j, v := range row {
			if v != 0 {
				entries++
			}
			if v != 0 && !full {
				col, val = append(col, uint32(j)), append(val, v)
			}
		}
		ptr = append(ptr, int64(len(col)))
		if room == nil {
			return nil
		}
		if !full && room(entries, reading+entry*int64(cap(col))) != nil {
			full, col, val = true, nil, nil
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

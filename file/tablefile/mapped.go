package tablefile

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/npy"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/sparse"
)

// mappedBytes is the size, as float32, above which rows of an array stay in its file.
const mappedBytes = 64 << 20

// isMapped reports whether the rows of f stay in its file. The file must be a plain .npy file. Its size as float32
// must exceed mappedBytes or the share of the memory limit for reading.
func (f *File) isMapped(memory int64) bool {
	bytes := 4 * int64(f.Rows) * int64(f.Cols)
	return (bytes > mappedBytes ||
		memory > 0 && bytes > memory/readingShare) && isPlain(f)
}

func isPlain(f *File) bool {
	if f.Format != NPY {
		return false
	}
	info, err := os.Stat(f.path)
	return err == nil && info.Mode().IsRegular() &&
		filepath.Ext(f.path) == NPY.Endings[0]
}

type mappedRows struct {
	array *npy.Array
	file  *os.File
	cols  int
	place []int32 // row in the file of each row, −1: missing; nil: the same row

	middle []float64 // subtracted from the columns in float64; nil: nothing

	mu  sync.Mutex
	err error // guarded by mu
}

func (m *mappedRows) Has(i int) bool {
	return m.place == nil || m.place[i] >= 0
}

func (m *mappedRows) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

func (m *mappedRows) RowsTo(dst []float32, lo int) {
	if m.place == nil {
		m.read(dst, lo)
		return
	}
	for i := range len(dst) / m.cols {
		if row := dst[i*m.cols:][:m.cols]; m.place[lo+i] < 0 {
			clear(row)
		} else {
			m.read(row, int(m.place[lo+i]))
		}
	}
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// read stores whole rows of the file, beginning with row lo, in dst.
func (m *mappedRows) read(dst []float32, lo int) {
	b := buffers.Get().(*[]byte)
	defer buffers.Put(b)
	size := len(dst) * m.array.Width
	*b = slices.Grow((*b)[:0], size)[:size]
	if _, err := m.file.ReadAt(*b,
		m.array.Start+int64(lo)*int64(m.cols)*int64(m.array.Width)); err != nil {
		m.mu.Lock()
		if m.err == nil {
			m.err = m.array.Fault(fetchAgain, "row %d cannot be read (%v)", lo,
				err)
		}
		m.mu.Unlock()
		clear(dst)
		return
	}
	if m.middle == nil {
		npy.Decode32(m.array, dst, *b)
		return
	}
	values := make([]float64, m.cols)
	for row := range len(dst) / m.cols {
		m.array.Decode(values, (*b)[row*m.cols*m.array.Width:])
		for j, x := range values {
			dst[row*m.cols+j] = float32(x - m.middle[j])
		}
	}
}

func (r *features) mapMatrix(ctx context.Context, f *File) (err error) {
	m := &mappedRows{cols: f.Cols}
	if m.file, err = os.Open(f.path); err != nil {
		return err
	}
	r.mapped = m.file
	if m.array, err = npy.Read(f.Name, m.file); err != nil {
		return err
	}
	if m.array.Fortran {
		return m.array.Fault("save numpy.ascontiguousarray of it", "stored by columns")
	}
	bytes := 4 * int64(r.nodes.Len())
	t := &sparse.Table{Rows: r.nodes.Len(), Cols: f.Cols, Source: m, Bytes: bytes}
	r.Table = t
	if err := budget.Check(r.c.Memory, bytes, "rows of attributes"); err != nil {
		r.outline = t
		return err
	}
	place := slices.Repeat([]int32{-1}, t.Rows)
	identity := f.Rows == t.Rows
	for i := range f.Rows {
		id := []byte(r.ids.ID(i))
		row, isNode := r.unknown.Find(r.nodes.Lookup, 0, id)
		switch {
		case !isNode:
			identity = false
			continue
		case place[row] >= 0:
			return textio.Fault(r.file, 0, "keep one of them", "%s has two rows",
				words.Quoted(id))
		}
		place[row] = int32(i)
		identity = identity && row == i
		t.Present++
	}
	if !f.Single {
		if m.middle, err = r.middleOf(ctx, f); err != nil {
			return err
		}
	}
	values := make([]float32, max(1, 1<<16/f.Cols)*f.Cols)
	width := f.Cols
	for lo := 0; lo < f.Rows; lo += len(values) / width {
		if ctx.Err() != nil {
			return sched.Cause(ctx)
		}
		block := values[:min(len(values), (f.Rows-lo)*width)]
		m.read(block, lo)
		for i, x := range block {
			if x-x != 0 {
				return m.elementError(f, lo+i/width, i%width)
			}
			if x != 0 {
				t.Entries++
			}
		}
	}
	if !identity {
		m.place = place
	} else {
		t.Bytes = 0
	}
	return m.err
}

// CopyRows writes attributes in a .npy file to w, with the rows in the order of the nodes and elements of the same
// type. It returns the number of columns and the name of the type. The rows have the ids that [ReadFeatures] uses.
// The error is a [*nodefile.ParseError] if ReadFeatures would return one, or if the file is not a plain .npy file
// stored by rows, with one row for each node.
func CopyRows(ctx context.Context, w io.Writer, path string, nodes nodefile.Lookup,
	c *FeatureConfig) (columns int, element string, err error) {
	c = cmp.Or(c, new(FeatureConfig))
	f, err := Inspect(ctx, path, nil)
	if err != nil {
		return 0, "", err
	}
	switch {
	case !isPlain(f):
		return 0, "", textio.Fault(path, 0, "save the attributes with numpy.save",
			"is no .npy file")
	case f.Rows != nodes.Len():
		return 0, "", textio.Fault(path, 0, "give each node a row",
			"%d rows, but the graph has %d nodes", f.Rows, nodes.Len())
	}
	r := newFeatures(path, nodes, c)
	if err = r.readIDs(ctx, f); err == nil {
		err = r.mapMatrix(ctx, f)
	}
	defer r.Close() // the file was only read
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return 0, "", err
	}
	m := r.Table.Source.(*mappedRows)
	if _, err = io.Copy(w, io.NewSectionReader(m.file, 0, m.array.Start)); err != nil {
		return 0, "", err
	}
	row := make([]byte, m.cols*m.array.Width)
	for i := range nodes.Len() {
		place := i
		if m.place != nil {
			place = int(m.place[i])
		}
		if _, err = m.file.ReadAt(row, m.array.Start+int64(place)*int64(len(row))); err == nil {
			_, err = w.Write(row)
		}
		if err == nil && ctx.Err() != nil {
			err = sched.Cause(ctx)
		}
		if err != nil {
			return 0, "", err
		}
	}
	return m.cols, npy.TypeOf(m.array), nil
}

func (m *mappedRows) elementError(f *File, i, j int) error {
	b := make([]byte, m.array.Width)
	value := make([]float64, 1)
	if _, err := m.file.ReadAt(b, m.array.Start+int64(i*m.cols+j)*int64(m.array.Width)); err != nil {
		return err
	}
	m.array.Decode(value, b)
	return elementError(f, i, j, value[0])
}

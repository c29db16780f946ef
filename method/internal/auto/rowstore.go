package auto

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"unsafe"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// rowStore is a matrix with a row for each node, written by slabs of columns and read by rows. It is in a temporary file if
// it exceeds the memory limit.
type rowStore struct {
	cols  int
	slabs []storedSlab
	files *tempFiles
	file  durable.File // nil: in memory
	end   int64
}

// storedSlab holds count columns from column first on, count columns from column first + period on, and so on.
type storedSlab struct {
	first, count, period int
	cols                 int
	block                *featureBlock // nil: at offset in the file
	offset               int64
}

// tempFiles are the temporary files of a prediction. Stores of a nil tempFiles are in memory.
type tempFiles struct {
	dir   *durable.TempDir
	files []durable.File

	mu  sync.Mutex
	err error // first error of reading; guarded by mu
}

// newTempFiles makes a directory for temporary files in parent, or in the system's default directory if
// parent is empty.
func newTempFiles(parent string) (*tempFiles, error) {
	parent = cmp.Or(parent, os.TempDir())
	dir, err := durable.NewTempDir(parent)
	if err == nil {
		err = durable.OS.Mkdir(dir.Content())
	}
	if err != nil {
		return nil, fmt.Errorf("create temporary files in %s: %w", parent, err)
	}
	return &tempFiles{dir: dir}, nil
}

// remove removes the files. It returns the first error of reading them, or the error of removing them.
func (t *tempFiles) remove() error {
	if t == nil {
		return nil
	}
	for _, f := range t.files {
		_ = f.Close()
	}
	if err := t.dir.Remove(); t.err == nil {
		return err
	}
	return t.err
}

func (t *tempFiles) newStore(cols int) (s *rowStore, err error) {
	s = &rowStore{cols: cols, files: t}
	if t != nil {
		s.file, err = durable.OS.Create(filepath.Join(t.dir.Content(),
			fmt.Sprint(len(t.files))))
		if err == nil {
			t.files = append(t.files, s.file)
		}
	}
	return s, err
}

const storedRows = 512

// putSlab stores the columns of x. The columns of the store are in groups of period columns, and x has as many columns of
// every group: part j of x is stored from column first + j·period on. The store keeps x.
func (s *rowStore) putSlab(first, period int, x *featureBlock) error {
	slab := storedSlab{first: first, count: x.Cols / (s.cols / period),
		period: period, cols: x.Cols, offset: s.end}
	if s.file == nil {
		slab.block = x
	}
	for lo := 0; s.file != nil && lo < x.Rows; lo += storedRows {
		piece := newBlock(min(storedRows, x.Rows-lo), x.Cols)
		blocks.Copy(piece, blocks.Range(x, lo, lo+piece.Rows))
		if _, err := s.file.WriteAt(bytesOf(piece.Data), s.end); err != nil {
			return fmt.Errorf("write temporary files: %w", err)
		}
		s.end += 4 * int64(len(piece.Data))
	}
	s.slabs = append(s.slabs, slab)
	return nil
}

// readRowsTo stores in dst the rows from row lo on. [tempFiles.remove] returns errors of reading.
func (s *rowStore) readRowsTo(dst *featureBlock, lo int) {
	var values []float32
	for _, slab := range s.slabs {
		x := slab.block
		if x != nil {
			x = blocks.Range(x, lo, lo+dst.Rows)
		} else {
			values = slices.Grow(values[:0],
				dst.Rows*slab.cols)[:dst.Rows*slab.cols]
			x = sparse.BlockOf(dst.Rows, slab.cols, values)
			if _, err := s.file.ReadAt(bytesOf(values),
				slab.offset+4*int64(lo)*int64(slab.cols)); err != nil {
				s.files.note(err)
			}
		}
		for i := range dst.Rows {
			for block := range s.cols / slab.period {
				column := slab.first + block*slab.period
				copy(dst.Row(i)[column:], x.Row(i)[block*slab.count:(block+1)*slab.count])
			}
		}
	}
}

func (s *rowStore) row(v int) []float32 {
	dst := newBlock(1, s.cols)
	s.readRowsTo(dst, v)
	return dst.Row(0)
}

func (t *tempFiles) note(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = fmt.Errorf("read temporary files: %w", err)
	}
}

func bytesOf(values []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))),
		4*len(values))
}

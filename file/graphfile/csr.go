package graphfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/heatwalk/heatwalk/file/npy"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/sparse"
)

// Arrays is a folder with the arrays of a SciPy matrix in .npy files: indptr, indices and data. If data is missing,
// all values are 1. The format is only read.
var Arrays = &Format{Title: "SciPy arrays", Read: readBatches(readArrays)}

type arrays interface {
	Has(name string) bool
	IsEmpty() bool
	Size(name string) int64
	Open(name string) (*npy.Array, error)
}

// IsArrays reports whether a path is a folder that [Arrays] reads.
func IsArrays(path string) bool {
	info, err := os.Stat(path)
	folder := &npy.Folder{Name: path}
	return err == nil && info.IsDir() && folder.Has("indptr") &&
		folder.Has("indices")
}

// ArraysFile returns the name of indices.npy in a folder of [Arrays]. Inputs name the folder by this file.
func ArraysFile(folder string) string {
	return filepath.Join(folder, "indices.npy")
}

// Files returns the files of an input: the arrays of a folder of [Arrays], or path itself.
func Files(path string) []string {
	if !IsArrays(path) {
		return []string{path}
	}
	files := []string{filepath.Join(path, "indptr.npy"), ArraysFile(path)}
	if data := filepath.Join(path, "data.npy"); (&npy.Folder{Name: path}).Has("data") {
		files = append(files, data)
	}
	return files
}

func readArrays(s *batchWriter) (*Summary, error) {
	s.Name = filepath.Dir(s.Name)
	folder := &npy.Folder{Name: s.Name}
	defer folder.Close()
	return readMatrix(s, folder)
}

// HoldsArrays reports whether a path is a folder that [Arrays] reads, or a zip archive.
func HoldsArrays(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return err == nil && IsArrays(path)
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	var head [4]byte
	n, _ := file.ReadAt(head[:], 0)
	return isZip(head[:n])
}

// CSR is an undirected graph in memory, loaded without changes from the arrays of a file.
type CSR struct {
	*sparse.Symmetric
	Format *Format
	Bytes  int64
}

var errOther = errors.New("graphfile: not the arrays of an undirected graph with sorted rows")

// LoadCSR loads the matrix of an undirected graph from a SciPy archive or a folder of arrays, without sorting. The
// matrix must be CSR or CSC and symmetric, with columns in order and positive weights. If the file is damaged, is
// another file or takes more than limit bytes (0: no limit), LoadCSR returns nil and no error; [Read] then reads it.
//
// LoadCSR calls progress, if not nil, with the bytes read. The error is the error of the context.
func LoadCSR(ctx context.Context, path string, limit int64, workers int,
	progress func(done, total int64)) (*CSR, error) {
	info, err := os.Stat(path)
	if err != nil || !HoldsArrays(path) {
		return nil, nil
	}
	l := &loader{npz: &npz{out: &batchWriter{Input: &Input{Name: path}}},
		format: SciPy, bytes: info.Size(), workers: workers, limit: limit,
		progress: progress}
	if info.IsDir() {
		folder := &npy.Folder{Name: path}
		defer folder.Close()
		l.npz.archive, l.format, l.bytes = folder, Arrays,
			folder.Size("indptr")+folder.Size("indices")+folder.Size("data")
	} else {
		file, err := os.Open(path)
		if err != nil {
			return nil, nil
		}
		defer file.Close()
		if l.npz.archive, err = npy.OpenArchive(path, file, info.Size()); err != nil {
			return nil, nil
		}
	}
	matrix, err := l.load(ctx)
	if ctx.Err() != nil {
		return nil, sched.Cause(ctx)
	}
	if now, changed := os.Stat(path); err != nil || changed != nil ||
		info.Size() != now.Size() || !info.ModTime().Equal(now.ModTime()) {
		return nil, nil
	}
	return &CSR{matrix, l.format, l.bytes}, nil
}

type loader struct {
	npz      *npz
	format   *Format
	bytes    int64
	limit    int64
	workers  int
	progress func(done, total int64)

	ptr []int64
	col []uint32
	val []float64 // nil: all are 1
}

func (l *loader) load(ctx context.Context) (*sparse.Symmetric, error) {
	form, err := l.npz.detectForm()
	if err != nil || form != "csr" && form != "csc" { // CSR and CSC are the same for a symmetric matrix
		return nil, errOther
	}
	if err := l.npz.square(form); err != nil {
		return nil, err
	}
	entries, err := l.length("indices")
	if err != nil {
		return nil, err
	}
	rows, err := l.length("indptr")
	if err != nil || rows != l.npz.nodes+1 || entries == 0 {
		return nil, errOther
	}
	hasData := l.npz.has("data")
	if values, err := l.length("data"); hasData && (err != nil || values != entries) {
		return nil, errOther
	}
	if need := sparse.LoadBytes(l.npz.nodes, entries, hasData) + 8*l.npz.nodes; l.limit > 0 && need > l.limit {
		return nil, errOther
	}
	l.report(0)
	// The largest array first, beside the two others.
	err = sched.Run(ctx, l.workers, 3, func(_, piece int) error {
		switch piece {
		case 0:
			return l.loadValues(ctx, hasData)
		case 1:
			return l.loadColumns(ctx, int(entries))
		}
		a, err := l.npz.vector("indptr")
		if err != nil {
			return err
		}
		l.ptr = make([]int64, a.Len)
		if err := a.Integers(l.ptr); err != nil {
			return err
		}
		return a.End()
	})
	if err != nil {
		return nil, err
	}
	l.report(l.bytes)
	return sparse.NewSymmetric(ctx, int(l.npz.nodes), l.ptr, l.col,
		l.val, l.workers)
}

func (l *loader) report(done int64) {
	if l.progress != nil {
		l.progress(done, l.bytes)
	}
}

func (l *loader) length(name string) (int64, error) {
	if !l.npz.has(name) {
		return 0, errOther
	}
	a, err := l.npz.vector(name)
	if err != nil {
		return 0, err
	}
	const mostDeflated = 1100 // largest ratio of compression
	if size := l.npz.archive.Size(l.npz.prefix +
		name); a.Len*int64(a.Width) > size || size/mostDeflated > l.bytes {
		return 0, errOther
	}
	return a.Len, nil
}

// loadBlock is the number of elements per read. They are checked while they are in the cache.
const loadBlock = 1 << 16

func (l *loader) loadColumns(ctx context.Context, entries int) error {
	a, err := l.npz.vector("indices")
	if err != nil {
		return err
	}
	l.col = sparse.MakeColumns(entries)
	for start := 0; start < entries; start += loadBlock {
		ok, err := a.Uint32s(l.col[start:min(start+loadBlock, entries)])
		if err != nil {
			return err
		}
		if !ok || ctx.Err() != nil {
			return errOther
		}
	}
	return a.End()
}

func (l *loader) loadValues(ctx context.Context, hasData bool) error {
	if !hasData {
		return nil
	}
	a, err := l.npz.vector("data")
	if err != nil {
		return err
	}
	entries := int(a.Len)
	buffer := make([]float64, min(loadBlock, entries))
	for start := 0; start < entries; start += loadBlock {
		n := min(loadBlock, entries-start)
		values := buffer[:n]
		if l.val != nil {
			values = l.val[start : start+n]
		}
		if err := a.Floats(values); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return errOther
		}
		if a.Width == 8 && a.Kind != 'f' {
			if slices.Max(values) >= 1<<53 { // float64 may round it, which Read reports
				return errOther
			}
		}
		if l.val != nil || !slices.ContainsFunc(values,
			func(v float64) bool { return v != 1 }) {
			continue
		}
		l.val = system.Make[float64](entries)
		for i := range start {
			l.val[i] = 1
		}
		copy(l.val[start:], values)
	}
	return a.End()
}

package graphfile

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/heatwalk/heatwalk/file/npy"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/internal/words"
)

// SciPy is a sparse matrix in an archive, as written by scipy.sparse.save_npz.
var SciPy = &Format{
	Name: "npz", Title: "SciPy npz", Endings: []string{".npz"}, Begins: isZip,
	Read:  readBatches(readNPZ),
	Exact: true, Sweeps: 3, write: writeSciPy, size: sciPyBytes,
}

func isZip(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) ||
		bytes.HasPrefix(head, []byte("PK\x05\x06"))
}

// npz reads a sparse matrix with the arrays data, indices and indptr (CSR, CSC) or data, row and col (COO), and
// shape. The names may have the prefix adj_; data and shape may be missing.
type npz struct {
	out     *batchWriter
	archive arrays
	prefix  string
	nodes   int64
}

const npzBlock = 1 << 13

func readNPZ(s *batchWriter) (*Summary, error) {
	file, size, err := s.anywhere()
	if err != nil {
		return nil, err
	}
	archive, err := npy.OpenArchive(s.Name, file, size)
	if err != nil {
		return nil, err
	}
	return readMatrix(s, archive)
}

func readMatrix(s *batchWriter, archive arrays) (*Summary, error) {
	s.numbered = true
	z := &npz{out: s, archive: archive}
	form, err := z.detectForm()
	if err != nil {
		return nil, err
	}
	if err := z.square(form); err != nil {
		return nil, err
	}
	switch form {
	case "csr":
		err = z.readCompressed(false)
	case "csc":
		err = z.readCompressed(true)
	case "coo":
		err = z.coordinates()
	default:
		err = z.out.fault(0, "save A.tocsr()",
			"a matrix in the form %s; csr, csc and coo are supported",
			words.Quoted(form))
	}
	if err != nil {
		return nil, err
	}
	return &Summary{Direction: BySymmetry, Numbered: true,
		Nodes: uint64(z.nodes)}, nil
}

func (s *batchWriter) anywhere() (io.ReaderAt, int64, error) {
	if s.File != nil {
		return s.File, s.Size, nil
	}
	content, err := s.keep(s.Text)
	if err != nil {
		return nil, 0, err
	}
	return content, content.size, nil
}

// detectForm returns the form of the matrix, and sets the prefix of the names of the arrays.
func (z *npz) detectForm() (string, error) {
	if z.archive.Has("fill_value") {
		return "", z.out.fault(0,
			"scipy.sparse.save_npz(path, scipy.sparse.csr_matrix(sparse.load_npz(FILE).todense())) makes a graph of it", "a matrix of the package sparse (pydata)")
	}
	if z.has("format") {
		a, err := z.open("format")
		if err != nil {
			return "", err
		}
		if a.IsNumeric() || a.Len != 1 {
			return "", a.Fault(fetchAgain, "no string")
		}
		return a.Text()
	}
	for _, z.prefix = range []string{"", "adj_"} {
		if z.has("indptr") && z.has("indices") {
			return "csr", nil
		}
		if z.has("row") && z.has("col") {
			return "coo", nil
		}
	}
	if z.archive.IsEmpty() {
		return "", z.out.fault(0, "unzip it and give the file that is in it",
			"a zip archive without arrays")
	}
	return "", z.out.fault(0, "save it with scipy.sparse.save_npz",
		"no sparse matrix: the arrays indptr and indices, or row and col, are missing")
}

func (z *npz) has(name string) bool {
	return z.archive.Has(z.prefix + name)
}

func (z *npz) open(name string) (*npy.Array, error) {
	return z.archive.Open(z.prefix + name)
}

func (z *npz) square(form string) error {
	if form == "csr" && !z.has("shape") {
		a, err := z.vector("indptr")
		if err == nil && (a.Len == 0 || a.Len-1 > MaxNodes) {
			err = a.Fault(fetchAgain, "%d elements, want one more than rows",
				a.Len)
		}
		if err == nil {
			z.nodes = a.Len - 1
		}
		return err
	}
	a, err := z.open("shape")
	if err != nil {
		return err
	}
	if a.Len != 2 {
		return a.Fault(fetchAgain, "%d elements, want rows and columns", a.Len)
	}
	var shape [2]int64
	if err := a.Integers(shape[:]); err != nil {
		return err
	}
	switch {
	case shape[0] < 0 || shape[1] < 0:
		return z.out.fault(0, fetchAgain, "%d×%d", shape[0], shape[1])
	case shape[0] != shape[1]:
		return z.out.fault(0, "heatwalk convert reads features",
			"%d×%d, and an adjacency matrix is square", shape[0], shape[1])
	case shape[0] > MaxNodes:
		return z.out.fault(0, "", "%d rows; limit %d", shape[0], uint64(MaxNodes))
	}
	z.nodes = shape[0]
	return nil
}

func (z *npz) vector(name string) (*npy.Array, error) {
	a, err := z.open(name)
	if err == nil && len(a.Shape) != 1 {
		err = a.Fault(fetchAgain, "%d dimensions, want 1", len(a.Shape))
	}
	return a, err
}

func (z *npz) values(entries int64) (*npy.Array, error) {
	if !z.has("data") {
		return nil, nil
	}
	a, err := z.vector("data")
	z.out.weighted = err == nil && a.Kind != 'b'
	if err == nil && a.Len != entries {
		err = a.Fault(fetchAgain, "%d elements for %d entries", a.Len, entries)
	}
	return a, err
}

type block struct {
	row, col      []int64
	val           []float64
	integerValues []int64
}

func (z *npz) index(a *npy.Array, offset int64, i int, v int64) error {
	if v < 0 || v >= z.nodes {
		return z.out.fault(0, fetchAgain, "%s[%d] = %d; the matrix has %s",
			z.member(a), offset+int64(i), v, words.Counted(z.nodes, "row"))
	}
	return nil
}

func (z *npz) member(a *npy.Array) string {
	return strings.TrimPrefix(a.Name, z.out.Name+": ")
}

// weights reads the values of the next n entries into b.
func (z *npz) weights(data *npy.Array, b *block, n int) error {
	val := b.val[:n]
	if data == nil {
		for i := range val {
			val[i] = 1
		}
		return nil
	}
	offset := data.At
	var integers []int64 // integers of 64 bits, which a float may not hold
	var err error
	if data.Width == 8 && data.Kind != 'f' {
		integers = b.integerValues[:n]
		err = data.Integers(integers)
		for i, v := range integers {
			val[i] = float64(v)
			if data.Kind == 'u' {
				val[i] = float64(uint64(v))
			}
		}
	} else {
		err = data.Floats(val)
	}
	if err != nil {
		return err
	}
	for i, w := range val {
		if wrong := table.WeightFault(w, z.out.Signed); wrong != "" {
			return z.out.fault(0, "correct it", "%s[%d] = %g %s", z.member(data),
				offset+int64(i), w, wrong)
		}
		if integers != nil && w > 0 && !isExact(uint64(integers[i])) {
			z.out.round(fmt.Sprintf(": %s[%d]", z.member(data), offset+int64(i)))
		}
		val[i] += 0 // −0 becomes 0
	}
	return nil
}

// each adds an edge for every entry of a matrix. col holds the columns of the entries; rows stores the rows of the
// next len(dst) entries in dst. If transposed is set, each exchanges rows and columns.
func (z *npz) each(col *npy.Array, rows func(dst []int64) error,
	transposed bool) error {
	data, err := z.values(col.Len)
	if err != nil {
		return err
	}
	b := &block{row: make([]int64, npzBlock), col: make([]int64, npzBlock),
		val: make([]float64, npzBlock), integerValues: make([]int64, npzBlock)}
	for col.At < col.Len {
		offset := col.At
		n := int(min(npzBlock, col.Len-offset))
		if err := rows(b.row[:n]); err != nil {
			return err
		}
		if err := col.Integers(b.col[:n]); err != nil {
			return err
		}
		if err := z.weights(data, b, n); err != nil {
			return err
		}
		for i := range n {
			if err := z.index(col, offset, i, b.col[i]); err != nil {
				return err
			}
			u, v := uint64(b.row[i]), uint64(b.col[i])
			if transposed {
				u, v = v, u
			}
			if w := b.val[i]; w != 0 || z.out.weighted { // 0 is the false of a matrix without weights
				if err := z.out.numbers(u, v, w); err != nil {
					return err
				}
			}
		}
	}
	if data == nil {
		return col.End()
	}
	return cmp.Or(col.End(), data.End())
}

// coordinates reads a matrix in the form COO: rows, columns and values.
func (z *npz) coordinates() error {
	row, err := z.vector("row")
	if err != nil {
		return err
	}
	col, err := z.vector("col")
	if err != nil {
		return err
	}
	if row.Len != col.Len {
		return z.out.fault(0, fetchAgain, "%d rows and %d columns of entries",
			row.Len, col.Len)
	}
	err = z.each(col, func(dst []int64) error {
		offset := row.At
		err := row.Integers(dst)
		for i := 0; i < len(dst) && err == nil; i++ {
			err = z.index(row, offset, i, dst[i])
		}
		return err
	}, false)
	return cmp.Or(err, row.End())
}

// readCompressed reads a matrix in the form CSR or, with byColumns, CSC.
func (z *npz) readCompressed(byColumns bool) error {
	ptr, err := z.vector("indptr")
	if err != nil {
		return err
	}
	index, err := z.vector("indices")
	if err != nil {
		return err
	}
	if ptr.Len != z.nodes+1 {
		return ptr.Fault(fetchAgain, "%d elements, want %d for %d rows", ptr.Len,
			z.nodes+1, z.nodes)
	}
	var pointer [1]int64 // end of the entries of row
	row := int64(-1)
	used := int64(0)
	next := func() error {
		k := ptr.At
		offset := pointer[0]
		if err := ptr.Integers(pointer[:]); err != nil {
			return err
		}
		switch p := pointer[0]; {
		case p < offset && p < 0:
			return z.out.fault(0, "save it again with indices of 64 bits",
				"%s[%d] = %d; the writer overflowed 32 bits", z.member(ptr), k, p)
		case p < offset, k == 0 && p != 0, p > index.Len, k == z.nodes &&
			p != index.Len:
			return z.out.fault(0, fetchAgain, "%s[%d] = %d after %d, of %d entries",
				z.member(ptr), k, p, offset, index.Len)
		}
		row = k - 1
		return nil
	}
	err = z.each(index, func(dst []int64) error {
		for i := range dst {
			for used == pointer[0] {
				if err := next(); err != nil {
					return err
				}
			}
			dst[i] = row
			used++
		}
		return nil
	}, byColumns)
	for err == nil && ptr.At < ptr.Len {
		err = next()
	}
	return cmp.Or(err, ptr.End())
}

// writeSciPy writes a canonical CSR matrix as scipy.sparse.save_npz does: sorted columns, no repeated entries,
// float64 values, and indices of 32 bits if they suffice.
func writeSciPy(ctx context.Context, out *bufio.Writer,
	g *graph) (isolated int, err error) {
	g.begin(3)
	archive := npy.NewArchive(out)
	z := &npzWriter{out: bufio.NewWriterSize(nil, bufferBytes), wide: isWide(g)}
	index := "<i4"
	if z.wide {
		index = "<i8"
	}
	count := int(g.a.NNZ())
	sum := uint64(0)
	for _, array := range []struct {
		name, descr string
		shape       []int
		put         func() error
	}{
		{"format", "|S3", nil,
			func() error { _, err := z.out.WriteString("csr"); return err }},
		{"shape", "<i8", []int{2},
			func() error { return cmp.Or(z.eight(uint64(g.nodes)), z.eight(uint64(g.nodes))) }},
		{"indptr", index, []int{g.nodes + 1}, func() error {
			return cmp.Or(z.index(0), g.sweep(ctx, func(e *entries) error {
				sum += uint64(len(e.col))
				return z.index(sum)
			}))
		}},
		{"indices", index, []int{count}, func() error {
			return eachEntry(ctx, g,
				func(col uint32, _ float64) error { return z.index(uint64(col)) })
		}},
		{"data", "<f8", []int{count}, func() error {
			return eachEntry(ctx, g,
				func(_ uint32, val float64) error { return z.eight(math.Float64bits(val)) })
		}},
	} {
		member, err := archive.Member(array.name)
		if err != nil {
			return 0, err
		}
		z.out.Reset(member)
		_, _ = z.out.Write(npy.Header(array.descr, array.shape...)) // bufio keeps the first error
		if err := cmp.Or(array.put(), z.out.Flush()); err != nil {
			return 0, err
		}
	}
	return 0, archive.Close()
}

type npzWriter struct {
	out  *bufio.Writer
	wide bool
}

func isWide(g *graph) bool {
	return max(int64(g.nodes), g.a.NNZ()) > math.MaxInt32
}

// sciPyBytes returns the size of the file, exact within a few kilobytes.
func sciPyBytes(g *graph) int64 {
	index := int64(4)
	if isWide(g) {
		index = 8
	}
	return int64(g.nodes)*index + g.a.NNZ()*(index+8)
}

func (z *npzWriter) eight(bits uint64) error {
	_, err := z.out.Write(binary.LittleEndian.AppendUint64(z.out.AvailableBuffer(), bits))
	return err
}

func (z *npzWriter) index(n uint64) error {
	if z.wide {
		return z.eight(n)
	}
	_, err := z.out.Write(binary.LittleEndian.AppendUint32(z.out.AvailableBuffer(),
		uint32(n)))
	return err
}

func eachEntry(ctx context.Context, g *graph,
	write func(col uint32, val float64) error) error {
	return g.sweep(ctx, func(e *entries) error {
		for i, c := range e.col {
			if err := write(c, e.weight(i)); err != nil {
				return err
			}
		}
		return nil
	})
}

package tablefile

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/sparse"
)

// Market is NIST's format Matrix Market for matrices. It is written with coordinates, because readMM of R's package
// Matrix reads no arrays, and with all elements, because their number precedes them. Arrays are read too. The ids are
// in files of their own.
var Market = &Format{
	Name: "mtx", Title: "a Matrix Market matrix", Endings: []string{".mtx"}, Text: true, IsShared: true, SeparateIDs: true,
	inspect: (*File).inspectMarket,
	of32:    rows[float32]{read: readMarket[float32], write: newMarketWriter[float32]},
	of64:    rows[float64]{read: readMarket[float64], write: newMarketWriter[float64]},
}

func newMarketWriter[T sparse.Float](w io.Writer, m *Matrix) (*Writer[T], error) {
	out := bufio.NewWriterSize(w, bufferBytes)
	bits := bitsOf[T]()
	fmt.Fprintf(out, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", m.Rows.N, m.Cols.N,
		int64(m.Rows.N)*int64(m.Cols.N))
	row := func(i int, values []T) (err error) {
		for j, v := range values {
			line := strconv.AppendInt(out.AvailableBuffer(), int64(i)+1, 10)
			line = strconv.AppendInt(append(line, ' '), int64(j)+1, 10)
			line = strconv.AppendFloat(append(line, ' '), float64(v), 'g', -1, bits)
			_, err = out.Write(append(line, '\n'))
		}
		return err
	}
	return &Writer[T]{cols: m.Cols.N, row: row, close: out.Flush}, nil
}

// marketReader reads the elements of a matrix line by line.
type marketReader struct {
	f         *File
	lines     *bufio.Scanner
	line      int64
	isArray   bool
	isPattern bool    // elements have no values, and are 1
	mirrored  float64 // factor of the element across the diagonal; 0: the matrix is general
	entries   int64   // number of lines of elements
}

const marketFix = "correct the line, or write the matrix again"

func (r *marketReader) fault(format string, args ...any) error {
	return textio.Fault(r.f.Name, r.line, marketFix, format, args...)
}

// next returns the fields of the next line that is not a comment, or nil at the end.
func (r *marketReader) next() ([][]byte, error) {
	for r.lines.Scan() {
		r.line++
		if text := r.lines.Bytes(); !bytes.HasPrefix(text, []byte("%")) && !table.IsBlank(text) {
			return bytes.Fields(text), nil
		}
	}
	if err := r.lines.Err(); err != nil {
		return nil, textio.Fault(r.f.Name, r.line+1, marketFix, "%w", err)
	}
	return nil, nil
}

// openMarket reads the head of a file and sets the shape of f.
func openMarket(in *textio.Reader, f *File) (*marketReader, error) {
	r := &marketReader{f: f, lines: bufio.NewScanner(progressReader{in.Content(), f, in})}
	const longestLine = 1 << 20
	r.lines.Buffer(nil, longestLine)
	if !r.lines.Scan() {
		return nil, cmp.Or(r.lines.Err(), error(textio.Fault(f.Name, 0, fetchAgain, "empty file")))
	}
	r.line = 1
	banner := strings.Fields(strings.ToLower(r.lines.Text()))
	if len(banner) != 5 || banner[0] != "%%matrixmarket" || banner[1] != "matrix" {
		return nil, r.fault(`first line is %s, want "%%%%MatrixMarket matrix …"`, words.Quoted(r.lines.Bytes()))
	}
	r.isArray = banner[2] == "array"
	r.isPattern = banner[3] == "pattern"
	mirrors := map[string]float64{"general": 0, "symmetric": 1, "skew-symmetric": -1}
	mirrored, isKnown := mirrors[banner[4]]
	r.mirrored = mirrored
	if !isKnown || !r.isArray && banner[2] != "coordinate" || r.isArray && (r.isPattern || mirrored != 0) ||
		!slices.Contains([]string{"real", "double", "integer", "unsigned-integer", "pattern"}, banner[3]) {
		return nil, textio.Fault(f.Name, 1, "write it as coordinate real general", "%s is not supported",
			words.Quoted(r.lines.Bytes()))
	}
	fields, err := r.next()
	want := 3
	if r.isArray {
		want = 2
	}
	if err != nil || len(fields) != want {
		return nil, cmp.Or(err, r.fault("%s, want %d sizes", words.Counted(len(fields), "field"), want))
	}
	var size [3]int64
	for i, field := range fields {
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil || i < 2 && (n < 1 || n > math.MaxInt32) || n < 0 {
			return nil, r.fault("size %s is out of range", words.Quoted(field))
		}
		size[i] = n
	}
	f.Rows = int(size[0])
	f.Cols = int(size[1])
	if r.mirrored != 0 && f.Rows != f.Cols {
		return nil, r.fault("%d × %d, and %s", f.Rows, f.Cols, banner[4])
	}
	r.entries = size[2]
	if r.isArray {
		r.entries = size[0] * size[1]
	}
	return r, nil
}

func (f *File) inspectMarket(in *textio.Reader) error {
	r, err := openMarket(in, f)
	if err != nil {
		return err
	}
	if _, size := in.Progress(); size > 0 && r.entries > size { // each takes at least two bytes
		return r.fault("%d elements in a file of %s", r.entries, words.Bytes(size))
	}
	const element = 2 * (4 + 4 + 8) // bytes of a row, a column and a value, mirrored at most
	f.held = element * r.entries
	return nil
}

// element returns the element of line k, from 0.
func (r *marketReader) element(k int64, fields [][]byte) (row, col int, value float64, err error) {
	want := 3
	switch {
	case r.isArray:
		want = 1
	case r.isPattern:
		want = 2
	}
	if len(fields) != want {
		return 0, 0, 0, r.fault("%s, want %d", words.Counted(len(fields), "field"), want)
	}
	if r.isArray {
		row = int(k % int64(r.f.Rows))
		col = int(k / int64(r.f.Rows))
	} else {
		for i, place := range []*int{&row, &col} {
			n, err := strconv.Atoi(string(fields[i]))
			limit := []int{r.f.Rows, r.f.Cols}[i]
			if err != nil || n < 1 || n > limit {
				return 0, 0, 0, r.fault("%s is not in 1 to %d", words.Quoted(fields[i]), limit)
			}
			*place = n - 1
		}
	}
	if r.isPattern {
		return row, col, 1, nil
	}
	value, fault := table.ParseNumber(fields[want-1], 64)
	if fault != "" {
		return 0, 0, 0, r.fault("%s %s", words.Quoted(fields[want-1]), fault)
	}
	return row, col, value, nil
}

// readMarket visits the rows. It first reads all elements, because a file may have them in any order. Elements of the
// same row and column are added, as in SciPy.
func readMarket[T sparse.Float](ctx context.Context, in *textio.Reader, f *File,
	visit func(label []byte, row []T) error) error {
	r, err := openMarket(in, f)
	if err != nil {
		return err
	}
	var rows, cols []uint32
	var values []float64
	count := make([]int, f.Rows+1)
	note := func(row, col int, value float64) {
		rows = append(rows, uint32(row))
		cols = append(cols, uint32(col))
		values = append(values, value)
		count[row+1]++
	}
	for k := range r.entries {
		fields, err := r.next()
		switch {
		case ctx.Err() != nil:
			return sched.Cause(ctx)
		case err != nil:
			return err
		case fields == nil:
			return textio.Fault(f.Name, r.line, fetchAgain, "ends after %d of %d elements", k, r.entries)
		}
		row, col, value, err := r.element(k, fields)
		if err != nil {
			return err
		}
		note(row, col, value)
		if r.mirrored != 0 && row != col {
			note(col, row, r.mirrored*value)
		}
	}
	if extra, err := r.next(); err != nil || extra != nil {
		return cmp.Or(err, r.fault("an element after the %d that the head states", r.entries))
	}
	for i := range f.Rows {
		count[i+1] += count[i]
	}
	order := make([]uint32, len(rows))
	next := slices.Clone(count)
	for e, row := range rows {
		order[next[row]] = uint32(e)
		next[row]++
	}
	dense := make([]float64, f.Cols)
	narrow := narrowRows(ctx, f, visit)
	for i := range f.Rows {
		clear(dense)
		for _, e := range order[count[i]:count[i+1]] {
			dense[cols[e]] += values[e]
		}
		if err := narrow(i, dense); err != nil {
			return err
		}
	}
	return nil
}

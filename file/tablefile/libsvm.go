package tablefile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"strconv"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/sparse"
)

// LIBSVM is the text format of LIBSVM, for features and for precomputed kernels.
var LIBSVM = &Format{
	Name: "svm", Kernel: "svm-kernel", Title: "LIBSVM text",
	Endings: []string{".svm", ".libsvm"},
	NoGraph: "heatwalk convert reads it as a matrix; if it does hold edges, name their columns with {fields}",
	Text:    true, HasLabels: true,
	matches: func(ending string, head []byte) bool {
		return !isArchive(head) &&
			(ending == ".svm" || ending == ".libsvm" || ending == ".svmlight" ||
				isVectors(head))
	},
	inspect: (*File).inspectVectors,
	of32: rows[float32]{read: readVectors[float32],
		write: newLIBSVMWriter[float32]},
	of64: rows[float64]{read: readVectors[float64],
		write: newLIBSVMWriter[float64]},
}

const bufferBytes = 256 << 10

type vectorReader struct {
	name      string
	in        *bufio.Reader
	text      []byte // current line without its comment
	line      int64
	column    int // column of the last word, from 1
	longest   int
	zeroBased bool
	limit     int // largest number of columns; 0: no limit
	bits      int // precision of values, 32 or 64

	rows    int64
	first   int64 // line of the first row
	kernel  bool  // the file is a precomputed kernel
	inOrder bool  // the serial numbers of a kernel are 1, 2, 3 …
	cols    int   // columns of a kernel; for features, the largest index so far
	label   []byte
}

const (
	fixLine  = "fix the line"
	maxIndex = math.MaxInt32 // LIBSVM stores indices in 32 bits
	maxLine  = 8 << 20       // bytes of a line
)

func (v *vectorReader) fault(fix, format string, args ...any) error {
	err := textio.Fault(v.name, v.line, fix, format, args...)
	err.Column = v.column
	return err
}

func (v *vectorReader) next() (bool, error) {
	for {
		v.line++
		v.column = 0
		v.text = v.text[:0]
		piece, err := v.in.ReadSlice('\n')
		for ; errors.Is(err, bufio.ErrBufferFull); piece, err = v.in.ReadSlice('\n') {
			v.text = append(v.text, piece...)
			if len(v.text) > maxLine {
				return false, v.fault("is this LIBSVM text?",
					"a line longer than %d MiB", maxLine>>20)
			}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		v.text = append(v.text, piece...)
		v.longest = max(v.longest, cap(v.text))
		if bytes.IndexByte(bytes.TrimRight(v.text, "\r\n"), '\r') >= 0 {
			return false, v.fault("end lines with line feeds",
				"a carriage return within the line")
		}
		v.text, _, _ = bytes.Cut(v.text, []byte{'#'})
		if len(bytes.TrimSpace(v.text)) > 0 {
			return true, nil
		}
		if err != nil {
			return false, nil
		}
	}
}

func (v *vectorReader) word(tail []byte) (word, behind []byte) {
	tail = bytes.TrimLeft(tail, " \t\v\f\r\n")
	v.column = len(v.text) - len(tail) + 1
	end := bytes.IndexAny(tail, " \t\v\f\r\n")
	if end < 0 {
		end = len(tail)
	}
	return tail[:end], tail[end:]
}

// vector reads the next line, and calls set with the column, from 0, and the value of every pair. It returns false at
// the end.
func (v *vectorReader) vector(set func(col int, value float64)) (bool, error) {
	if isLine, err := v.next(); !isLine {
		return false, err
	}
	word, tail := v.word(v.text)
	if err := v.readLabel(word); err != nil {
		return false, err
	}
	if v.rows++; v.first == 0 {
		v.first = v.line
	}
	pairs := 0
	last := -1
	for ; ; pairs++ {
		word, tail = v.word(tail)
		if len(word) == 0 {
			break
		}
		index, value, err := v.pair(word)
		if err != nil {
			return false, err
		}
		if v.rows == 1 && pairs == 0 && index == 0 && !v.zeroBased {
			v.kernel = true
		}
		if v.kernel {
			err = v.entry(pairs, index, value)
		} else {
			err = v.feature(index, last)
		}
		if err != nil {
			return false, err
		}
		last = index
		if col := index - 1; v.zeroBased {
			set(index, value)
		} else if col >= 0 {
			set(col, value)
		}
	}
	if v.kernel {
		return true, v.complete(pairs - 1)
	}
	return true, nil
}

// readLabel checks and stores the label.
func (v *vectorReader) readLabel(word []byte) error {
	switch {
	case bytes.IndexByte(word, ':') >= 0:
		return v.fault("begin the line with a label, 0 for none",
			"%s in place of the label", words.Quoted(word))
	case bytes.IndexByte(word, ',') >= 0:
		return v.fault("keep one of them", "%s are several labels",
			words.Quoted(word))
	}
	if _, wrong := table.ParseNumber(word, 64); wrong != "" {
		return v.fault("number the classes", "label %s %s",
			words.Quoted(word), wrong)
	}
	v.label = append(v.label[:0], word...)
	return nil
}

func (v *vectorReader) pair(word []byte) (index int, value float64, err error) {
	colon := bytes.IndexByte(word, ':')
	switch {
	case colon > 0 && string(word[:colon]) == "qid":
		return 0, 0, v.fault("cut them out",
			"%s: ranking data with query ids is not supported", words.Quoted(word))
	case colon < 1 || colon == len(word)-1:
		return 0, 0, v.fault("is this LIBSVM text?", "%s is not index:value",
			words.Quoted(word))
	}
	for _, c := range word[:colon] {
		if c < '0' || c > '9' {
			return 0, 0, v.fault("is this LIBSVM text?", "index %s is not a number",
				words.Quoted(word[:colon]))
		}
		index = 10*index + int(c-'0')
		if index > maxIndex {
			return 0, 0, v.fault(fixLine, "index %s is beyond %d",
				words.Quoted(word[:colon]), maxIndex)
		}
	}
	value, wrong := table.ParseNumber(word[colon+1:], v.bits)
	if wrong != "" {
		fix := fixLine
		if v.bits == 32 {
			fix = "pass {dtype=float64}" // Inspect has read the value in 64 bits
		}
		return 0, 0, v.fault(fix, "value %s %s",
			words.Quoted(word[colon+1:]), wrong)
	}
	return index, value, nil
}

func (v *vectorReader) feature(index, last int) error {
	switch {
	case index == 0 && !v.zeroBased:
		return v.fault("if they count from 0, pass {zero-based}",
			"index 0; indices of features count from 1")
	case index == last:
		return v.fault("keep one of its values", "index %d is repeated", index)
	case index < last:
		return v.fault("sort the line by index", "index %d after %d", index, last)
	}
	cols := index
	if v.zeroBased {
		cols++
	}
	v.cols = max(v.cols, cols)
	if v.limit > 0 && cols > v.limit {
		return v.fault("allow more with {columns}", "index %d is beyond the %s",
			index, words.Counted(v.limit, "column"))
	}
	return nil
}

func (v *vectorReader) entry(i, index int, value float64) error {
	const fix = "list 0:serial and every column; features that count from 0 need {zero-based}"
	switch {
	case index != i:
		return v.fault(fix, "index %d, want %d, because line %d begins like a precomputed kernel", index, i, v.first)
	case i == 0 && (value != math.Trunc(value) || math.Abs(value) > maxIndex):
		return v.fault(fix, "serial number %v is not an integer, and line %d begins like a precomputed kernel", value, v.first)
	case i == 0:
		v.inOrder = v.inOrder && value == float64(v.rows)
	}
	return nil
}

func (v *vectorReader) complete(cols int) error {
	if v.rows == 1 {
		v.cols = cols
	}
	if cols == v.cols {
		return nil
	}
	v.column = 0
	return v.fault("list every column on each line", "%s, line %d has %d",
		words.Counted(max(cols, 0), "kernel value"), v.first, v.cols)
}

func openVectors(in *textio.Reader, f *File, bits int) (*vectorReader, error) {
	if err := in.CheckText(); err != nil {
		return nil, err
	}
	text := bufio.NewReaderSize(progressReader{in.Content(), f, in}, bufferBytes)
	if mark, _ := text.Peek(3); string(mark) == "\ufeff" {
		_, _ = text.Discard(len(mark))
	}
	return &vectorReader{name: f.Name, in: text, zeroBased: f.o.ZeroBased,
		limit: f.o.Columns, bits: bits, inOrder: true}, nil
}

// inspectVectors determines the shape by reading all lines, because the text does not declare it.
func (f *File) inspectVectors(in *textio.Reader) error {
	v, err := openVectors(in, f, 64)
	if err != nil {
		return err
	}
	for hasMore := true; hasMore; {
		if hasMore, err = v.vector(func(int, float64) {}); err != nil {
			return err
		}
	}
	if v.rows == 0 || v.cols == 0 {
		return textio.Fault(f.Name, 0, "is this LIBSVM text?",
			"no index:value in %s", words.Counted(int(v.rows), "vector"))
	}
	f.Rows = int(v.rows)
	f.Cols = v.cols
	if !v.kernel {
		f.Cols = max(f.Cols, f.o.Columns)
	}
	f.Kernel = v.kernel
	f.InOrder = v.inOrder
	f.Labelled = true
	f.longest = v.longest
	if !f.o.ZeroBased {
		f.first = 1
	}
	return nil
}

func readVectors[T sparse.Float](ctx context.Context, in *textio.Reader, f *File,
	visit func(label []byte, row []T) error) error {
	v, err := openVectors(in, f, bitsOf[T]())
	if err != nil {
		return err
	}
	row := make([]T, f.Cols)
	var filled []int // columns with a value, which are reset to 0 afterwards
	changed := textio.Fault(f.Name, 0, "try again", "has changed while it was read")
	for {
		fits := true
		hasMore, err := v.vector(func(col int, value float64) {
			fits = fits && col < len(row)
			if fits {
				row[col] = T(value)
				filled = append(filled, col)
			}
		})
		switch {
		case ctx.Err() != nil:
			return sched.Cause(ctx)
		case err != nil:
			return err
		case !fits || v.rows > int64(f.Rows) || !hasMore && v.rows < int64(f.Rows):
			return changed
		case !hasMore:
			return nil
		}
		if err := visit(v.label, row); err != nil {
			return err
		}
		for _, col := range filled {
			row[col] = 0
		}
		filled = filled[:0]
	}
}

// isVectors reports whether text begins as LIBSVM text: with a line of two pairs, because "1 2:3" may be an edge to
// the node 2:3.
func isVectors(head []byte) bool {
	v := &vectorReader{bits: 64}
	largest := 0
	for line := range bytes.FieldsFuncSeq(bytes.TrimPrefix(head, []byte("\ufeff")),
		func(c rune) bool { return c == '\n' || c == '\r' }) {
		line, _, _ = bytes.Cut(line, []byte{'#'})
		list := bytes.Fields(line)
		if len(list) == 0 {
			continue
		}
		if v.readLabel(list[0]) != nil {
			return false
		}
		for _, word := range list[1:] {
			cut := &word[len(word)-1] == &head[len(head)-1]
			if _, _, err := v.pair(word); err != nil && !cut && !bytes.HasPrefix(word, []byte("qid:")) {
				return false
			}
		}
		largest = max(largest, len(list)-1)
	}
	return largest >= 2
}

// newLIBSVMWriter returns a writer of lines: a label, and features as index:value without zeros, or 0:serial and all
// values of a kernel. Indices and serial numbers count from 1. Values have enough digits to read the same bits back.
func newLIBSVMWriter[T sparse.Float](w io.Writer, m *Matrix) (*Writer[T], error) {
	out := bufio.NewWriterSize(w, bufferBytes)
	bits := bitsOf[T]()
	row := func(i int, values []T) error {
		label := "0"
		if m.Label != nil {
			label = m.Label(i)
		}
		_, _ = out.WriteString(label) // bufio keeps the first error
		if m.Kernel {
			_, _ = out.Write(strconv.AppendInt(append(out.AvailableBuffer(),
				" 0:"...), int64(i)+1, 10))
		}
		for j, v := range values {
			if v == 0 && !m.Kernel {
				continue
			}
			pair := strconv.AppendInt(append(out.AvailableBuffer(), ' '),
				int64(j)+1, 10)
			_, _ = out.Write(strconv.AppendFloat(append(pair, ':'), float64(v),
				'g', -1, bits))
		}
		return out.WriteByte('\n')
	}
	return &Writer[T]{cols: m.Cols.N, row: row, close: out.Flush}, nil
}

func bitsOf[T sparse.Float]() int {
	if any(T(0)) == any(float32(0)) {
		return 32
	}
	return 64
}

// Package npy reads and writes NumPy's arrays, in .npy files or a .npz archive. It reads numbers of every width and
// byte order and strings, and writes floats and strings.
//
//	a, err := npy.Read("x.npy", file)
//	for a.At < a.Len { err = a.Floats(row) }
//	err = a.End()
//
//	w, err := npy.NewWriter[float32](file, rows, cols)
//	for … { err = w.Floats(row) }
//	err = w.Close()
//
// Callers must compare lengths in a header with the size of the file before they allocate memory; this package
// allocates none for them. Every fault is a [*textio.Error] that names the array. Arrays are written in C order; the
// data start at a multiple of 64 bytes, so that NumPy can map them. The same elements give the same bytes.
package npy

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
	"unsafe"

	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/simd"
)

// Magic is the beginning of a .npy file.
const Magic = "\x93NUMPY"

// Array reads the elements of an array in stored order. It has a method for each kind of elements.
type Array struct {
	Name    string // file, and member of an archive, for messages
	Kind    byte   // 'i', 'u', 'f', 'b' or the kinds of text 'S' and 'U'
	Width   int    // bytes of an element
	Shape   []int64
	Fortran bool  // the first of several dimensions runs fastest
	Len     int64 // elements
	At      int64 // elements read
	Start   int64 // bytes before the first element

	order binary.ByteOrder
	in    *bufio.Reader
	buf   []byte
	text  []byte
}

const fetchAgain = "fetch the file again"

var (
	descrPattern   = textio.Pattern(`'descr'\s*:\s*'([^']*)'`)
	fortranPattern = textio.Pattern(`'fortran_order'\s*:\s*(True|False)`)
	shapePattern   = textio.Pattern(`'shape'\s*:\s*\(([0-9, L]*)\)`)
	typePattern    = textio.Pattern(`^([<>|=]?)([a-zA-Z?])([0-9]*)$`)
)

// Read reads the header of an array.
func Read(name string, r io.Reader) (*Array, error) {
	a := &Array{Name: name, in: bufio.NewReaderSize(r, 64<<10),
		order: binary.LittleEndian}
	var head [12]byte
	if _, err := io.ReadFull(a.in, head[:10]); err != nil {
		return nil, a.short(err)
	}
	if string(head[:6]) != Magic {
		return nil, a.Fault(fetchAgain, "no NumPy array")
	}
	a.Start = 10
	length := int(binary.LittleEndian.Uint16(head[8:]))
	if head[6] > 1 {
		if _, err := io.ReadFull(a.in, head[10:]); err != nil {
			return nil, a.short(err)
		}
		a.Start = 12
		length = int(binary.LittleEndian.Uint32(head[8:]))
	}
	const most = 1 << 16
	if head[6] > 3 || length > most {
		return nil, a.Fault(fetchAgain, "a header of version %d and %d bytes",
			head[6], length)
	}
	dict := make([]byte, length)
	if _, err := io.ReadFull(a.in, dict); err != nil {
		return nil, a.short(err)
	}
	a.Start += int64(length)
	return a, a.header(string(dict))
}

// Fault returns an error about the array.
func (a *Array) Fault(fix, format string, args ...any) error {
	return textio.Fault(a.Name, 0, fix, format, args...)
}

// short returns the error about reading an element, with the number of elements read if the file ends early.
func (a *Array) short(err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return a.Fault(fetchAgain, "ends after %d of %d elements", a.At, a.Len)
	case errors.Is(err, zip.ErrChecksum):
		return a.Fault(fetchAgain, "checksum of the data is wrong")
	}
	return textio.Fault(a.Name, 0, fetchAgain,
		"damaged after %d elements (%w)", a.At, err)
}

// header parses the header. It refuses shapes whose size in bytes overflows.
func (a *Array) header(dict string) error {
	descr := descrPattern().FindStringSubmatch(dict)
	fortran := fortranPattern().FindStringSubmatch(dict)
	shape := shapePattern().FindStringSubmatch(dict)
	if descr == nil || fortran == nil || shape == nil {
		return a.Fault("save plain arrays", "a header that cannot be read; records and subarrays are not supported")
	}
	for _, field := range strings.Split(shape[1], ",") {
		field = strings.TrimSuffix(strings.TrimSpace(field), "L")
		if field == "" {
			continue
		}
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil || n < 0 {
			return a.Fault(fetchAgain, "shape (%s)", shape[1])
		}
		a.Shape = append(a.Shape, n)
	}
	a.Len = 1
	for _, n := range a.Shape {
		if n > 0 && a.Len > math.MaxInt64/(4*maxText)/n {
			return a.Fault(fetchAgain, "shape (%s)", shape[1])
		}
		a.Len *= n
	}
	a.Fortran = len(a.Shape) > 1 && fortran[1] == "True"
	return setElement(a, descr[1])
}

// maxText is the longest string, in characters.
const maxText = 1 << 14

// setElement sets the type of the elements by its description in the header.
func setElement(a *Array, descr string) error {
	wrong := a.Fault("save numbers", "elements of type %q are not supported", descr)
	kind := typePattern().FindStringSubmatch(descr)
	if kind == nil {
		return wrong
	}
	if kind[1] == ">" {
		a.order = binary.BigEndian
	}
	a.Kind = kind[2][0]
	a.Width, _ = strconv.Atoi(kind[3])
	if a.Kind == '?' {
		a.Kind = 'b'
		a.Width = 1
	}
	wide := a.Width == 2 || a.Width == 4 || a.Width == 8
	switch {
	case a.Kind == 'O':
		return a.Fault("save with allow_pickle=False", "object array")
	case (a.Kind == 'i' || a.Kind == 'u') && (wide || a.Width == 1),
		a.Kind == 'f' && wide, a.Kind == 'b' && a.Width == 1:
		return nil
	case (a.Kind == 'S' || a.Kind == 'U') && a.Width <= maxText:
		if a.Kind == 'U' {
			a.Width *= 4
		}
		return nil
	}
	return wrong
}

// TypeOf returns NumPy's name for the type of the elements, which must be numbers.
func TypeOf(a *Array) string {
	if a.Kind == 'b' {
		return "bool"
	}
	return fmt.Sprintf("%s%d",
		map[byte]string{'f': "float", 'i': "int", 'u': "uint"}[a.Kind], 8*a.Width)
}

// IsNumeric reports whether the elements are numbers or truth values.
func (a *Array) IsNumeric() bool {
	return a.Kind != 'S' && a.Kind != 'U'
}

// raw returns the next n elements in encoded form.
func (a *Array) raw(n int) ([]byte, error) {
	size := n * a.Width
	if cap(a.buf) < size {
		a.buf = make([]byte, size)
	}
	b := a.buf[:size]
	if _, err := io.ReadFull(a.in, b); err != nil {
		return nil, a.short(err)
	}
	a.At += int64(n)
	return b, nil
}

// Integers reads the next len(dst) elements of an array of integers. Unsigned integers from 2⁶³ on become
// negative.
func (a *Array) Integers(dst []int64) error {
	if a.Kind != 'i' && a.Kind != 'u' {
		return a.Fault("save integers", "elements that are no integers")
	}
	for len(dst) > 0 {
		chunk := dst[:min(len(dst), chunkElements)]
		b, err := a.raw(len(chunk))
		if err != nil {
			return err
		}
		for i := range chunk {
			chunk[i] = a.integer(b[i*a.Width:])
		}
		dst = dst[len(chunk):]
	}
	return nil
}

const chunkElements = 1 << 13

// integer decodes an element as a 64-bit integer.
func (a *Array) integer(b []byte) int64 {
	var bits uint64
	switch a.Width {
	case 8:
		bits = a.order.Uint64(b)
	case 4:
		bits = uint64(a.order.Uint32(b))
	case 2:
		bits = uint64(a.order.Uint16(b))
	default:
		bits = uint64(b[0])
	}
	if a.Kind != 'i' {
		return int64(bits)
	}
	shift := 64 - 8*a.Width
	return int64(bits) << shift >> shift
}

// Floats reads the next len(dst) elements of an array of numbers or truth values. True becomes 1.
func (a *Array) Floats(dst []float64) error {
	if !a.IsNumeric() {
		return a.Fault("save numbers", "elements that are not numbers")
	}
	if a.Kind == 'f' && a.Width == 8 && isNative(a) {
		return a.into(unsafe.Pointer(unsafe.SliceData(dst)), len(dst))
	}
	b, err := a.raw(len(dst))
	if err == nil {
		a.Decode(dst, b)
	}
	return err
}

// Decode decodes len(dst) elements of a from b. The elements must be numbers.
func (a *Array) Decode(dst []float64, b []byte) {
	if a.Kind == 'f' && a.Width == 8 && isNative(a) {
		for i := range dst {
			dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
		return
	}
	for i := range dst {
		switch bits := a.integer(b[i*a.Width:]); {
		case a.Kind == 'i':
			dst[i] = float64(bits)
		case a.Kind == 'u':
			dst[i] = float64(uint64(bits))
		case a.Kind == 'b':
			dst[i] = float64(min(bits, 1))
		case a.Width == 8:
			dst[i] = math.Float64frombits(uint64(bits))
		case a.Width == 4:
			dst[i] = float64(math.Float32frombits(uint32(bits)))
		default:
			dst[i] = halfFloat(uint16(bits))
		}
	}
}

// Decode32 decodes len(dst) elements of a from b. Values beyond the range of float32 become infinite.
func Decode32(a *Array, dst []float32, b []byte) {
	switch {
	case a.Kind == 'f' && a.Width == 2 && isNative(a):
		half := halves()
		for i := range dst {
			dst[i] = half[binary.LittleEndian.Uint16(b[2*i:])]
		}
	case a.Kind == 'f' && a.Width == 4 && isNative(a):
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
	default:
		var values [64]float64
		for lo := 0; lo < len(dst); lo += len(values) {
			piece := dst[lo:min(len(dst), lo+len(values))]
			a.Decode(values[:len(piece)], b[lo*a.Width:])
			simd.ConvertTo(piece, values[:len(piece)])
		}
	}
}

var halves = sync.OnceValue(func() []float32 {
	values := make([]float32, 1<<16)
	for h := range values {
		values[h] = float32(halfFloat(uint16(h)))
	}
	return values
})

// halfFloat returns the value of a half float: a sign bit, 5 bits of exponent and 10 bits of fraction.
func halfFloat(h uint16) float64 {
	sign := 1.0
	if h&0x8000 != 0 {
		sign = -1
	}
	exponent := int(h >> 10 & 31)
	fraction := float64(h & 1023)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// Text reads the next element of an array of strings.
func (a *Array) Text() (string, error) {
	if a.IsNumeric() {
		return "", a.Fault("save strings", "elements that are no strings")
	}
	b, err := a.raw(1)
	if err != nil {
		return "", err
	}
	if a.Kind == 'S' {
		return strings.TrimRight(string(b), "\x00"), nil
	}
	a.text = a.text[:0]
	for ; len(b) > 0; b = b[4:] {
		if r := a.order.Uint32(b); r != 0 {
			a.text = utf8.AppendRune(a.text, rune(r))
		}
	}
	return string(a.text), nil
}

// End returns an error if the array does not end after its last element. In an archive it also checks the
// checksum.
func (a *Array) End() error {
	switch _, err := a.in.ReadByte(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return a.short(err)
	}
	return a.Fault(fetchAgain, "goes on behind its %d elements", a.Len)
}

// ErrLength is the error of a [Writer] that gets more or fewer elements than its header declares.
var ErrLength = errors.New("npy: wrong number of elements")

// Header returns the header of a file of version 1.0 with an array in C order, padded so that the data begin at a
// multiple of 64 bytes. descr is NumPy's description of the type of the elements, for example "<f8" or "|S3".
func Header(descr string, shape ...int) []byte {
	const magic, align = Magic + "\x01\x00", 64
	text := strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ", "), "[]")
	if len(shape) == 1 {
		text += ","
	}
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
		descr, text)
	unpadded := len(magic) + 2 + len(dict) + 1
	dict += strings.Repeat(" ", (align-unpadded%align)%align) + "\n"
	header := binary.LittleEndian.AppendUint16([]byte(magic), uint16(len(dict)))
	return append(header, dict...)
}

func floatHeader[T simd.Float](shape ...int) (header []byte, element int) {
	element = int(unsafe.Sizeof(T(0)))
	return Header(fmt.Sprintf("<f%d", element), shape...), element
}

func appendFloats[T simd.Float](buf []byte, values []T) []byte {
	if isLittleEndian() {
		return append(buf, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))),
			len(values)*int(unsafe.Sizeof(T(0))))...)
	}
	buf, _ = binary.Append(buf, binary.LittleEndian, values)
	return buf
}

const bufferBytes = 256 << 10

// Writer writes the elements of an array in order.
type Writer[T simd.Float] struct {
	out     *bufio.Writer
	element int
	len     int64
	written int64
}

// NewWriter writes the header of an array of the given shape to w and returns the
// writer of its elements.
func NewWriter[T simd.Float](w io.Writer, shape ...int) (*Writer[T], error) {
	header, element := floatHeader[T](shape...)
	if _, err := w.Write(header); err != nil {
		return nil, err
	}
	n := int64(1)
	for _, extent := range shape {
		n *= int64(extent)
	}
	return &Writer[T]{out: bufio.NewWriterSize(w, bufferBytes), element: element,
		len: n}, nil
}

// Floats writes the next elements. It returns [ErrLength] if there are too many elements.
func (w *Writer[T]) Floats(values []T) error {
	w.written += int64(len(values))
	if w.written > w.len {
		return fmt.Errorf("%w: more than %d", ErrLength, w.len)
	}
	for len(values) > 0 {
		chunk := values[:min(len(values), w.out.Available()/w.element)]
		if _, err := w.out.Write(appendFloats(w.out.AvailableBuffer(), chunk)); err != nil {
			return err
		}
		values = values[len(chunk):]
		if len(values) > 0 {
			if err := w.out.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close writes the buffered elements. It returns [ErrLength] if elements are missing. It does not close the
// underlying writer.
func (w *Writer[T]) Close() error {
	if w.written != w.len {
		return fmt.Errorf("%w: %d of %d", ErrLength, w.written, w.len)
	}
	return w.out.Flush()
}

// Placed writes the elements of a matrix to a file in any order. It combines elements that follow each other into one
// write, because many small writes are slow.
type Placed[T simd.Float] struct {
	w       io.WriterAt
	cols    int
	start   int // bytes before the first element
	element int
	buf     []byte
	offset  int64 // offset of buf in the file
}

// NewPlaced writes the header of a rows×cols matrix to w.
func NewPlaced[T simd.Float](w io.WriterAt, rows, cols int) (*Placed[T], error) {
	header, element := floatHeader[T](rows, cols)
	_, err := w.WriteAt(header, 0)
	return &Placed[T]{w: w, cols: cols, start: len(header), element: element}, err
}

// Put writes values into row i from column j on. The values may stay in a buffer until Close. Elements that are never
// put are 0, but the file ends at the last element that is put.
func (p *Placed[T]) Put(i, j int, values []T) error {
	offset := int64(p.start) + (int64(i)*int64(p.cols)+int64(j))*int64(p.element)
	if len(p.buf) >= bufferBytes || offset != p.offset+int64(len(p.buf)) {
		if err := p.Close(); err != nil {
			return err
		}
		p.offset = offset
	}
	p.buf = appendFloats(p.buf, values)
	return nil
}

// Close writes the buffered elements. It does not close the underlying writer.
func (p *Placed[T]) Close() error {
	_, err := p.w.WriteAt(p.buf, p.offset)
	p.buf = p.buf[:0]
	return err
}

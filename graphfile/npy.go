package graphfile

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// array is a NumPy array in a .npy file, read from its first element on.
type array struct {
	name  string // for messages: file and member
	kind  byte   // 'i', 'u', 'f', 'b' or the kinds of text 'S' and 'U'
	width int    // bytes of an element
	big   bool
	shape []int64
	len   int64 // elements
	at    int64 // elements read

	in  *bufio.Reader
	buf []byte
}

var (
	npyDescr   = regexp.MustCompile(`'descr'\s*:\s*'([^']*)'`)
	npyFortran = regexp.MustCompile(`'fortran_order'\s*:\s*(True|False)`)
	npyShape   = regexp.MustCompile(`'shape'\s*:\s*\(([0-9, L]*)\)`)
	npyType    = regexp.MustCompile(`^([<>|=]?)([a-zA-Z?])([0-9]*)$`)
)

// newArray reads the header of an array.
func newArray(name string, r io.Reader) (*array, error) {
	a := &array{name: name, in: bufio.NewReaderSize(r, 64<<10)}
	var head [12]byte
	if _, err := io.ReadFull(a.in, head[:10]); err != nil {
		return nil, a.short(err)
	}
	if string(head[:6]) != "\x93NUMPY" {
		return nil, a.fault("no NumPy array", fetchAgain)
	}
	length := int(binary.LittleEndian.Uint16(head[8:]))
	if head[6] > 1 {
		if _, err := io.ReadFull(a.in, head[10:]); err != nil {
			return nil, a.short(err)
		}
		length = int(binary.LittleEndian.Uint32(head[8:]))
	}
	const most = 1 << 16
	if head[6] > 3 || length > most {
		return nil, a.fault(fmt.Sprintf("a header of version %d and %d bytes", head[6], length), fetchAgain)
	}
	dict := make([]byte, length)
	if _, err := io.ReadFull(a.in, dict); err != nil {
		return nil, a.short(err)
	}
	return a, a.header(string(dict))
}

func (a *array) fault(what, fix string) error { return &Error{File: a.name, What: what, Fix: fix} }

// short turns an early end into an error that tells how far it went.
func (a *array) short(err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return a.fault(fmt.Sprintf("ends after %d of %d elements", a.at, a.len), fetchAgain)
	case errors.Is(err, zip.ErrChecksum):
		return a.fault("checksum of the data is wrong", fetchAgain)
	}
	return &Error{File: a.name, What: fmt.Sprintf("damaged after %d elements (%v)", a.at, err), Fix: fetchAgain, Err: err}
}

func (a *array) header(dict string) error {
	descr, fortran, shape := npyDescr.FindStringSubmatch(dict), npyFortran.FindStringSubmatch(dict), npyShape.FindStringSubmatch(dict)
	if descr == nil || fortran == nil || shape == nil {
		return a.fault("a header that cannot be read; records and subarrays are not supported", "save plain arrays")
	}
	for _, field := range strings.Split(shape[1], ",") {
		field = strings.TrimSuffix(strings.TrimSpace(field), "L")
		if field == "" {
			continue
		}
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil || n < 0 {
			return a.fault("shape ("+shape[1]+")", fetchAgain)
		}
		a.shape = append(a.shape, n)
	}
	a.len = 1
	for _, n := range a.shape {
		if n > 0 && a.len > math.MaxInt64/64/n {
			return a.fault("shape ("+shape[1]+")", fetchAgain)
		}
		a.len *= n
	}
	if len(a.shape) > 1 && fortran[1] == "True" {
		return a.fault("columns are stored one after the other", "save np.ascontiguousarray of it")
	}
	kind := npyType.FindStringSubmatch(descr[1])
	if kind == nil {
		return a.fault("elements of type "+quote(descr[1])+" are not supported", "save numbers")
	}
	a.kind, a.big = kind[2][0], kind[1] == ">"
	if a.kind == '?' {
		a.kind, kind[3] = 'b', "1"
	}
	a.width, _ = strconv.Atoi(kind[3])
	switch width := a.width; a.kind {
	case 'O':
		return a.fault("object array", "save with allow_pickle=False")
	case 'i', 'u':
		if width == 1 || width == 2 || width == 4 || width == 8 {
			return nil
		}
	case 'f':
		if width == 2 || width == 4 || width == 8 {
			return nil
		}
	case 'b':
		if width == 1 {
			return nil
		}
	case 'S', 'U':
		if width <= 64 {
			if a.kind == 'U' {
				a.width *= 4
			}
			return nil
		}
	}
	return a.fault("elements of type "+quote(descr[1])+" are not supported", "save numbers")
}

// raw returns the next n elements as they are stored.
func (a *array) raw(n int) ([]byte, error) {
	size := n * a.width
	if cap(a.buf) < size {
		a.buf = make([]byte, size)
	}
	b := a.buf[:size]
	if _, err := io.ReadFull(a.in, b); err != nil {
		return nil, a.short(err)
	}
	a.at += int64(n)
	return b, nil
}

func (a *array) order() binary.ByteOrder {
	if a.big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// integers reads the next len(dst) elements of an array of integers.
func (a *array) integers(dst []int64) error {
	if a.kind != 'i' && a.kind != 'u' {
		return a.fault("elements that are no integers", "save integers")
	}
	b, err := a.raw(len(dst))
	if err != nil {
		return err
	}
	order := a.order()
	switch {
	case a.width == 8:
		for i := range dst {
			dst[i] = int64(order.Uint64(b[8*i:])) // beyond 2⁶³ they are as wrong as below zero
		}
	case a.width == 4 && a.kind == 'i':
		for i := range dst {
			dst[i] = int64(int32(order.Uint32(b[4*i:])))
		}
	case a.width == 4:
		for i := range dst {
			dst[i] = int64(order.Uint32(b[4*i:]))
		}
	case a.width == 2 && a.kind == 'i':
		for i := range dst {
			dst[i] = int64(int16(order.Uint16(b[2*i:])))
		}
	case a.width == 2:
		for i := range dst {
			dst[i] = int64(order.Uint16(b[2*i:]))
		}
	case a.kind == 'i':
		for i := range dst {
			dst[i] = int64(int8(b[i]))
		}
	default:
		for i := range dst {
			dst[i] = int64(b[i])
		}
	}
	return nil
}

// floats reads the next len(dst) elements of an array of numbers.
func (a *array) floats(dst []float64, scratch []int64) error {
	switch a.kind {
	case 'i':
		if err := a.integers(scratch[:len(dst)]); err != nil {
			return err
		}
		for i, v := range scratch[:len(dst)] {
			dst[i] = float64(v)
		}
		return nil
	case 'u':
		if err := a.integers(scratch[:len(dst)]); err != nil {
			return err
		}
		for i, v := range scratch[:len(dst)] {
			dst[i] = float64(uint64(v))
		}
		return nil
	case 'f', 'b':
	default:
		return a.fault("elements that are no numbers", "save numbers")
	}
	b, err := a.raw(len(dst))
	if err != nil {
		return err
	}
	order := a.order()
	for i := range dst {
		switch a.width {
		case 8:
			dst[i] = math.Float64frombits(order.Uint64(b[8*i:]))
		case 4:
			dst[i] = float64(math.Float32frombits(order.Uint32(b[4*i:])))
		case 2:
			dst[i] = halfFloat(order.Uint16(b[2*i:]))
		default:
			dst[i] = 0
			if b[i] != 0 {
				dst[i] = 1
			}
		}
	}
	return nil
}

// halfFloat returns the value of a number of 16 bits: sign, 5 bits of exponent,
// 10 of fraction.
func halfFloat(h uint16) float64 {
	sign := 1.0
	if h&0x8000 != 0 {
		sign = -1
	}
	exponent, fraction := int(h>>10&31), float64(h&1023)
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

// text reads an array of one string.
func (a *array) text() (string, error) {
	if a.kind != 'S' && a.kind != 'U' || a.len != 1 {
		return "", a.fault("no string", fetchAgain)
	}
	b, err := a.raw(1)
	if err != nil {
		return "", err
	}
	if a.kind == 'S' {
		return strings.TrimRight(string(b), "\x00"), nil
	}
	var text []rune
	order := a.order()
	for ; len(b) > 0; b = b[4:] {
		if r := order.Uint32(b); r != 0 {
			text = append(text, rune(r))
		}
	}
	return string(text), nil
}

// end checks that the array ends where it has to; the checksum of the archive
// is compared there.
func (a *array) end() error {
	switch _, err := a.in.ReadByte(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return a.short(err)
	}
	return a.fault(fmt.Sprintf("goes on behind its %d elements", a.len), fetchAgain)
}

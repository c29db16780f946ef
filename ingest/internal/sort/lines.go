package sort

import (
	"io"
	"slices"

	"github.com/heatwalk/heatwalk/internal/simd"
)

// Lines is the room in which one worker writes and reads lines.
type Lines struct {
	buf    []byte
	code   []uint32
	weight []float64
}

// WriteLines writes lines, two codes each, with their weights if they have any.
func (s *Spill) WriteLines(l *Lines, code []uint32, weight []float64) (*Record, error) {
	rec := l.pack(code, weight)
	return rec, s.write(rec, l.buf)
}

// pack stores the bytes of a record of lines in l.buf.
func (l *Lines) pack(code []uint32, weight []float64) *Record {
	width := CodeWidth(Largest(code))
	rec := &Record{Width: uint8(width)}
	l.buf = packCodes(l.buf[:0], code, width)
	if len(weight) > 0 {
		rec.Form = formOf(weight)
		l.buf = appendWeights(l.buf, weight, rec.Form)
	}
	return rec
}

// WriteTo writes lines as [Spill.WriteLines] does to a file that has offset bytes.
func (l *Lines) WriteTo(w io.Writer, offset int64, code []uint32, weight []float64) (*Record, error) {
	rec := l.pack(code, weight)
	rec.Offset, rec.Length, rec.Sum = offset, len(l.buf), simd.Checksum(0, l.buf)
	_, err := w.Write(l.buf)
	return rec, err
}

// ReadLines reads the given number of lines, which are valid until the next call.
func (s *Spill) ReadLines(l *Lines, rec *Record, lines int) (code []uint32, weight []float64, err error) {
	if l.buf, err = s.read(rec, l.buf); err != nil {
		return nil, nil, err
	}
	code, weight = l.unpack(rec, lines)
	return code, weight, nil
}

// ReadFrom reads the given number of lines of a file, which are valid until the next call.
func (l *Lines) ReadFrom(file io.ReaderAt, rec *Record, lines int) (code []uint32, weight []float64, err error) {
	if l.buf, err = rec.read(file, l.buf); err != nil {
		return nil, nil, err
	}
	code, weight = l.unpack(rec, lines)
	return code, weight, nil
}

// unpack returns the lines of a record whose bytes are in l.buf.
func (l *Lines) unpack(rec *Record, lines int) (code []uint32, weight []float64) {
	l.code = slices.Grow(l.code[:0], 2*lines)[:2*lines]
	unpackCodes(l.code, l.buf[:rec.Length+packSlack], uint(rec.Width))
	if rec.Form != noWeights {
		l.weight = slices.Grow(l.weight[:0], lines)[:lines]
		weightsTo(l.weight, l.buf[rec.codeBytes(lines):], rec.Form)
		weight = l.weight
	}
	return l.code, weight
}

// codeBytes returns the bytes of the codes of a record of lines.
func (rec *Record) codeBytes(lines int) int { return (2*lines*int(rec.Width) + 7) / 8 }

// HoldsLines reports whether the length of a record is that of the given number of lines, with weights
// or without.
func (rec *Record) HoldsLines(lines int, weighted bool) bool {
	const most = 1 << 31 // of lines, so that no product overflows
	if lines < 0 || lines > most || rec.Width < 1 || rec.Width > 32 || weighted != (rec.Form != noWeights) {
		return false
	}
	weights := map[weightForm]int{noWeights: 0, weightsOf32: 4 * lines, weightsOf64: 8 * lines, weightsEqual: 8}
	bytes, known := weights[rec.Form]
	return known && rec.Length == rec.codeBytes(lines)+bytes
}

// Largest returns the largest of some codes, 0 of none.
func Largest(code []uint32) uint32 {
	var top [4]uint32 // so that none waits for the one before
	for ; len(code) >= 4; code = code[4:] {
		top[0], top[1] = max(top[0], code[0]), max(top[1], code[1])
		top[2], top[3] = max(top[2], code[2]), max(top[3], code[3])
	}
	for _, c := range code {
		top[0] = max(top[0], c)
	}
	return max(top[0], top[1], top[2], top[3])
}

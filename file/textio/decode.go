package textio

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/heatwalk/heatwalk/internal/input"
)

// Byte-order marks.
const (
	utf8Mark         = "\xef\xbb\xbf"
	littleEndianMark = "\xff\xfe"
	bigEndianMark    = "\xfe\xff"
)

// charset decodes the first character of text. size is its length in bytes, 0 if the text ends
// within it; ok is false for bytes that are not a character.
type charset func(text []byte) (r rune, size int, ok bool)

// windows1252 holds the characters of the bytes 0x80 to 0x9f, 0 for bytes without one.
var windows1252 = [32]rune{
	'€', 0, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0, 'Ž', 0,
	0, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0, 'ž', 'Ÿ',
}

func latin1(text []byte) (rune, int, bool) {
	return rune(text[0]), 1, true
}

func windows(text []byte) (rune, int, bool) {
	if c := text[0]; c >= 0x80 && c < 0xa0 {
		return windows1252[c-0x80], 1, windows1252[c-0x80] != 0
	}
	return rune(text[0]), 1, true
}

// FromWindows converts text from Windows-1252 to UTF-8. It returns nil if a byte is not a
// character of Windows-1252. Latin-1 text without control characters is read correctly too.
func FromWindows(text []byte) []byte {
	out := make([]byte, 0, 2*len(text))
	for i := range text {
		r, _, ok := windows(text[i:])
		if !ok {
			return nil
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

// ToWindows converts text from UTF-8 to Windows-1252. It returns nil if a character is not in
// Windows-1252.
func ToWindows(text []byte) []byte {
	var out []byte
	for _, r := range string(text) {
		switch index := slices.Index(windows1252[:], r); {
		case r < 0x80 || r >= 0xa0 && r <= 0xff:
			out = append(out, byte(r))
		case index >= 0:
			out = append(out, byte(0x80+index))
		default:
			return nil
		}
	}
	return out
}

func utf8Strict(text []byte) (rune, int, bool) {
	if !utf8.FullRune(text) {
		return 0, 0, false
	}
	r, size := utf8.DecodeRune(text)
	return r, size, r != utf8.RuneError || size > 1
}

// utf16Of returns the decoder of UTF-16 with the low byte of each unit at the given offset, 0
// or 1.
func utf16Of(low int) charset {
	unit := func(text []byte) rune { return rune(text[low]) | rune(text[1-low])<<8 }
	return func(text []byte) (rune, int, bool) {
		if len(text) < 2 {
			return 0, 0, false
		}
		r := unit(text)
		if !utf16.IsSurrogate(r) {
			return r, 2, true
		}
		if len(text) < 4 {
			return 0, 0, false
		}
		r = utf16.DecodeRune(r, unit(text[2:]))
		return r, 4, r != utf8.RuneError
	}
}

// charsets has the decoder of each encoding.
var charsets = map[string]charset{
	"utf-8": utf8Strict, "utf-16": utf16Of(0), "utf-16le": utf16Of(0), "utf-16be": utf16Of(1), "latin-1": latin1, "windows-1252": windows,
}

// decoder converts text to UTF-8 while it is read.
type decoder struct {
	in       io.Reader
	file     string
	encoding string // for messages
	next     charset

	raw      [16 << 10]byte
	n        int   // number of bytes in raw that are not decoded
	offset   int64 // offset of raw in the text
	out      []byte
	position int // position in out
	err      error
}

// Read implements [io.Reader]: UTF-8 of the text in the other encoding.
func (d *decoder) Read(p []byte) (int, error) {
	for d.position == len(d.out) {
		if d.err != nil {
			return 0, d.err
		}
		d.fill()
	}
	n := copy(p, d.out[d.position:])
	d.position += n
	return n, nil
}

// fill decodes the next bytes.
func (d *decoder) fill() {
	n, err := d.in.Read(d.raw[d.n:])
	text := d.raw[:d.n+n]
	d.out = d.out[:0]
	d.position = 0
	d.err = err
	used := 0
	for used < len(text) {
		r, size, ok := d.next(text[used:])
		if size == 0 && err == nil {
			break
		}
		if !ok {
			d.err = &Error{
				File: d.file, Byte: d.offset + int64(used), AtByte: true,
				Msg: fmt.Sprintf("byte 0x%02x is not %s", text[used], d.encoding),
				Fix: "give the encoding of this file with {encoding}, or convert it to UTF-8, for example with iconv",
			}
			return
		}
		d.out = utf8.AppendRune(d.out, r)
		used += size
	}
	d.n = copy(d.raw[:], text[used:])
	d.offset += int64(used)
}

// decode returns a decoder of in, the content of the named file, or nil if neither the settings nor a
// byte-order mark require one.
func decode(in *bufio.Reader, name string,
	o input.Text) (text io.Reader, err error) {
	head, _ := in.Peek(3) // reading returns the same error again
	mark := string(head[:min(2, len(head))])
	skip := 0
	encoding := o.Encoding
	if encoding != "" && bytes.Equal(head, []byte(utf8Mark)) { // a byte-order mark of UTF-8 overrides the setting
		encoding = "utf-8"
	}
	for name, order := range map[string]string{"utf-16le": littleEndianMark,
		"utf-16be": bigEndianMark} {
		if mark == order && (encoding == "" || encoding == "utf-16" ||
			encoding == name) {
			encoding = name
			skip = len(mark)
		}
	}
	next := charsets[encoding]
	if next != nil {
		if skip > 0 {
			if _, err := in.Discard(skip); err != nil {
				return nil, err
			}
			encoding = "UTF-16"
		}
		text = &decoder{in: in, file: name, encoding: encoding, next: next,
			offset: int64(skip)}
	}
	return text, nil
}

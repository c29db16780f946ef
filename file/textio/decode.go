package textio

import (
	"bufio"
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"github.com/heatwalk/heatwalk/file/input"
)

// Byte-order marks.
const (
	utf8Mark         = "\xef\xbb\xbf"
	littleEndianMark = "\xff\xfe"
	bigEndianMark    = "\xfe\xff"
)

// charset decodes the first character of text. size is its length in bytes, or 0 if the text ends within it. ok is
// false if the bytes are no character.
type charset func(text []byte) (r rune, size int, ok bool)

func latin1(text []byte) (rune, int, bool) {
	return rune(text[0]), 1, true
}

func windows(text []byte) (rune, int, bool) {
	r := charmap.Windows1252.DecodeByte(text[0])
	return r, 1, r != utf8.RuneError
}

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

var charsets = map[string]charset{
	"utf-16": utf16Of(0), "utf-16le": utf16Of(0), "utf-16be": utf16Of(1), "latin-1": latin1, "windows-1252": windows,
}

// textFault returns the error about byte c, which follows text. lines is the number of lines before text.
func textFault(name string, lines int64, text []byte, c byte, encoding string, isNUL bool) *Error {
	lines += 1 + countLines(text)
	if isNUL {
		return Fault(name, lines, "give text, plain or compressed with gzip or zstd", "NUL byte, not a text file")
	}
	also := ""
	if encoding == utf8Name && utf8.RuneCount(text) < len(text) {
		also = ", and text in front of it is"
	}
	return Fault(name, lines, "pass the encoding of the file, as in {encoding=windows-1252}, or convert it: "+Recode(name, "WINDOWS-1252")+" > {copy}",
		"byte 0x%02x is not %s%s", c, encoding, also)
}

// Recode returns the command that prints the text of a file in the given encoding as UTF-8, in the form of a Fix.
func Recode(name, encoding string) string {
	command := "iconv -f " + encoding + " -t UTF-8"
	if unpack := Unpack(name); unpack != "" {
		return unpack + command
	}
	return command + " {file}"
}

// Unpack returns the beginning of a command that decompresses a file, in the form of a Fix, or "" if the name is not
// that of a compressed file.
func Unpack(name string) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".gz", ".bgz":
		return "gzip -dc {file} | "
	case ".zst":
		return "zstd -dc {file} | "
	}
	return ""
}

const utf8Name = "UTF-8"

// checked passes on text after checking that it is UTF-8.
type checked struct {
	in    io.Reader
	name  string
	lines int64
	cut   []byte // start of a character whose end has not been read
	err   error
}

// Read implements [io.Reader]. p must be longer than a character.
func (t *checked) Read(p []byte) (int, error) {
	if t.err != nil {
		return 0, t.err
	}
	n := copy(p, t.cut)
	count, err := t.in.Read(p[n:])
	t.err = err
	text := p[:n+count]
	end := len(text)
	if err == nil {
		end = wholeRunes(text)
	}
	t.cut = append(t.cut[:0], text[end:]...)
	text = text[:end]
	if nul := bytes.IndexByte(text, 0); nul >= 0 || !utf8.Valid(text) {
		valid := 0
		for r, size := utf8.DecodeRune(text); r != 0 && (r != utf8.RuneError || size > 1); r, size = utf8.DecodeRune(text[valid:]) {
			valid += size
		}
		t.err = textFault(t.name, t.lines, text[:valid], text[valid], utf8Name, valid == nul)
		return valid, t.err
	}
	t.lines += countLines(text)
	return end, err
}

func countLines(text []byte) int64 {
	if n := bytes.Count(text, lineFeed); n > 0 {
		return int64(n)
	}
	return int64(bytes.Count(text, []byte{'\r'}))
}

func wholeRunes(text []byte) int {
	for i := len(text) - 1; i >= max(0, len(text)-utf8.UTFMax); i-- {
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			return i
		}
	}
	return len(text)
}

type decoder struct {
	in       io.Reader
	file     string
	encoding string
	next     charset

	raw      [16 << 10]byte
	n        int   // bytes in raw that are not decoded
	lines    int64 // lines before out
	out      []byte
	position int
	err      error
}

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

func (d *decoder) fill() {
	n, err := d.in.Read(d.raw[d.n:])
	text := d.raw[:d.n+n]
	d.lines += countLines(d.out)
	d.out = d.out[:0]
	d.position = 0
	d.err = err
	used := 0
	for used < len(text) {
		r, size, ok := d.next(text[used:])
		if size == 0 && err == nil {
			break
		}
		if !ok || r == 0 {
			d.err = textFault(d.file, d.lines, d.out, text[used], d.encoding, ok)
			return
		}
		d.out = utf8.AppendRune(d.out, r)
		used += size
	}
	d.n = copy(d.raw[:], text[used:])
}

// decode returns a reader of the content as UTF-8. A byte-order mark, or a beginning that is UTF-8, overrides the
// encoding of the settings, because the files of a run may differ. decode checks text that is not converted.
func decode(in *bufio.Reader, name string, o input.Text) (text io.Reader, isDecoded bool, err error) {
	encoding := o.Encoding
	title := encoding
	size := len(utf8Mark) // more would wait for a pipe
	if charsets[encoding] != nil {
		size = 64 << 10
	}
	head, _ := in.Peek(size) // reading returns the error again
	if isUTF8(head, strings.HasPrefix(encoding, "utf-16")) {
		encoding = ""
	}
	for mark, order := range map[string]string{utf8Mark: "", littleEndianMark: "utf-16le", bigEndianMark: "utf-16be"} {
		if bytes.HasPrefix(head, []byte(mark)) {
			encoding = order
			title = "UTF-16"
			_, err = in.Discard(len(mark))
		}
	}
	next := charsets[encoding]
	if next == nil {
		return &checked{in: in, name: name}, false, err
	}
	return &decoder{in: in, file: name, encoding: title, next: next}, true, err
}

// isUTF8 reports whether the beginning of a file is UTF-8. ASCII is UTF-8 if the encoding of the settings is
// wide.
func isUTF8(head []byte, isWide bool) bool {
	head = head[:wholeRunes(head)]
	return utf8.Valid(head) && bytes.IndexByte(head, 0) < 0 && (isWide || utf8.RuneCount(head) < len(head))
}

package tablefile

import (
	"bytes"
	"errors"
	"io"

	"github.com/heatwalk/heatwalk/file/nodefile"
)

// words splits text into lines and words. A line ends in a line feed, a carriage return or
// both; a comment begins with #. A buffer of its own instead of bufio.Scanner allows lines of
// any length: a line of a kernel has a value for every column.
type words struct {
	name string
	in   io.Reader

	buf      []byte
	position int   // offset of the next byte in buf
	err      error // error of the last read, io.EOF at the end
	line     int64 // number of the current line, from 1

	offset int64 // bytes of the text before buf
	start  int64 // offset of the current line in the text
	column int   // column of the last word, from 1
}

// bufferBytes is the size of a buffer, maxWord the limit of the length of a word.
const (
	bufferBytes = 256 << 10
	maxWord     = 4 << 10
)

func newWords(name string, in io.Reader) *words {
	w := &words{name: name, in: in, line: 1, buf: make([]byte, 0, bufferBytes)}
	for len(w.buf) < 3 && w.more() {
	}
	if bytes.HasPrefix(w.buf, []byte("\xef\xbb\xbf")) {
		w.position = 3
	}
	return w
}

// more moves the unread bytes to the front of the buffer and reads the next ones after them.
// It returns false at the end of the text and after an error.
func (w *words) more() bool {
	if w.err != nil {
		return false
	}
	w.offset += int64(w.position)
	length := copy(w.buf, w.buf[w.position:])
	n, err := io.ReadAtLeast(w.in, w.buf[length:cap(w.buf)], 1)
	w.buf, w.position, w.err = w.buf[:length+n], 0, err
	return n > 0
}

// fail returns the error that ended the text, or nil at its end.
func (w *words) fail() error {
	if w.err == nil || errors.Is(w.err, io.EOF) {
		return nil
	}
	return w.err
}

// ends marks the bytes that end a word.
var ends = [256]bool{' ': true, '\t': true, '\v': true, '\f': true, '\r': true, '\n': true, '#': true}

// next returns the next word of the line, or nil at the end of the line. The word is valid
// until the next call.
func (w *words) next() ([]byte, error) {
	for comment := false; ; w.position++ {
		if w.position == len(w.buf) && !w.more() {
			return nil, w.fail()
		}
		c := w.buf[w.position]
		if c == '\n' || c == '\r' {
			return nil, nil
		}
		if comment = comment || c == '#'; !comment && !ends[c] {
			break
		}
	}
	for n := 1; ; n++ {
		if w.position+n == len(w.buf) && !w.more() && w.fail() != nil {
			return nil, w.fail()
		}
		if w.position+n == len(w.buf) || ends[w.buf[w.position+n]] {
			word := w.buf[w.position : w.position+n]
			w.column = int(w.offset+int64(w.position)-w.start) + 1
			w.position += n
			return word, nil
		}
		if n == maxWord {
			return nil, &nodefile.ParseError{File: w.name, Line: w.line, Msg: "a word longer than 4 KiB", Fix: "is this LIBSVM text?"}
		}
	}
}

// endLine skips the end of the current line, after next has returned nil. It returns false at
// the end of the text.
func (w *words) endLine() bool {
	if w.position == len(w.buf) && !w.more() {
		return false
	}
	end := w.buf[w.position]
	w.position++
	if end == '\r' && (w.position < len(w.buf) || w.more()) && w.buf[w.position] == '\n' {
		w.position++
	}
	w.line++
	w.start = w.offset + int64(w.position)
	return true
}

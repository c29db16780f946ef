package graphfile

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/heatwalk/heatwalk/file/textio"
)

// scanner reads text byte by byte and counts lines. Every line ends in a line
// feed; carriage returns are blanks.
type scanner struct {
	name     string
	in       io.Reader
	buf      []byte
	position int   // of the next byte in buf
	line     int64 // of the next byte
	err      error // why there is no next byte
	text     []byte
}

// maxWord is the longest word, text or tag.
const maxWord = 1 << 20

// fixFormat is the way out of text that is too odd for any format.
const fixFormat = "is this the format that its name says?"

func newScanner(name string, in io.Reader) *scanner {
	return &scanner{name: name, in: in, line: 1, buf: make([]byte, 0, 4<<10)}
}

// fill reads the next bytes; it returns false at the end or at an error.
func (s *scanner) fill() bool {
	if s.err != nil {
		return false
	}
	n, err := io.ReadAtLeast(s.in, s.buf[:cap(s.buf)], 1)
	s.buf = s.buf[:n]
	s.position = 0
	if err != nil {
		s.err = err
	}
	return n > 0
}

// peek returns the next byte; false at the end or at an error.
func (s *scanner) peek() (byte, bool) {
	if s.position == len(s.buf) && !s.fill() {
		return 0, false
	}
	return s.buf[s.position], true
}

// next takes the byte that peek returned.
func (s *scanner) next() {
	if s.buf[s.position] == '\n' {
		s.line++
	}
	s.position++
}

// fail returns the error that ended the text, or nil at its end.
func (s *scanner) fail() error {
	if s.err == nil || errors.Is(s.err, io.EOF) {
		return nil
	}
	return s.err
}

// skipLine takes the rest of the line, its end included.
func (s *scanner) skipLine() {
	for {
		if s.position == len(s.buf) && !s.fill() {
			return
		}
		if end := bytes.IndexByte(s.buf[s.position:], '\n'); end >= 0 {
			s.position += end
			s.next()
			return
		}
		s.position = len(s.buf)
	}
}

func isBlank(c byte) bool {
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'
}

// skipBlanks takes the blanks before the next byte of the line and returns that
// byte, which may be the line's end; false at the end of the text or at an error.
func (s *scanner) skipBlanks() (c byte, ok bool) {
	for {
		c, ok = s.peek()
		if !ok || !isBlank(c) {
			return c, ok
		}
		s.position++
	}
}

// word returns the next word of the line, empty at its end. It is valid until
// the next one.
func (s *scanner) word() ([]byte, error) {
	if c, ok := s.skipBlanks(); !ok {
		return nil, s.fail()
	} else if c == '\n' {
		return nil, nil
	}
	s.text = s.text[:0]
	for {
		start := s.position
		for s.position < len(s.buf) && s.buf[s.position] > ' ' {
			s.position++
		}
		s.text = append(s.text, s.buf[start:s.position]...)
		if len(s.text) > maxWord {
			return nil, textio.Fault(s.name, s.line, fixFormat,
				"a word longer than 1 MiB")
		}
		if s.position < len(s.buf) {
			if c := s.buf[s.position]; c != '\n' && !isBlank(c) {
				s.text = append(s.text, c) // another control byte
				s.position++
				continue
			}
			return s.text, nil
		}
		if !s.fill() {
			return s.text, s.fail()
		}
	}
}

// parseUint returns the number that a word of at most 19 digits is.
func parseUint(word []byte) (n uint64, ok bool) {
	n, err := strconv.ParseUint(string(word), 10, 64)
	return n, err == nil && len(word) <= 19
}

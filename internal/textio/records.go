package textio

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// records turns JSON objects, one behind the other or in a list, into lines of a table: the keys on line 0, and the
// values of each object, in quotes and separated by tabs, on the line on which it begins, or the next free one.
type records struct {
	r      *Reader
	d      *json.Decoder
	titles []string
	cells  []string // of the object at hand, one for each title
	isList bool     // a list has begun and not ended

	line     int64 // of the last row
	out      []byte
	position int // in out
	err      error

	// The text, of which at most left bytes are read for an object.
	in    io.Reader
	left  int
	read  int64   // bytes
	ended int64   // lines that have ended before the last object
	ends  []int64 // offsets of later line feeds

	// The object at hand.
	start        int64 // offset behind its brace
	keys, values []string
	isNested     bool // some value is a list or an object
	isRecoded    bool // some text is not UTF-8
}

// headRecords is the length of the text whose objects have all keys of a table.
const headRecords = 64 << 10

// Faults of records, without a place.
var (
	errLong     = &Error{Msg: "an object longer than 1 MiB", Fix: "shorten it; is a quote missing?"}
	errNoObject = &Error{Msg: "text between the objects of a table", Fix: "correct it"}
	errRecode   = &Error{Msg: "the object is not UTF-8", Fix: "pass {encoding=windows-1252}"}
	errCut      = &Error{Msg: "the file ends within a list or an object", Fix: "fetch the file again"}
)

// RecordTitles returns the keys of all whole objects at the beginning of a JSON text. It is nil if there are fewer than two
// outside a list, if the first one holds lists or objects, or if isRecord, unless it is nil, rejects the keys of one.
func RecordTitles(head []byte, isRecord func(keys []string) bool) (titles []string) {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte(utf8Mark)), " \t\r\n")
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return nil
	}
	objects := 0
	j := newRecords(bytes.NewReader(text))
	for ; j.next() == nil; objects++ {
		if titles == nil && j.isNested || isRecord != nil && !isRecord(j.keys) {
			return nil
		}
		for _, key := range j.keys {
			if !slices.Contains(titles, key) {
				titles = append(titles, key)
			}
		}
	}
	if objects < 2 && text[0] == '{' {
		return nil
	}
	return titles
}

// openRecords begins to read the lines of a text that is records of JSON.
func openRecords(r *Reader) {
	in := r.text.(*bufio.Reader)
	j := newRecords(in)
	j.titles = RecordTitles(r.Peek(headRecords), nil)
	if j.titles == nil {
		return
	}
	if bytes.HasPrefix(r.Peek(len(utf8Mark)), []byte(utf8Mark)) {
		_, _ = in.Discard(len(utf8Mark)) // it was peeked
	}
	j.r = r
	j.cells = slices.Clone(j.titles)
	j.addRow()
	r.text = j
	r.titled = true
	r.chunks.lines = -1
}

func newRecords(text io.Reader) *records {
	j := &records{in: text}
	j.d = json.NewDecoder(recordText{j})
	return j
}

// recordText reads the text of records.
type recordText struct{ j *records }

// Read implements [io.Reader] and notes the ends of lines.
func (t recordText) Read(p []byte) (int, error) {
	j := t.j
	if j.left == 0 {
		return 0, errLong
	}
	n, err := j.in.Read(p[:min(len(p), j.left)])
	for i, c := range p[:n] {
		if c == '\n' {
			j.ends = append(j.ends, j.read+int64(i))
		}
	}
	j.left -= n
	j.read += int64(n)
	return n, err
}

// lineAt returns the number of the line of an offset, which is not before that of an earlier call.
func (j *records) lineAt(offset int64) int64 {
	for len(j.ends) > 0 && j.ends[0] < offset {
		j.ends = j.ends[1:]
		j.ended++
	}
	return j.ended + 1
}

// next reads the next object; io.EOF is the end.
func (j *records) next() error {
	j.keys = j.keys[:0]
	j.values = j.values[:0]
	j.isNested = false
	j.isRecoded = false
	j.left = MaxLine
	for isBegun := false; !isBegun; {
		token, err := j.d.Token()
		switch {
		case errors.Is(err, io.EOF) && j.isList:
			return errCut
		case err != nil:
			return err
		case token == json.Delim('{'):
			isBegun = true
		case token == json.Delim('['), token == json.Delim(']'):
			j.isList = token == json.Delim('[')
		default:
			return errNoObject
		}
	}
	j.start = j.d.InputOffset()
	for j.d.More() {
		if err := j.member(); err != nil {
			return err
		}
	}
	_, err := j.d.Token()
	if errors.Is(err, io.EOF) {
		return errCut
	}
	return err
}

// member reads a key and its value.
func (j *records) member() error {
	key, err := j.d.Token()
	if err != nil {
		return err
	}
	var value json.RawMessage
	if err := j.d.Decode(&value); err != nil {
		return err
	}
	text := string(value)
	switch value[0] {
	case '"':
		err = json.Unmarshal(value, &text)
	case 'n':
		text = ""
	case '[', '{':
		j.isNested = true
	}
	name := key.(string)
	j.isRecoded = j.isRecoded || !utf8.Valid(value) || strings.ContainsRune(name, utf8.RuneError)
	j.keys = append(j.keys, name)
	j.values = append(j.values, text)
	return err
}

// Read implements [io.Reader]: the lines of the table.
func (j *records) Read(p []byte) (int, error) {
	for j.position == len(j.out) {
		if j.err != nil {
			return 0, j.err
		}
		j.out = j.out[:0]
		j.position = 0
		j.fill()
	}
	n := copy(p, j.out[j.position:])
	j.position += n
	return n, nil
}

// fill adds the row of the next object, below lines without one.
func (j *records) fill() {
	err := j.next()
	if err == nil && j.isRecoded {
		err = errRecode
	}
	if err != nil {
		j.err = j.fault(err)
		return
	}
	clear(j.cells)
	line := j.lineAt(j.start)
	for i, key := range j.keys {
		column := i
		if i >= len(j.titles) || j.titles[i] != key {
			column = slices.Index(j.titles, key)
		}
		switch {
		case column < 0:
			j.titles = append(j.titles, key) // it is named once, and has no cell
			j.r.warn(Fault(j.r.name, line, "write it into the first object, for example as null",
				"%q is in none of the objects at the beginning, and is left out", key))
		case column < len(j.cells):
			j.cells[column] = j.values[i]
		}
	}
	for j.line++; j.line < line; j.line++ {
		j.out = append(j.out, '\n')
	}
	j.addRow()
}

// recordSigns writes what would end a cell in quotes as JSON does.
var recordSigns = strings.NewReplacer(`"`, `""`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\x00", `\u0000`)

// addRow adds a line with the cells.
func (j *records) addRow() {
	for i, cell := range j.cells {
		if i > 0 {
			j.out = append(j.out, '\t')
		}
		j.out = append(j.out, '"')
		j.out = append(j.out, recordSigns.Replace(cell)...)
		j.out = append(j.out, '"')
	}
	j.out = append(j.out, '\n')
}

// fault returns the error about the place that was reached.
func (j *records) fault(err error) error {
	var fault *Error
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		fault = errCut
	case errors.As(err, &syntax):
		fault = &Error{Msg: "no well-formed JSON: " + syntax.Error(), Fix: "correct it"}
	case !errors.As(err, &fault) || fault.File != "":
		return err
	}
	e := *fault
	e.File = j.r.name
	e.Line = j.lineAt(j.d.InputOffset())
	return &e
}

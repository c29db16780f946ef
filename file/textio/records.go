package textio

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
)

// records turns JSON objects, one after the other or in a list, into lines of a table. Line 0 has the keys. The line
// on which an object begins, or the next free line, has its values, quoted and separated by tabs.
type records struct {
	r      *Reader
	in     *recordText
	d      *json.Decoder
	column map[string]int  // columns of kept keys
	warned map[string]bool // keys left out
	cells  []string
	line   int64
	out    bytes.Buffer
	err    error
	isList bool

	// The current object.
	first   int64
	members []Member
}

// Member is a member of a JSON object.
type Member struct {
	Key, Text string          // Text is the value of a text, a number or a truth value
	IsText    bool            // the value is a text
	Nested    json.RawMessage // a list or an object; else nil
}

type recordText struct {
	in   io.Reader
	left int   // bytes of the current object that may be read
	ends int64 // line ends
}

// HeadBytes is the length of the beginning of a text that determines its form. The JSON objects in it must contain
// all keys of a table.
const HeadBytes = 64 << 10

var (
	errLong     = &Error{Msg: "an object longer than 1 MiB", Fix: "shorten it; is a quote missing?"}
	errNoObject = &Error{Msg: "text between the objects of a table", Fix: "correct it"}
	errCut      = &Error{Msg: "the file ends within a list or an object", Fix: "fetch the file again"}
)

// RecordTitles returns the keys of a JSON text whose values are texts or numbers. It reads all whole objects in head.
// If head is no list and has fewer than two objects, it returns nil. It calls visit, if not nil, with the members of
// each object.
func RecordTitles(head []byte, visit func(members []Member)) (titles []string) {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte(utf8Mark)), " \t\r\n")
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return nil
	}
	objects := 0
	j := newRecords(bytes.NewReader(text))
	for ; j.next() == nil; objects++ {
		if visit != nil {
			visit(j.members)
		}
		for _, m := range j.members {
			if m.Nested == nil && !slices.Contains(titles, m.Key) {
				titles = append(titles, m.Key)
			}
		}
	}
	if objects < 2 && text[0] == '{' {
		return nil
	}
	return titles
}

// ReadObjects calls visit for each JSON object in a text, one after the other or in a list, with the line on which
// the object begins and its members, valid during the call. The error is an [*Error] about the file called name, the
// error of visit, or the error of reading.
func ReadObjects(name string, text io.Reader, visit func(line int64, members []Member) error) error {
	j := newRecords(text)
	for {
		err := j.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return j.fault(name, err)
		}
		if err := visit(j.first, j.members); err != nil {
			return err
		}
	}
}

func openRecords(r *Reader) {
	titles := RecordTitles(r.Peek(HeadBytes), nil)
	if titles == nil {
		return
	}
	j := newRecords(r.text)
	j.r = r
	for i, title := range titles {
		j.column[title] = i
	}
	j.cells = titles
	j.addRow()
	r.text = j
	r.chunks.lines = -1
}

func newRecords(text io.Reader) *records {
	in := &recordText{in: text}
	return &records{in: in, d: json.NewDecoder(in), column: map[string]int{}, warned: map[string]bool{}}
}

// Read implements [io.Reader]. It counts line ends.
func (t *recordText) Read(p []byte) (int, error) {
	if t.left == 0 {
		return 0, errLong
	}
	n, err := t.in.Read(p[:min(len(p), t.left)])
	t.left -= n
	t.ends += int64(bytes.Count(p[:n], lineFeed))
	return n, err
}

func (j *records) place() int64 {
	ahead, _ := io.ReadAll(j.d.Buffered()) // reading a buffer cannot fail
	return 1 + j.in.ends - int64(bytes.Count(ahead, lineFeed))
}

// next reads the next object, or returns io.EOF at the end.
func (j *records) next() error {
	j.members = j.members[:0]
	j.in.left = MaxLine
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
	j.first = j.place()
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

func (j *records) member() error {
	key, err := j.d.Token()
	if err != nil {
		return err
	}
	var value json.RawMessage
	if err := j.d.Decode(&value); err != nil {
		return err
	}
	m := Member{Key: key.(string)}
	switch value[0] {
	case '[', '{':
		m.Nested = value
	case '"':
		m.IsText = true
		err = json.Unmarshal(value, &m.Text)
	case 'n': // null, which has no text
	default:
		m.Text = string(value)
		// An exponent without a sign is a number in JSON, but a name among texts.
		if i := strings.IndexAny(m.Text, "eE") + 1; i > 0 && i < len(m.Text) && m.Text[i]-'0' <= 9 {
			m.Text = m.Text[:i] + "+" + m.Text[i:]
		}
	}
	j.members = append(j.members, m)
	return err
}

func (j *records) Read(p []byte) (int, error) {
	for j.out.Len() == 0 {
		if j.err != nil {
			return 0, j.err
		}
		j.fill()
	}
	return j.out.Read(p)
}

func (j *records) fill() {
	err := j.next()
	if err != nil {
		j.err = j.fault(j.r.name, err)
		return
	}
	clear(j.cells)
	for _, m := range j.members {
		column, isKnown := j.column[m.Key]
		switch {
		case m.Nested != nil:
			j.leaveOut(m.Key, "holds a list or an object, and is left out", "write texts and numbers")
		case isKnown:
			j.cells[column] = m.Text
		default:
			j.leaveOut(m.Key, "is in none of the objects at the beginning, and is left out",
				"write it into the first object, for example as null")
		}
	}
	for j.line++; j.line < j.first; j.line++ {
		j.out.WriteByte('\n')
	}
	j.addRow()
}

// leaveOut warns once about a key whose value is left out.
func (j *records) leaveOut(key, problem, fix string) {
	if !j.warned[key] {
		j.r.warn(Fault(j.r.name, j.first, fix, "%q %s", key, problem))
	}
	j.warned[key] = true
}

// recordSigns escapes what would end a quoted cell.
var recordSigns = strings.NewReplacer(`"`, `""`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\x00", `\u0000`)

func (j *records) addRow() {
	separator := "\""
	for _, cell := range j.cells {
		j.out.WriteString(separator + recordSigns.Replace(cell))
		separator = "\"\t\""
	}
	j.out.WriteString("\"\n")
}

func (j *records) fault(name string, err error) error {
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
	return Fault(name, j.place(), fault.Fix, "%s", fault.Msg)
}

package graphfile

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
)

type xmlText struct {
	out  *batchWriter
	d    *xml.Decoder
	text *markup
	open []int // bytes of the tags of the open elements
}

// maxWord is the longest word, text or tag in bytes.
const maxWord = 1 << 20

// xmlDepth is the greatest depth of nested elements.
const xmlDepth = 256

// isEncoded reports whether head begins as XML in a one-byte encoding or UTF-8. XML declares its encoding.
func isEncoded(head []byte) bool {
	return len(head) >= 2 && head[0] == '<' && head[1] != 0
}

func isGraphML(head []byte) bool {
	text := trimStart(head)
	return bytes.HasPrefix(text, []byte{'<'}) &&
		(bytes.Contains(text, []byte("<graphml")) || bytes.Contains(text, []byte(":graphml")))
}

// plainLabel matches a name of an encoding that a shell command may contain without quotes.
var plainLabel = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

func newXMLText(s *batchWriter) *xmlText {
	text := &markup{in: bufio.NewReaderSize(s.Text, 64<<10), left: maxWord}
	x := &xmlText{out: s, d: xml.NewDecoder(text), text: text}
	x.d.CharsetReader = func(label string, r io.Reader) (io.Reader, error) {
		if slices.Contains([]string{"us-ascii", "ascii", "utf8"},
			strings.ToLower(label)) {
			return r, nil
		}
		fix := "convert it to UTF-8"
		if plainLabel.MatchString(label) {
			fix = "convert it: " + textio.Recode(s.Name, label) + " | sed '1s/" + label + "/UTF-8/' > {copy}"
		}
		return nil, x.out.fault(1, fix, "encoding %s is not supported", words.Quoted(label))
	}
	return x
}

// markup passes text to the XML decoder. It bounds the length of a token, which the decoder holds in memory.
type markup struct {
	in   *bufio.Reader
	left int // bytes before the next token has to end
}

var errLongToken = errors.New("graphfile: long XML token")

func (m *markup) ReadByte() (byte, error) {
	if m.left == 0 {
		return 0, errLongToken
	}
	m.left--
	return m.in.ReadByte()
}

func (m *markup) Read(p []byte) (int, error) {
	if m.left == 0 {
		return 0, errLongToken
	}
	n, err := m.in.Read(p[:min(len(p), m.left)])
	m.left -= n
	return n, err
}

func (x *xmlText) line() int64 {
	line, _ := x.d.InputPos()
	return int64(line)
}

// next returns the next token, or nil at the end of the file.
func (x *xmlText) next() (xml.Token, error) {
	line := x.line()
	left := maxWord
	for _, n := range x.open {
		left -= n
	}
	x.text.left = left
	t, err := x.d.Token()
	switch t.(type) {
	case xml.StartElement:
		x.open = append(x.open, left-x.text.left)
		if len(x.open) > xmlDepth {
			return nil, x.out.fault(x.line(), "is this GraphML?",
				"elements in elements, %d deep", len(x.open))
		}
	case xml.EndElement:
		x.open = x.open[:len(x.open)-1]
	}
	var syntax *xml.SyntaxError
	var ours *textio.Error
	switch {
	case err == nil:
		return t, nil
	case errors.Is(err, io.EOF):
		return nil, nil
	case errors.Is(err, errLongToken):
		return nil, x.out.fault(line,
			"shorten it; is a quote or a bracket missing?",
			"a tag, comment or text longer than 1 MiB")
	case errors.As(err, &ours):
		return nil, ours
	case errors.As(err, &syntax):
		fix := "correct it"
		switch {
		case strings.Contains(syntax.Msg, "EOF"):
			fix = fetchAgain
		case syntax.Msg == "invalid UTF-8":
			fix = "convert it: " + textio.Recode(x.out.Name, "WINDOWS-1252") + " > {copy}"
		}
		return nil, x.out.fault(int64(syntax.Line), fix, "no well-formed XML: %s",
			brief(syntax.Msg))
	}
	return nil, err
}

func brief(message string) string {
	const longest = 160
	if len(message) <= longest {
		return message
	}
	return strings.ToValidUTF8(message[:longest], "") + "…"
}

// read calls start for every element; start may read the element to its end.
func (x *xmlText) read(start func(t xml.StartElement) error) error {
	for {
		t, err := x.next()
		if t == nil || err != nil {
			return err
		}
		if t, isStart := t.(xml.StartElement); isStart {
			if err := start(t); err != nil {
				return err
			}
		}
	}
}

func attribute(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}

// content calls visit with the text of each child of t that isWanted selects.
func (x *xmlText) content(t xml.StartElement,
	isWanted func(child xml.StartElement) bool,
	visit func(child xml.StartElement, text string)) error {
	line := x.line()
	var text strings.Builder
	picked := false
	var child xml.StartElement
	for depth := 1; depth > 0; {
		token, err := x.next()
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case nil:
			return x.out.fault(x.line(), fetchAgain,
				"the file ends in an element %s", t.Name.Local)
		case xml.StartElement:
			if depth++; depth == 2 && isWanted(token) {
				picked = true
				child = token.Copy()
				text.Reset()
			}
			if n := token.Name.Local; n == "node" || n == "edge" || n == "graph" {
				return x.out.fault(x.line(), "write a graph without others within",
					"%s within %s", n, t.Name.Local)
			}
		case xml.EndElement:
			if depth--; depth == 1 && picked {
				visit(child, text.String())
				picked = false
			}
		case xml.CharData:
			if !picked {
				continue
			}
			if text.Write(token); text.Len() > maxWord {
				return x.out.fault(line, "shorten it",
					"a text longer than 1 MiB in an element %s", t.Name.Local)
			}
		}
	}
	return nil
}

var xmlTypes = map[Kind]string{Text: "string", Real: "double", Integer: "long",
	Boolean: "boolean"}

func directionOf(g *graph) string {
	if g.directed {
		return "directed"
	}
	return "undirected"
}

func writeMarkup(out *bufio.Writer, markup string, values ...string) (err error) {
	line := out.AvailableBuffer()
	for _, value := range values {
		head, tail, _ := strings.Cut(markup, "%")
		if line, err = appendMarkup(append(line, head...), value); err != nil {
			return err
		}
		markup = tail
	}
	_, err = out.Write(append(line, markup...))
	return err
}

// appendMarkup appends text with escaped markup. The error wraps [ErrFormat] if XML cannot represent a character of
// text.
func appendMarkup(dst []byte, text string) ([]byte, error) {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 ||
			r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == 0xfffe ||
			r == 0xffff {
			return dst, unfitf("%q: XML has no such characters; write .csv or .parquet", text)
		}
		switch r {
		case '&':
			dst = append(dst, "&amp;"...)
		case '<':
			dst = append(dst, "&lt;"...)
		case '>':
			dst = append(dst, "&gt;"...)
		case '"':
			dst = append(dst, "&quot;"...)
		case '\t', '\n', '\r':
			dst = append(dst, "&#"+strconv.Itoa(int(r))+";"...)
		default:
			dst = append(dst, text[i:i+size]...)
		}
		i += size
	}
	return dst, nil
}

package method

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/heatwalk/heatwalk/internal/textio"
)

// maxGridFile bounds the text of a grid file, which is kept while it is read.
const maxGridFile = 1 << 20

// gridLine is one parameter of a grid file, a file of values to choose from. As text such a file is
// one JSON object: a key with a list, or a single value, is a parameter of every method that has
// it; a key with an object is a method, or the kernel of methods, whose parameters are the keys of
// the object.
type gridLine struct {
	Of        string // method; "": of all
	Parameter string
	Values    []string
	File      string
	Number    int64 // of the line
}

//go:embed paper.json
var paperGrid []byte

// openGrid returns the lines of a grid by its name: no lines for "small" and "none", the values in the
// methods' papers for "paper" (those of Neumann, Garnett and Kersting's section 4.1, with each
// kernel's matrix as in its paper), or else those of a file. isKnown reports whether a method or a
// kernel of methods has a name.
func openGrid(ctx context.Context, name string, isKnown func(method string) bool) ([]gridLine, error) {
	switch name {
	case "small", "none":
		return nil, nil
	case "paper":
		return readGrid(name, bytes.NewReader(paperGrid), isKnown)
	}
	f, err := textio.OpenFile(ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	defer context.AfterFunc(ctx, func() { f.Close() })() // ends a read from a pipe
	return readGrid(name, f, isKnown)
}

// ErrGrid is wrapped by every error about the values of a grid.
var ErrGrid = errors.New("method: bad grid")

// readGrid reads a grid file called name, which is shorter than 1 MiB. Errors are those of
// reading and [*textio.Error], which wraps [ErrGrid].
func readGrid(name string, r io.Reader, isKnown func(method string) bool) ([]gridLine, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxGridFile))
	if err != nil {
		return nil, err
	}
	size := len(text)
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // as editors of some systems begin every text
	p := &gridParser{name: name, isKnown: isKnown, text: text, dec: json.NewDecoder(bytes.NewReader(text))}
	p.dec.UseNumber()
	if size == maxGridFile {
		return nil, p.wrong("longer than 1 MiB")
	}
	if token, err := p.dec.Token(); err != nil || token != json.Delim('{') {
		return nil, p.wrong("no JSON object; write {\"cost\": [1, 2], \"diffusion\": {\"beta\": [0.5, 1]}}")
	}
	if err := p.object(""); err != nil {
		return nil, err
	}
	if _, err := p.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, p.wrong("more than one JSON value")
	}
	return p.lines, nil
}

// gridParser reads a grid file.
type gridParser struct {
	name    string
	isKnown func(method string) bool
	text    []byte
	dec     *json.Decoder
	lines   []gridLine
}

// wrong returns an error at the place where the decoder is.
func (p *gridParser) wrong(format string, args ...any) error {
	return &textio.Error{File: p.name, Line: p.line(), Msg: fmt.Sprintf(format, args...), Err: ErrGrid}
}

// broken returns the error of text that is no JSON.
func (p *gridParser) broken(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return p.wrong("the text ends within an object; a } or ] is missing")
	}
	return p.wrong("%v", err)
}

func (p *gridParser) line() int64 {
	return 1 + int64(bytes.Count(p.text[:p.dec.InputOffset()], []byte("\n")))
}

// object reads the rest of an object whose keys are parameters of a method or, of "",
// methods too.
func (p *gridParser) object(method string) error {
	for {
		token, err := p.dec.Token()
		if err != nil {
			return p.broken(err)
		}
		if token == json.Delim('}') {
			return nil
		}
		key, number := token.(string), p.line()
		if slices.ContainsFunc(p.lines, func(l gridLine) bool { return l.Of == method && l.Parameter == key }) {
			return p.wrong("%q stands there twice", key)
		}
		if token, err = p.dec.Token(); err != nil {
			return p.broken(err)
		}
		if token == json.Delim('{') && method == "" {
			if !p.isKnown(key) {
				return p.wrong("there is no method %q", key)
			}
			if err := p.object(key); err != nil {
				return err
			}
			continue
		}
		values, err := p.values(key, token)
		if err != nil {
			return err
		}
		p.lines = append(p.lines, gridLine{method, key, values, p.name, number})
	}
}

// values reads a list, or is the single value of a token.
func (p *gridParser) values(key string, token json.Token) (values []string, err error) {
	isList := token == json.Delim('[')
	for {
		if isList {
			if token, err = p.dec.Token(); err != nil {
				return nil, p.broken(err)
			}
			if token == json.Delim(']') {
				break
			}
		}
		switch v := token.(type) {
		case json.Number, string, bool:
			text := fmt.Sprint(v)
			if slices.Contains(values, text) {
				return nil, p.wrong("%s repeats the value %s", key, text)
			}
			values = append(values, text)
		default:
			return nil, p.wrong("%s: a value is a number, a word, true or false", key)
		}
		if !isList {
			break
		}
	}
	if len(values) == 0 {
		return nil, p.wrong("%s has no value", key)
	}
	return values, nil
}

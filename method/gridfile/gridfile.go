// Package gridfile reads files of values to choose from, see [File].
package gridfile

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/validate"
)

// maxFile bounds the text of a grid file, which is kept while it is read.
const maxFile = 1 << 20

// File holds values to choose from, of all methods and of single ones. As text it is
// one JSON object: a key with a list, or a single value, is a parameter of every method
// that has it; a key with an object is a method, or the kernel of methods, whose
// parameters are the keys of the object. Those of a method go before those of all.
type File []line

// line is one parameter of a grid file.
type line struct {
	of        string // method; "": of all
	parameter string
	values    []string
	number    int // of the line
}

//go:embed paper.json
var paper []byte

// Paper returns the values that the papers of the methods try: those of Neumann,
// Garnett and Kersting's section 4.1, with each kernel's matrix as in its paper.
func Paper() File {
	g, err := Read(bytes.NewReader(paper))
	if err != nil {
		panic(err) // it is tested
	}
	return g
}

// Open returns the values of a grid by its name: none for "small" and "none", which are the
// grids of package method, those of [Paper] for "paper", or else those of a file.
func Open(name string) (File, error) {
	switch name {
	case "small", "none":
		return nil, nil
	case "paper": // which is for many methods
		return Paper(), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f)
}

// Error is what is wrong with a grid file.
type Error struct {
	Line int
	What string
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.What) }

// Unwrap returns [method.ErrGrid].
func (e *Error) Unwrap() error { return method.ErrGrid }

// Read reads a grid file, which is shorter than 1 MiB. Errors are those of
// reading and [*Error].
func Read(r io.Reader) (File, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile))
	if err != nil {
		return nil, err
	}
	p := &parser{text: text, dec: json.NewDecoder(bytes.NewReader(text))}
	p.dec.UseNumber()
	if len(text) == maxFile {
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
	return p.found, nil
}

// parser reads a grid file.
type parser struct {
	text  []byte
	dec   *json.Decoder
	found File
}

// wrong returns an error at the place where the decoder is.
func (p *parser) wrong(format string, args ...any) error {
	return &Error{p.line(), fmt.Sprintf(format, args...)}
}

// broken returns the error of text that is no JSON.
func (p *parser) broken(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return p.wrong("the text ends within an object; a } or ] is missing")
	}
	return p.wrong("%s", strings.TrimPrefix(err.Error(), "json: "))
}

func (p *parser) line() int {
	return 1 + bytes.Count(p.text[:p.dec.InputOffset()], []byte("\n"))
}

// object reads the rest of an object whose keys are parameters of a method or, of "",
// methods too.
func (p *parser) object(of string) error {
	for {
		token, err := p.dec.Token()
		if err != nil {
			return p.broken(err)
		}
		if token == json.Delim('}') {
			return nil
		}
		key, number := token.(string), p.line()
		if slices.ContainsFunc(p.found, func(l line) bool { return l.of == of && l.parameter == key }) {
			return p.wrong("%q stands there twice", key)
		}
		if token, err = p.dec.Token(); err != nil {
			return p.broken(err)
		}
		if token == json.Delim('{') && of == "" {
			if !slices.ContainsFunc(method.All(), func(m method.Method) bool { return belongs(m, key) }) {
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
		p.found = append(p.found, line{of, key, values, number})
	}
}

// values reads a list, or is the single value of a token.
func (p *parser) values(key string, token json.Token) (values []string, err error) {
	many := token == json.Delim('[')
	for {
		if many {
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
		if !many {
			break
		}
	}
	if len(values) == 0 {
		return nil, p.wrong("%s has no value", key)
	}
	return values, nil
}

// belongs reports whether a method has a name, or a kernel that has it.
func belongs(m method.Method, name string) bool {
	kernel, _, _ := strings.Cut(m.Name(), "+")
	return m.Name() == name || kernel == name
}

// Check returns a [*Error] for a parameter that none of the methods has which it is
// for, where there are such methods.
func (g File) Check(all []method.Method) error {
	for _, l := range g {
		meant := l.meant(all)
		if len(meant) > 0 && !slices.ContainsFunc(meant, func(m method.Method) bool { return method.Has(m, l.parameter) }) {
			return &Error{l.number, fmt.Sprintf("%s no parameter %q", haveNames(meant), l.parameter)}
		}
	}
	return nil
}

// meant returns the methods that a line is for.
func (l *line) meant(all []method.Method) (list []method.Method) {
	for _, m := range all {
		if l.of == "" || belongs(m, l.of) {
			list = append(list, m)
		}
	}
	return list
}

// Own returns the values of a file for a method, but for parameters that are given
// already. The error is a [*Error] for a value that the method does not take.
func (g File) Own(m method.Method, given func(parameter string) bool) (map[string][]string, error) {
	own, exact := map[string][]string{}, map[string]bool{}
	for _, l := range g {
		if len(l.meant([]method.Method{m})) == 0 || !method.Has(m, l.parameter) || given(l.parameter) || l.of == "" && exact[l.parameter] {
			continue
		}
		exact[l.parameter] = l.of != ""
		own[l.parameter] = l.values
		if _, err := new(method.Settings).With(m, map[string][]string{l.parameter: l.values}); err != nil {
			return nil, &Error{l.number, strings.TrimPrefix(err.Error(), validate.ErrUsage.Error()+": ")}
		}
	}
	return own, nil
}

func haveNames(list []method.Method) string {
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = m.Name()
	}
	if len(names) == 1 {
		return names[0] + " has"
	}
	return strings.Join(names, ", ") + " have"
}

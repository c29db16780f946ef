package method

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/validate"
)

// maxGridFile bounds the text of a grid file, which is kept while it is read.
const maxGridFile = 1 << 20

// GridFile holds values to choose from, of all methods and of single ones. As text it is
// one JSON object: a key with a list, or a single value, is a parameter of every method
// that has it; a key with an object is a method, or the kernel of methods, whose
// parameters are the keys of the object. Those of a method go before those of all.
type GridFile []gridLine

// gridLine is one parameter of a grid file.
type gridLine struct {
	method    string // "": of all
	parameter string
	values    []string
	line      int
}

//go:embed paper.json
var paperGrid []byte

// PaperFile returns the values that the papers of the methods try: those of Neumann,
// Garnett and Kersting's section 4.1, with each kernel's matrix as in its paper.
func PaperFile() GridFile {
	g, err := ReadGridFile(bytes.NewReader(paperGrid))
	if err != nil {
		panic(err) // it is tested
	}
	return g
}

// GridFileError is what is wrong with a grid file.
type GridFileError struct {
	Line int
	What string
}

// Error implements error.
func (e *GridFileError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.What) }

// Unwrap returns [ErrGrid].
func (e *GridFileError) Unwrap() error { return ErrGrid }

// ReadGridFile reads a grid file, which is shorter than 1 MiB. Errors are those of
// reading and [*GridFileError].
func ReadGridFile(r io.Reader) (GridFile, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxGridFile))
	if err != nil {
		return nil, err
	}
	p := &gridParser{text: text, dec: json.NewDecoder(bytes.NewReader(text))}
	p.dec.UseNumber()
	if len(text) == maxGridFile {
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

// gridParser reads a grid file.
type gridParser struct {
	text  []byte
	dec   *json.Decoder
	found GridFile
}

// wrong returns an error at the place where the decoder is.
func (p *gridParser) wrong(format string, args ...any) error {
	return &GridFileError{p.line(), fmt.Sprintf(format, args...)}
}

func (p *gridParser) line() int {
	return 1 + bytes.Count(p.text[:p.dec.InputOffset()], []byte("\n"))
}

// object reads the rest of an object whose keys are parameters of a method or, of "",
// methods too.
func (p *gridParser) object(method string) error {
	for {
		token, err := p.dec.Token()
		if err != nil {
			return p.wrong("%s", strings.TrimPrefix(err.Error(), "json: "))
		}
		if token == json.Delim('}') {
			return nil
		}
		key, line := token.(string), p.line()
		if slices.ContainsFunc(p.found, func(l gridLine) bool { return l.method == method && l.parameter == key }) {
			return p.wrong("%q stands there twice", key)
		}
		if token, err = p.dec.Token(); err != nil {
			return p.wrong("%s", strings.TrimPrefix(err.Error(), "json: "))
		}
		if token == json.Delim('{') && method == "" {
			if !slices.ContainsFunc(methods, func(m Method) bool { return belongs(m, key) }) {
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
		p.found = append(p.found, gridLine{method, key, values, line})
	}
}

// values reads a list, or is the single value of a token.
func (p *gridParser) values(key string, token json.Token) (values []string, err error) {
	many := token == json.Delim('[')
	for {
		if many {
			if token, err = p.dec.Token(); err != nil {
				return nil, p.wrong("%s", strings.TrimPrefix(err.Error(), "json: "))
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
func belongs(m Method, name string) bool {
	kernel, _, _ := strings.Cut(m.Name(), "+")
	return m.Name() == name || kernel == name
}

// Check returns a [*GridFileError] for a parameter that none of the methods has which it is
// for, where there are such methods.
func (g GridFile) Check(all []Method) error {
	for _, l := range g {
		meant := l.meant(all)
		if len(meant) > 0 && !slices.ContainsFunc(meant, func(m Method) bool { return has(m, l.parameter) }) {
			return &GridFileError{l.line, fmt.Sprintf("%s no parameter %q", haveNames(meant), l.parameter)}
		}
	}
	return nil
}

// meant returns the methods that a line is for.
func (l *gridLine) meant(all []Method) (list []Method) {
	for _, m := range all {
		if l.method == "" || belongs(m, l.method) {
			list = append(list, m)
		}
	}
	return list
}

// Own returns the values of a file for a method, but for parameters that are given
// already. The error is a [*GridFileError] for a value that the method does not take.
func (g GridFile) Own(m Method, given func(parameter string) bool) (Own, error) {
	own, exact := Own{}, map[string]bool{}
	for _, l := range g {
		if len(l.meant([]Method{m})) == 0 || !has(m, l.parameter) || given(l.parameter) || l.method == "" && exact[l.parameter] {
			continue
		}
		exact[l.parameter] = l.method != ""
		own[l.parameter] = l.values
		if _, err := new(Settings).With(m, Own{l.parameter: l.values}); err != nil {
			return nil, &GridFileError{l.line, strings.TrimPrefix(err.Error(), validate.ErrUsage.Error()+": ")}
		}
	}
	return own, nil
}

// has reports whether a method has a parameter that can be chosen.
func has(m Method, name string) bool {
	if d, ok := m.(Declared); ok {
		for _, of := range d.Declarations() {
			if paramOf(of, name) != nil {
				return true
			}
		}
	}
	switch name = strings.ReplaceAll(name, "-", "_"); name {
	case "cost", "lambda", "features":
		return slices.Contains(m.Takes(), name)
	}
	return false
}

func haveNames(list []Method) string {
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = m.Name()
	}
	if len(names) == 1 {
		return names[0] + " has"
	}
	return strings.Join(names, ", ") + " have"
}

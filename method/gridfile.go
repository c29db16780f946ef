package method

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/internal/textio"
	"github.com/heatwalk/heatwalk/param"
)

// maxGridFile bounds the text of a grid file, which is kept while it is read.
const maxGridFile = 1 << 20

// gridFile has values to choose from, by the name of a method or of the kernel of methods ("": of all) and by parameter. As text it
// is one JSON object: a key with a list, or a single value, is a parameter of every method that has
// it; a key with an object is a method, or the kernel of methods, whose parameters are the keys of
// the object.
type gridFile struct {
	name   string
	values map[string]map[string][]string
}

//go:embed paper.json
var paperGrid []byte

// ErrGrid is wrapped by every error about the values of a grid.
var ErrGrid = errors.New("method: bad grid")

// openGrid returns a grid by its name: no values for "small" and "none", the values in the
// methods' papers for "paper" (those of Neumann, Garnett and Kersting's section 4.1, with each
// kernel's matrix as in its paper), or else those of a file.
func openGrid(ctx context.Context, name string) (*gridFile, error) {
	switch name {
	case "small", "none":
		return new(gridFile), nil
	case "paper":
		return readGrid(name, bytes.NewReader(paperGrid))
	}
	f, err := textio.OpenFile(ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	defer context.AfterFunc(ctx, func() { f.Close() })() // ends a read from a pipe
	return readGrid(name, f)
}

// readGrid reads a grid file called name, which is shorter than 1 MiB. Errors are those of
// reading and [*textio.Error], which wraps [ErrGrid].
func readGrid(name string, r io.Reader) (*gridFile, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxGridFile))
	if err != nil {
		return nil, err
	}
	g := &gridFile{name, map[string]map[string][]string{}}
	if len(text) == maxGridFile {
		return nil, g.wrong("longer than 1 MiB")
	}
	var keys map[string]any
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), &keys); err != nil || keys == nil {
		return nil, g.wrong(`no JSON object (%v); write {"cost": [1, 2], "diffusion": {"beta": [0.5, 1]}}`, err)
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		name := key
		parameters, isMethod := keys[key].(map[string]any)
		if !isMethod {
			name, parameters = "", map[string]any{key: keys[key]}
		} else if !slices.ContainsFunc(All(), func(m Method) bool { return belongs(m, name) }) {
			return nil, g.wrong("there is no method %q", name)
		}
		for parameter, value := range parameters {
			list, isList := value.([]any)
			if !isList {
				list = []any{value}
			}
			var texts []string
			for _, x := range list {
				switch x.(type) {
				case nil, []any, map[string]any:
					return nil, g.wrong("%s: a value is a number, a word, true or false", parameter)
				}
				if text := fmt.Sprint(x); !slices.Contains(texts, text) {
					texts = append(texts, text)
				}
			}
			if len(texts) == 0 {
				return nil, g.wrong("%s has no value", parameter)
			}
			if g.values[name] == nil {
				g.values[name] = map[string][]string{}
			}
			g.values[name][parameter] = texts
		}
	}
	return g, nil
}

// wrong returns an error about the file.
func (g *gridFile) wrong(format string, args ...any) error {
	return &textio.Error{File: g.name, Msg: fmt.Sprintf(format, args...), Err: ErrGrid}
}

// check returns an error for a parameter that none of the methods has which it is for, where there are such methods.
func (g *gridFile) check(methods []Method) error {
	for name, parameters := range g.values {
		var names []string
		for parameter := range parameters {
			names = names[:0]
			isDeclared := false
			for _, m := range methods {
				if name == "" || belongs(m, name) {
					names, isDeclared = append(names, m.Name()), isDeclared || declares(m, parameter)
				}
			}
			if len(names) > 0 && !isDeclared {
				return g.wrong("no parameter %q: %s", parameter, strings.Join(names, ", "))
			}
		}
	}
	return nil
}

// of returns the values for a method by parameter.
func (g *gridFile) of(m Method) (lists map[string][]param.Value, err error) {
	lists = map[string][]param.Value{}
	for _, name := range []string{"", kernelName(m), m.Name()} {
		for parameter, texts := range g.values[name] {
			if !declares(m, parameter) {
				continue
			}
			name, list, wrong := parseValues(m, parameter, texts...)
			if lists[name] = list; wrong != nil {
				err = g.wrong("%s: %v", m.Name(), wrong)
			}
		}
	}
	return lists, err
}

// kernelName returns the name of a method without its learner.
func kernelName(m Method) string {
	kernel, _, _ := strings.Cut(m.Name(), "+")
	return kernel
}

// belongs reports whether a method has a name, or a kernel that has it.
func belongs(m Method, name string) bool { return m.Name() == name || kernelName(m) == name }

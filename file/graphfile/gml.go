package graphfile

import (
	"bytes"
	"cmp"
	"html"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
)

// GML is the Graph Modelling Language.
var GML = &Format{Title: "GML", Endings: []string{".gml"}, Text: true,
	Attributes: true, Begins: isGML, Read: readBatches(readGML)}

// isGML reports whether a text has, behind keys with plain values, the key
// graph and a bracket.
func isGML(head []byte) bool {
	t := newScanner("", bytes.NewReader(trimStart(head)))
	for range 64 {
		key, err := t.gmlToken()
		if err != nil || key.kind != gmlKey {
			return false
		}
		value, err := t.gmlToken()
		if err != nil {
			return false
		}
		if value.kind == gmlOpen {
			return strings.EqualFold(string(key.text), "graph")
		}
		if value.kind != gmlString && value.kind != gmlNumber {
			return false
		}
	}
	return false
}

// gmlToken is a piece of GML text; text is valid until the next one.
type gmlToken struct {
	kind gmlKind
	text []byte
	line int64
}

type gmlKind int

const (
	gmlEnd gmlKind = iota
	gmlKey
	gmlNumber
	gmlString
	gmlOpen
	gmlClose
)

// gmlToken returns the next piece: a key, a number, a string without its
// quotes, or a bracket. Lines that begin with # are comments.
func (s *scanner) gmlToken() (gmlToken, error) {
	for {
		c, ok := s.peek()
		switch {
		case !ok:
			return gmlToken{line: s.line}, s.fail()
		case c == '\n' || isBlank(c):
			s.next()
			continue
		case c == '#':
			s.skipLine()
			continue
		}
		t := gmlToken{line: s.line, kind: gmlKey}
		switch {
		case c == '[':
			s.next()
			t.kind = gmlOpen
			return t, nil
		case c == ']':
			s.next()
			t.kind = gmlClose
			return t, nil
		case c == '"':
			s.next()
			t.kind = gmlString
			text, err := s.readQuoted(false)
			t.text = text
			return t, err
		case c == '+' || c == '-' || c == '.' || c >= '0' && c <= '9':
			t.kind = gmlNumber
		case c < 'A' || c > 'z' || c > 'Z' && c < 'a' && c != '_':
			return t, textio.Fault(s.name, s.line, fixGML,
				"%s is neither key nor value", words.Quoted([]byte{c}))
		}
		s.text = s.text[:0]
		for ok && c > ' ' && c != '[' && c != ']' && c != '"' && c != '#' {
			s.text = append(s.text, c)
			if len(s.text) > maxWord {
				return t, textio.Fault(s.name, s.line, fixGML,
					"a word longer than 1 MiB")
			}
			s.next()
			c, ok = s.peek()
		}
		t.text = s.text
		return t, s.fail()
	}
}

// gml reads a graph in the Graph Modelling Language.
type gml struct {
	out    *batchWriter
	t      *scanner
	nodes  *nodeNames
	edges  *edgeBuffer
	values map[string]string // see fields
	graphs int
	depth  int  // of lists that are skipped
	arcs   bool // the graph is directed
}

const fixGML = "is this GML?"

// gmlDepth bounds how deep lists may lie in lists.
const gmlDepth = 1 << 10

func readGML(s *batchWriter) (*Summary, error) {
	g := &gml{out: s, t: newScanner(s.Name, s.Text),
		nodes:  newNodeNames(s, networkXName, graphToolName, "label", "name", "id"),
		values: map[string]string{}}
	g.edges = newEdgeBuffer(s, g.nodes)
	err := g.list(true, func(key string, value gmlToken) error {
		if key != "graph" || value.kind != gmlOpen {
			return g.skip(value)
		}
		if g.graphs++; g.graphs > 1 {
			return g.out.fault(value.line, "write each into a file of its own",
				"a second graph")
		}
		return g.list(false, g.inGraph)
	})
	if err == nil && g.graphs == 0 {
		err = g.out.fault(0, fixGML, "no graph")
	}
	if err != nil {
		return nil, err
	}
	for i := range g.edges.hasArrow { // directed may stand behind the edges
		g.edges.hasArrow[i] = g.arcs
	}
	return g.edges.finish(g.t.line)
}

// list reads keys with values up to the end of the list, or of the file.
func (g *gml) list(outermost bool,
	visit func(key string, value gmlToken) error) error {
	start := g.t.line
	for {
		key, err := g.t.gmlToken()
		if err != nil {
			return err
		}
		switch {
		case key.kind == gmlEnd && outermost, key.kind == gmlClose && !outermost:
			return nil
		case key.kind == gmlEnd:
			return g.out.fault(g.t.line, fetchAgain,
				"the file ends in the list that begins on line %d", start)
		case key.kind != gmlKey:
			return g.out.fault(key.line, fixGML, "%s where a key is expected",
				key.describe())
		}
		name := strings.ToLower(string(key.text))
		value, err := g.t.gmlToken()
		if err != nil {
			return err
		}
		if value.kind != gmlNumber && value.kind != gmlString &&
			value.kind != gmlOpen {
			if value.kind != gmlKey ||
				!slices.Contains(floatWords, strings.ToLower(string(value.text))) {
				return g.out.fault(value.line, fixGML,
					"%s where the value of %s is expected", value.describe(),
					words.Quoted(name))
			}
			value.kind = gmlNumber // inf or nan
		}
		if err := visit(name, value); err != nil {
			return err
		}
	}
}

// floatWords are the numbers without digits.
var floatWords = []string{"inf", "infinity", "nan"}

func (t gmlToken) describe() string {
	switch t.kind {
	case gmlEnd:
		return "the end of the file"
	case gmlOpen:
		return `"["`
	case gmlClose:
		return `"]"`
	}
	return words.Quoted(t.text)
}

// skip reads to the end of a value that is not used.
func (g *gml) skip(value gmlToken) error {
	if value.kind != gmlOpen {
		return nil
	}
	if g.depth++; g.depth > gmlDepth {
		return g.out.fault(value.line, fixGML, "lists in lists, %d deep", g.depth)
	}
	err := g.list(false, func(_ string, value gmlToken) error { return g.skip(value) })
	g.depth--
	return err
}

func (g *gml) inGraph(key string, value gmlToken) error {
	switch {
	case key == "directed" && value.kind == gmlNumber:
		g.arcs = string(value.text) != "0"
		return nil
	case key == "node" && value.kind == gmlOpen:
		return g.node(value.line)
	case key == "edge" && value.kind == gmlOpen:
		return g.edge(value.line)
	}
	return g.skip(value)
}

// textOf returns the text of a value, its entities resolved.
func textOf(value gmlToken) string {
	if value.kind == gmlOpen {
		return ""
	}
	if value.kind == gmlString && bytes.IndexByte(value.text, '&') >= 0 {
		return html.UnescapeString(string(value.text))
	}
	return string(value.text)
}

// gmlFields are the keys of nodes and edges with a meaning of their own.
var gmlFields = []string{"id", "label", "name", networkXName, "nxname",
	graphToolName, "source", "target"}

// fields reads the list of a node or an edge and returns its values under gmlFields, which are
// valid until the next list. The other values go to attribute, unless that is nil.
func (g *gml) fields(attribute func(key string, value gmlToken)) (map[string]string, error) {
	clear(g.values)
	return g.values, g.list(false, func(key string, value gmlToken) error {
		switch {
		case slices.Contains(gmlFields, key):
			g.values[key] = textOf(value)
		case attribute != nil && value.kind != gmlOpen:
			attribute(key, value)
		}
		return g.skip(value)
	})
}

func (g *gml) node(line int64) error {
	f, err := g.fields(nil)
	if err != nil {
		return err
	}
	if f["id"] == "" {
		return g.out.fault(line, "give it one", "a node without id")
	}
	return g.nodes.add(line, cmp.Or(f[networkXName], f["nxname"]), f[graphToolName], f["label"], f["name"], f["id"]) // igraph writes nxname
}

func (g *gml) edge(line int64) error {
	f, err := g.fields(func(key string, value gmlToken) {
		a := g.edges.attribute(key)
		a.name = key
		a.text = value.kind == gmlString
		g.edges.set(a, line, textOf(value))
	})
	if err != nil {
		return err
	}
	return g.edges.add(line, f["source"], f["target"], false)
}

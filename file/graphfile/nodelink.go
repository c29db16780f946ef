package graphfile

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/internal/table"
)

// NodeLink is the node-link data of NetworkX and D3 in JSON: an object with the lists nodes, and
// edges or links.
var NodeLink = &Format{
	Name: "node-link", Title: "node-link JSON", Endings: []string{".json"}, Text: true, Attributes: true, Begins: isObject, Read: reading(readNodeLink),
	NodeAttributes: true, Sweeps: 1, write: writeNodeLink, size: func(g *graph) int64 {
		n, _ := g.a.Dims()
		id := 6*g.longestID() + 2
		return 200 + int64(n)*int64(id+12) + g.linesBytes(g.edges(), 2*id+50) + g.attributeBytes(10, 6)
	},
}

// isObject reports whether a text begins with an object that has a key, or is empty.
func isObject(head []byte) bool {
	text := trimmed(head)
	if len(text) == 0 || text[0] != '{' {
		return false
	}
	text = bytes.TrimLeft(text[1:], blank)
	return len(text) > 0 && text[0] == '"'
}

// nodeLink reads node-link data token by token.
type nodeLink struct {
	out    *batchWriter
	d      *json.Decoder
	text   *markup
	depth  int
	nodes  *nodeNames
	edges  *edgeBuffer
	listed bool // there is a list of edges
	arcs   bool

	hasText, hasNumber bool // some end of an edge is text, some id of a node is a number
	withoutID          int  // nodes without id
}

const fixNodeLink = `write node-link data, as networkx.node_link_data does, or the edges as text`

func readNodeLink(s *batchWriter) (*Summary, error) {
	s.inBytes = true
	text := &markup{in: bufio.NewReaderSize(s.Text, 64<<10)}
	if begin, _ := text.in.Peek(3); string(begin) == "\xef\xbb\xbf" {
		_, _ = text.in.Discard(3)
	}
	g := &nodeLink{out: s, d: json.NewDecoder(text), text: text, nodes: newNodeNames(s, networkXName, "name", "id")}
	g.d.UseNumber()
	g.edges = newEdgeBuffer(s, g.nodes)
	if t, err := g.next(); err != nil {
		return nil, err
	} else if t != json.Delim('{') {
		return nil, g.out.fault(0, fixNodeLink, "no object of nodes and edges")
	}
	if err := g.object(g.member); err != nil {
		return nil, err
	}
	if !g.listed {
		return nil, g.out.fault(0, fixNodeLink, `no list "edges" or "links"`)
	}
	if t, err := g.next(); err != nil {
		return nil, err
	} else if t != nil {
		return nil, g.out.fault(g.at(), "write each graph into a file of its own", "text behind the graph")
	}
	for i := range g.edges.hasArrow { // directed may stand behind the edges
		g.edges.hasArrow[i] = g.arcs
	}
	if g.withoutID == 0 {
		g.nodes.ignored = "name"
	}
	summary := &Summary{}
	byPosition := !g.hasText && !g.hasNumber && g.nodes.undeclared() != nil && g.nodes.usePositions(g.edges.ends)
	err := g.edges.finish(summary)
	if byPosition {
		summary.Notes = append(summary.Notes, g.out.fault(0, "", "edges name nodes by their positions from 0, as for D3"))
	}
	return summary, err
}

// at returns the offset behind the last token.
func (g *nodeLink) at() int64 { return g.d.InputOffset() }

// next returns the next token, nil at the end of the file.
func (g *nodeLink) next() (json.Token, error) {
	g.text.left = maxWord
	t, err := g.d.Token()
	switch t {
	case json.Delim('{'), json.Delim('['):
		if g.depth++; g.depth > xmlDepth {
			return nil, g.out.fault(g.at(), fixNodeLink, "lists in lists, %d deep", g.depth)
		}
	case json.Delim('}'), json.Delim(']'):
		g.depth--
	}
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return t, nil
	case errors.Is(err, errLongToken):
		return nil, g.out.fault(g.at(), "shorten it; is a quote missing?", "a text longer than 1 MiB")
	case errors.Is(err, io.EOF) && g.depth == 0:
		return nil, nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, g.out.fault(g.at(), fetchAgain, "the file ends within the graph")
	case errors.As(err, &syntax):
		return nil, g.out.fault(g.at(), "correct it", "no well-formed JSON: %s", brief(syntax.Error()))
	}
	return nil, err
}

// object reads the members of an object that has begun and calls visit with the key and the first
// token of each value.
func (g *nodeLink) object(visit func(key string, value json.Token) error) error {
	for {
		key, err := g.next()
		if err != nil || key == json.Delim('}') {
			return err
		}
		value, err := g.next()
		if err != nil {
			return err
		}
		if err := visit(key.(string), value); err != nil {
			return err
		}
	}
}

// list reads the objects of a list and calls visit behind the beginning of each.
func (g *nodeLink) list(key string, first json.Token, visit func() error) error {
	if first != json.Delim('[') {
		return g.out.fault(g.at(), fixNodeLink, "%s is no list", table.Quoted(key))
	}
	for {
		t, err := g.next()
		if err != nil || t == json.Delim(']') {
			return err
		}
		if t != json.Delim('{') {
			return g.out.fault(g.at(), fixNodeLink, "the list %s has a member that is no object", table.Quoted(key))
		}
		if err := visit(); err != nil {
			return err
		}
	}
}

// skip reads the value that begins with a token to its end.
func (g *nodeLink) skip(t json.Token) error {
	if t != json.Delim('{') && t != json.Delim('[') {
		return nil
	}
	for outer := g.depth - 1; g.depth > outer; {
		if _, err := g.next(); err != nil {
			return err
		}
	}
	return nil
}

// member reads a member of the outermost object.
func (g *nodeLink) member(key string, value json.Token) error {
	switch key {
	case "directed":
		g.arcs = value == true
	case "nodes":
		return g.list(key, value, g.node)
	case "edges", "links":
		g.listed = true
		count := len(g.edges.hasArrow)
		err := g.list(key, value, g.edge)
		if count > 0 && len(g.edges.hasArrow) > count {
			return g.out.fault(g.at(), "leave one out", "two lists of edges")
		}
		return err
	}
	return g.skip(value)
}

// id returns the text of a value that is the id of a node.
func (g *nodeLink) id(key string, value json.Token) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	}
	return "", g.out.fault(g.at(), "write it as text", "%s is neither text nor a number", table.Quoted(key))
}

func (g *nodeLink) node() error {
	offset := g.at()
	names := make([]string, len(g.nodes.kinds))
	id := &names[len(names)-1]
	err := g.object(func(key string, value json.Token) (err error) {
		kind := slices.Index(g.nodes.kinds, key)
		_, isNumber := value.(json.Number)
		_, isText := value.(string)
		if kind < 0 || key != "id" && !isNumber && !isText {
			return g.skip(value)
		}
		g.hasNumber = g.hasNumber || isNumber && key == "id"
		names[kind], err = g.id(key, value)
		return err
	})
	if err != nil {
		return err
	}
	number := len(g.nodes.listed)
	if *id == "" { // D3 numbers the nodes
		g.withoutID++
		*id = strconv.Itoa(number)
	}
	if g.withoutID > 0 && g.withoutID != number+1 {
		return g.out.fault(offset, "give it one", "a node without id")
	}
	return g.nodes.add(offset, names...)
}

func (g *nodeLink) edge() error {
	offset := g.at()
	var ends [2]string
	err := g.object(func(key string, value json.Token) (err error) {
		text, isText := value.(string)
		if end := slices.Index([]string{"source", "target"}, key); end >= 0 {
			g.hasText = g.hasText || isText
			ends[end], err = g.id(key, value)
			return err
		}
		if number, isNumber := value.(json.Number); isNumber {
			text = number.String()
		} else if !isText {
			return g.skip(value)
		}
		a := g.edges.attribute(key)
		a.name = key
		a.text = isText
		g.edges.set(a, g.at(), text)
		return nil
	})
	if err != nil {
		return err
	}
	return g.edges.add(offset, ends[0], ends[1], false)
}

// writeNodeLink writes node-link data with the key edges, the default of NetworkX since version 3.6. Ids
// are numbers if all of them are.
func writeNodeLink(ctx context.Context, out *bufio.Writer, g *graph) (isolated int, err error) {
	_, _ = out.WriteString(`{"directed": ` + strconv.FormatBool(g.directed) + `, "multigraph": false, "graph": {}, "nodes": [`)
	titles := make([]string, len(g.attributes))
	for i, a := range g.attributes {
		titles[i] = `, ` + string(appendJSON(nil, a.Title)) + `: `
	}
	id := func(dst, id []byte) []byte {
		if g.numeric {
			return append(dst, id...)
		}
		return appendJSON(dst, string(id))
	}
	separator := "\n"
	err = g.eachNode(ctx, func(node []byte, value func(i int) string) error {
		line := append(append(out.AvailableBuffer(), separator...), `{"id": `...)
		separator = ",\n"
		line = id(line, node)
		for i, a := range g.attributes {
			v := value(i)
			switch {
			case v == "":
			case a.Kind == Text:
				line = appendJSON(append(line, titles[i]...), v)
			default:
				line = append(append(line, titles[i]...), v...)
			}
		}
		_, err := out.Write(append(line, '}'))
		return err
	})
	if err != nil {
		return 0, err
	}
	_, _ = out.WriteString("\n], \"edges\": [")
	separator = "\n"
	_, err = g.eachEdge(ctx, func(source, target []byte, weight float64) error {
		line := append(append(out.AvailableBuffer(), separator...), `{"source": `...)
		separator = ",\n"
		line = append(id(line, source), `, "target": `...)
		line = id(line, target)
		if g.weighted {
			line = appendWeight(append(line, `, "weight": `...), weight)
		}
		_, err := out.Write(append(line, '}'))
		return err
	})
	_, _ = out.WriteString("\n]}\n")
	return 0, err
}

// appendJSON appends a text as JSON writes it. Bytes that are not UTF-8 become U+FFFD.
func appendJSON(dst []byte, text string) []byte {
	quoted, _ := json.Marshal(text) // of a text without error
	return append(dst, quoted...)
}

package graphfile

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
)

// NodeLink is the JSON of NetworkX (node-link data), D3, graphology, Cytoscape.js, the JSON Graph Format and Neo4j: an object
// with the lists nodes, and edges or links, also in the member graph or elements; or edges with nodes among them or with
// objects in them, as a list or one on each line. Plain edges alone are lines of a table, see [areEdges].
var NodeLink = &Format{
	Name: "node-link", Title: "node-link JSON", Endings: []string{".json"},
	Text: true, Attributes: true, Begins: isObject, Read: readBatches(readNodeLink),
	NodeAttributes: true, Sweeps: 1, write: writeNodeLink, markup: 50,
}

// isObject reports whether a text begins with an object that has a key, or with a list of such objects.
func isObject(head []byte) bool {
	text := bytes.TrimLeft(bytes.TrimPrefix(trimStart(head), []byte{'['}), blank)
	if len(text) == 0 || text[0] != '{' {
		return false
	}
	text = bytes.TrimLeft(text[1:], blank)
	return len(text) > 0 && text[0] == '"'
}

// isLines reports whether the first line of a text is an object with the ends of an edge, or above another object, and has
// no list of nodes or edges.
func isLines(head []byte) bool {
	line, next, _ := bytes.Cut(trimStart(head), []byte{'\n'})
	var object map[string]json.RawMessage
	if json.Unmarshal(line, &object) != nil {
		return false
	}
	source, _ := table.Ends(slices.Collect(maps.Keys(object)))
	hasLists := object["nodes"] != nil || object["edges"] != nil || object["links"] != nil
	return !hasLists && (source >= 0 || bytes.HasPrefix(trimStart(next), []byte{'{'}))
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
	alone  bool // nodes need not be listed
	arcs   bool
	ends   [2]string   // keys of the source and the target, chosen by the first edge
	fields []jsonField // of the record at hand, those of its containers first
	own    []jsonField // of the record itself
	into   *[]jsonField
	start  int64 // where it begins

	hasArrow, hasEnds, isStated bool // of the record; the ends are chosen; the file says whether edges have directions

	hasText, hasNumber bool // some end of an edge is text, some id of a node is a number
	withoutID          int  // nodes without id
}

// jsonField is a member of an edge or a node that is text or a number, or that has an id.
type jsonField struct {
	key, text string
	isText    bool
	offset    int64 // in the file
}

const fixNodeLink = `write node-link data, as networkx.node_link_data does, or the edges as text`

func readNodeLink(s *batchWriter) (*Summary, error) {
	s.inBytes = true
	text := &markup{in: bufio.NewReaderSize(s.Text, 64<<10)}
	g := &nodeLink{out: s, d: json.NewDecoder(text), text: text,
		nodes: newNodeNames(s, networkXName, "name", "id")}
	g.d.UseNumber()
	g.edges = newEdgeBuffer(s, g.nodes)
	head, _ := text.in.Peek(64 << 10)
	areLines := isLines(head)
	first, err := g.next()
	switch {
	case err != nil:
	case areLines, first == json.Delim('['):
		g.alone = true
		if areLines {
			err = g.record(g.element)
		}
		if err == nil {
			err = g.list("edges", json.Delim('['), g.element)
		}
	case first == json.Delim('{'):
		err = g.object(g.member)
	default:
		err = g.out.fault(0, fixNodeLink, "no object of nodes and edges")
	}
	if err != nil {
		return nil, err
	}
	if !g.listed && !g.alone {
		return nil, g.out.fault(0, fixNodeLink+"; networkx.Graph(dictionary) makes a graph of lists of neighbours, and jq -c '.NAME[]' {file} > edges.jsonl a table of objects in the member NAME",
			`no list "edges" or "links"`)
	}
	if t, err := g.next(); err != nil {
		return nil, err
	} else if t != nil {
		return nil, g.out.fault(g.at(), "write each graph into a file of its own",
			"text behind the graph")
	}
	for i, hasArrow := range g.edges.hasArrow { // directed may stand behind the edges
		g.edges.hasArrow[i] = hasArrow && g.arcs
	}
	if g.withoutID == 0 {
		g.nodes.ignored = []string{"name"}
	}
	byPosition := !g.hasText && !g.hasNumber && g.nodes.checkDeclared() != nil &&
		g.nodes.usePositions(g.edges.ends)
	summary, err := g.edges.finish(0)
	if byPosition && err == nil {
		summary.Notes = append(summary.Notes,
			g.out.fault(0, "", "edges name nodes by their positions from 0, as for D3"))
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
			return nil, g.out.fault(g.at(), fixNodeLink,
				"lists in lists, %d deep", g.depth)
		}
	case json.Delim('}'), json.Delim(']'):
		g.depth--
	}
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return t, nil
	case errors.Is(err, errLongToken):
		return nil, g.out.fault(g.at(), "shorten it; is a quote missing?",
			"a text longer than 1 MiB")
	case errors.Is(err, io.EOF) && g.depth == 0:
		return nil, nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, g.out.fault(g.at(), fetchAgain,
			"the file ends within the graph")
	case errors.As(err, &syntax):
		return nil, g.out.fault(g.at(), "correct it", "no well-formed JSON: %s",
			brief(syntax.Error()))
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

// list reads the objects of a list as records and calls add for each.
func (g *nodeLink) list(key string, first json.Token, add func() error) error {
	if first != json.Delim('[') {
		return g.out.fault(g.at(), fixNodeLink, "%s is no list", words.Quoted(key))
	}
	for {
		t, err := g.next()
		if err != nil || t == json.Delim(']') || t == nil { // nil below lines
			return err
		}
		if t != json.Delim('{') {
			return g.out.fault(g.at(), fixNodeLink,
				"the list %s has a member that is no object", words.Quoted(key))
		}
		if err := g.record(add); err != nil {
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
	if _, isNested := value.(json.Delim); !isNested && (key != "directed" || g.depth > 1 && g.isStated) {
		return nil
	}
	switch key {
	case "directed":
		var err error
		if g.arcs, err = strconv.ParseBool(fmt.Sprint(value)); err != nil {
			return g.out.fault(g.at(), "correct it", `"directed" is neither true nor false`)
		}
		g.isStated = true
	case "graph", "elements":
		if value == json.Delim('[') && key == "elements" {
			g.alone = true
			return g.list(key, value, g.element)
		}
		if value == json.Delim('{') {
			count := len(g.edges.hasArrow)
			err := g.object(g.member)
			isJGF := key == "graph" && len(g.edges.hasArrow) > count
			g.arcs = g.arcs || isJGF && !g.isStated // of which edges have directions
			return err
		}
	case "adjacency":
		return g.out.fault(0, "networkx.write_edgelist(networkx.adjacency_graph(data), path) makes an edge list of it",
			"adjacency data of NetworkX, which is not read")
	case "options": // of graphology
		if value != json.Delim('{') {
			break
		}
		return g.object(func(key string, value json.Token) error {
			if key == "type" {
				g.arcs = value != "undirected"
			}
			return g.skip(value)
		})
	case "nodes", "vertices":
		if value == json.Delim('{') { // of the JSON Graph Format, by their ids
			return g.object(func(id string, _ json.Token) error {
				return g.record(func() error { return g.node(id) })
			})
		}
		return g.list(key, value, func() error { return g.node("") })
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

// record reads the members of an object that are text or numbers into g.fields. Members of a container in it stand for
// those of the record, another object for its id. Then it calls add.
func (g *nodeLink) record(add func() error) error {
	g.fields = g.fields[:0]
	g.own = g.own[:0]
	g.into = &g.own
	g.start = g.at()
	g.hasArrow = true
	if err := g.object(g.field); err != nil {
		return err
	}
	g.fields = append(g.fields, g.own...)
	return add()
}

// field reads a member of a record.
func (g *nodeLink) field(key string, value json.Token) error {
	isID := key == "id" || slices.Contains(g.ends[:], key)
	text, isText := value.(string)
	number, isNumber := value.(json.Number)
	if isText || isNumber {
		*g.into = append(*g.into, jsonField{key, text + table.PlainInteger(number.String()), isText, g.at()})
		return nil
	}
	g.hasArrow = g.hasArrow && !(key == "undirected" && value == true)
	switch {
	case value != json.Delim('{') && isID:
		return g.out.fault(g.at(), "write it as text", "%s is neither text nor a number",
			words.Quoted(key))
	case value != json.Delim('{'):
		return g.skip(value)
	case slices.Contains(containers, key):
		outer := g.into
		g.into = &g.fields
		err := g.object(g.field)
		g.into = outer
		return err
	}
	return g.object(func(inner string, value json.Token) error {
		if inner != "id" {
			return g.skip(value)
		}
		return g.field(key, value)
	})
}

// containers are the members of graphology, Cytoscape.js, the JSON Graph Format and Neo4j with attributes of nodes and edges.
var containers = []string{"attributes", "data", "metadata", "properties"}

// find returns the field of the record with a key, or an empty one.
func (g *nodeLink) find(key string) (f jsonField) {
	for _, field := range g.fields {
		if field.key == key {
			f = field
		}
	}
	return f
}

// element adds the edge of the record, or the node among edges.
func (g *nodeLink) element() error {
	id := g.find("id").text
	for _, f := range g.own {
		switch f.key + " " + f.text {
		case "type node", "group nodes":
			if id != "" {
				return g.declare(id)
			}
		case "type relationship", "group edges":
			return g.edge()
		}
	}
	if g.chooseEnds(); id == "" || g.find(g.ends[0]).text != "" {
		return g.edge()
	}
	return g.declare(id)
}

// declare adds a node that an edge or an element names, unless it is there.
func (g *nodeLink) declare(id string) error {
	if _, isNode := g.nodes.byID[id]; isNode || id == "" {
		return nil
	}
	return g.nodes.add(g.start, "", "", id)
}

// node adds the node of the record; id is its id in the file, "" if the record has it.
func (g *nodeLink) node(id string) error {
	names := make([]string, len(g.nodes.kinds))
	for i, kind := range g.nodes.kinds {
		names[i] = g.find(kind).text
	}
	last := &names[len(names)-1]
	f := g.find("id")
	g.hasNumber = g.hasNumber || f.text != "" && !f.isText
	number := len(g.nodes.listed)
	*last = cmp.Or(id, *last, g.find("key").text)
	if *last == "" { // D3 numbers the nodes
		g.withoutID++
		*last = strconv.Itoa(number)
	}
	if g.withoutID > 0 && g.withoutID != number+1 {
		return g.out.fault(g.start, "give it one", "a node without id")
	}
	return g.nodes.add(g.start, names...)
}

// edge adds the edge of the record. Its ends have the titles of ends in a table, for example source and target, or from
// and to.
func (g *nodeLink) edge() error {
	g.chooseEnds()
	var ends [2]string
	for _, f := range g.fields {
		if end := slices.Index(g.ends[:], f.key); end >= 0 {
			g.hasText = g.hasText || f.isText
			ends[end] = f.text
			continue
		}
		a := g.edges.attribute(f.key)
		a.name = f.key
		a.text = f.isText
		g.edges.set(a, f.offset, f.text)
	}
	for _, id := range ends {
		if g.alone {
			if err := g.declare(id); err != nil {
				return err
			}
		}
	}
	return g.edges.add(g.start, ends[0], ends[1], g.hasArrow)
}

// chooseEnds chooses the keys of the ends by the members of the first record that has such.
func (g *nodeLink) chooseEnds() {
	if g.hasEnds {
		return
	}
	g.ends = [2]string{"source", "target"}
	for _, fields := range [][]jsonField{g.own, g.fields} {
		titles := make([]string, len(fields))
		for i, f := range fields {
			titles[i] = f.key
		}
		if slices.Contains(titles, "start") && slices.Contains(titles, "end") { // of Neo4j
			g.ends = [2]string{"start", "end"}
			g.hasEnds = true
			return
		}
		if source, target := table.Ends(titles); source >= 0 {
			g.ends = [2]string{titles[source], titles[target]}
			g.hasEnds = true
			return
		}
	}
}

// writeNodeLink writes node-link data with the key edges, the default of NetworkX since version 3.6. Ids
// are numbers if all of them are, up to 2⁵³.
func writeNodeLink(ctx context.Context, out *bufio.Writer,
	g *graph) (isolated int, err error) {
	_, _ = out.WriteString(`{"directed": ` + strconv.FormatBool(g.directed) + `, "multigraph": false, "graph": {}, "nodes": [`)
	titles := make([]string, len(g.attributes))
	for i, a := range g.attributes {
		titles[i] = `, ` + string(appendJSON(nil, a.Title)) + `: `
	}
	isNumeric := g.numeric && g.largest <= textio.MaxExact // larger ones are rounded in JavaScript
	id := func(dst, id []byte) []byte {
		if isNumeric {
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

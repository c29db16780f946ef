package graphfile

import (
	"bufio"
	"cmp"
	"context"
	"encoding/xml"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/internal/words"
)

// GraphML is the XML format of graphs, in any of several encodings.
var GraphML = &Format{
	Name: "graphml", Title: "GraphML", Endings: []string{".graphml"}, Text: true,
	Attributes: true, Begins: isGraphML, Encoded: isEncoded,
	Read:           readBatches(readGraphML),
	NodeAttributes: true, Sweeps: 1, write: writeGraphML, markup: 80,
}

type graphML struct {
	*xmlText
	nodes  *nodeNames
	edges  *edgeBuffer
	graphs int
	arcs   bool
	number int // nodes so far

	names [4]nameKey // names by kind, without the id
}

const ownID = 2

type nameKey struct {
	key     string // id in data; "": none
	initial string // default name
}

func readGraphML(s *batchWriter) (*Summary, error) {
	g := &graphML{xmlText: newXMLText(s),
		nodes: newNodeNames(s, networkXName, graphToolName, "id", "name", "id")}
	g.edges = newEdgeBuffer(s, g.nodes)
	if err := g.read(g.element); err != nil {
		return nil, err
	}
	if g.graphs == 0 {
		return nil, g.out.fault(0, "is this GraphML?", "no graph")
	}
	return g.edges.finish(g.line())
}

func (g *graphML) element(t xml.StartElement) error {
	switch t.Name.Local {
	case "key":
		return g.key(t)
	case "graph":
		if g.graphs++; g.graphs > 1 {
			return g.out.fault(g.line(), "write each into a file of its own",
				"a second graph, or one within a node")
		}
		return g.direction(t, "edgedefault", &g.arcs, "directed", "undirected")
	case "node":
		return g.node(t)
	case "edge":
		line := g.line()
		err := g.content(t,
			func(child xml.StartElement) bool { return child.Name.Local == "data" },
			func(child xml.StartElement, text string) {
				g.edges.set(g.edges.attribute(attribute(child, "key")), line, text)
			})
		if err != nil {
			return err
		}
		hasArrow := g.arcs
		if err := g.direction(t, "directed", &hasArrow, "true", "false"); err != nil {
			return err
		}
		return g.edges.add(line, attribute(t, "source"),
			attribute(t, "target"), hasArrow)
	case "hyperedge":
		return g.out.fault(g.line(), "write edges of two nodes",
			"hyperedges are not supported")
	}
	return nil
}

// key reads the declaration of an attribute, which may follow its data. Data may use an attribute declared for other
// elements, because Cytoscape declares attributes of edges for nodes.
func (g *graphML) key(t xml.StartElement) error {
	id := attribute(t, "id")
	name := attribute(t, "attr.name")
	domain := cmp.Or(attribute(t, "for"), "all")
	initial := ""
	err := g.content(t,
		func(child xml.StartElement) bool { return child.Name.Local == "default" },
		func(_ xml.StartElement, text string) { initial = text })
	if err != nil {
		return err
	}
	isText := attribute(t, "attr.type") == "string"
	kind := slices.Index(g.nodes.kinds[:len(g.names)], strings.ToLower(name))
	isName := kind >= 0 && (kind != ownID || isText) && g.names[kind].key == "" // numeric ids come from GML
	if isName && (domain == "node" || domain == "all") {
		g.names[kind] = nameKey{id, initial}
	}
	a := g.edges.attribute(id)
	a.name = name
	a.text = isText
	if domain == "edge" || domain == "all" {
		g.edges.setDefault(a, g.line(), initial)
	}
	return nil
}

func (g *graphML) node(t xml.StartElement) error {
	line := g.line()
	id := attribute(t, "id")
	if id == "" {
		return g.out.fault(line, "give it one", "a node without id")
	}
	if id != "n"+strconv.Itoa(g.number) {
		g.nodes.ignored = []string{"id", "name"} // the ids are more than numbers
	}
	g.number++
	names := make([]string, 0, len(g.nodes.kinds))
	for _, k := range g.names {
		names = append(names, k.initial)
	}
	names = append(names, id)
	kindOf := func(data xml.StartElement) int {
		key := attribute(data, "key")
		return slices.IndexFunc(g.names[:],
			func(k nameKey) bool { return key != "" && k.key == key })
	}
	err := g.content(t,
		func(child xml.StartElement) bool {
			return child.Name.Local == "data" && kindOf(child) >= 0
		},
		func(child xml.StartElement, text string) { names[kindOf(child)] = text })
	if err != nil {
		return err
	}
	if number, isNumbered := strings.CutPrefix(names[ownID], "n"); isNumbered &&
		table.IsInteger([]byte(number)) {
		names[ownID] = "" // a name in an earlier file of igraph
	}
	return g.nodes.add(line, names...)
}

// direction sets isDirected by the attribute called name: to true for the text yes or 1, to false for no or 0, in any
// case. If the attribute is missing, isDirected is unchanged.
func (g *graphML) direction(t xml.StartElement, name string, isDirected *bool, yes, no string) error {
	text := attribute(t, name)
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "":
	case yes, "1":
		*isDirected = true
	case no, "0":
		*isDirected = false
	default:
		return g.out.fault(g.line(), "write "+yes+" or "+no, "%s is %s", name, words.Quoted(text))
	}
	return nil
}

const graphMLHead = `<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="weight" for="edge" attr.name="weight" attr.type="double"/>
`

func writeGraphML(ctx context.Context, out *bufio.Writer,
	g *graph) (isolated int, err error) {
	_, _ = out.WriteString(graphMLHead)
	for i, a := range g.attributes {
		if err := writeMarkup(out, `<key id="d%" for="node" attr.name="%" attr.type="%"/>`+"\n", strconv.Itoa(i), a.Title, xmlTypes[a.Kind]); err != nil {
			return 0, err
		}
	}
	_ = writeMarkup(out, `<graph edgedefault="%">`+"\n", directionOf(g)) // out keeps the error
	err = g.eachNode(ctx, func(id []byte, value func(i int) string) error {
		err := writeMarkup(out, `<node id="%">`, string(id))
		for i := range g.attributes {
			if v := value(i); v != "" && err == nil {
				err = writeMarkup(out, `<data key="d%">%</data>`, strconv.Itoa(i), v)
			}
		}
		return cmp.Or(err, writeMarkup(out, "</node>\n"))
	})
	if err != nil {
		return 0, err
	}
	_, err = g.eachEdge(ctx, func(source, target []byte, weight float64) error {
		tail := "/>\n"
		if g.weighted {
			tail = `><data key="weight">` + string(appendWeight(nil, weight)) + "</data></edge>\n"
		}
		return writeMarkup(out, `<edge source="%" target="%"`+tail, string(source), string(target))
	})
	_, _ = out.WriteString("</graph>\n</graphml>\n")
	return 0, err
}

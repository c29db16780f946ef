package graphfile

import (
	"bufio"
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
)

// GEXF is the XML format of Gephi. Every version is read, version 1.2 is written.
var GEXF = &Format{
	Name: "gexf", Title: "GEXF", Endings: []string{".gexf"}, Text: true,
	Attributes: true, Begins: isXML("gexf"), Encoded: isEncoded,
	Read:           readBatches(readGEXF),
	NodeAttributes: true, Sweeps: 1, write: writeGEXF, markup: 120,
}

// gexf reads a graph in GEXF. Nodes within nodes are read as if they followed one another, and
// the times of dynamic graphs are ignored.
type gexf struct {
	*xmlText
	nodes   *nodeNames
	edges   *edgeBuffer
	graphs  int
	arcs    bool              // edges are directed unless they say otherwise
	ofEdges bool              // attributes that are declared belong to edges
	edge    *xml.StartElement // the edge that is open; nil: none
}

// ownWeight is the key of the weight that is an attribute of XML, which no declared attribute has.
const ownWeight = "\x00weight"

func readGEXF(s *batchWriter) (*Summary, error) {
	g := &gexf{xmlText: newXMLText(s, "GEXF"), nodes: newNodeNames(s, "id")}
	g.edges = newEdgeBuffer(s, g.nodes)
	weight := g.edges.attribute(ownWeight)
	// which Gephi leaves out
	weight.name = "weight"
	weight.initial = "1"
	if err := g.read(g.start, g.end); err != nil {
		return nil, err
	}
	if g.graphs == 0 {
		return nil, g.out.fault(0, "is this GEXF?", "no graph")
	}
	return g.edges.finish(g.line())
}

func (g *gexf) start(t xml.StartElement) error {
	switch t.Name.Local {
	case "graph":
		if g.graphs++; g.graphs > 1 {
			return g.out.fault(g.line(), "write each into a file of its own",
				"a second graph")
		}
		g.arcs = attribute(t, "defaultedgetype") == "directed"
	case "attributes":
		g.ofEdges = attribute(t, "class") == "edge"
	case "attribute":
		return g.declareAttribute(t)
	case "node":
		id := attribute(t, "id")
		if id == "" {
			return g.out.fault(g.line(), "give it one", "a node without id")
		}
		return g.nodes.add(g.line(), id)
	case "edge":
		t = t.Copy()
		g.edge = &t
		if w := cmp.Or(attribute(t, "weight"), attribute(t, "cardinal")); w != "" { // cardinal: version 1.0
			g.edges.set(g.edges.attribute(ownWeight), g.line(), w)
		}
		for _, name := range []string{g.out.Kind, g.out.Time} { // start and end of dynamic graphs, for example
			if text := attribute(t, name); name != "" && text != "" {
				g.edges.set(g.edges.attribute(name), g.line(), text)
			}
		}
	case "attvalue":
		if g.edge != nil {
			key := cmp.Or(attribute(t, "for"), attribute(t, "id")) // id: version 1.0
			g.edges.set(g.edges.attribute(key), g.line(), attribute(t, "value"))
		}
	}
	return nil
}

// declareAttribute reads the declaration of an attribute.
func (g *gexf) declareAttribute(t xml.StartElement) error {
	initial, err := g.initial(t)
	if err == nil && g.ofEdges {
		a := g.edges.attribute(attribute(t, "id"))
		a.name = attribute(t, "title")
		a.text = attribute(t, "type") == "string"
		g.edges.setDefault(a, g.line(), initial)
	}
	return err
}

func (g *gexf) end(name string) error {
	if name != "edge" || g.edge == nil {
		return nil
	}
	t := *g.edge
	g.edge = nil
	hasArrow := g.arcs
	if direction := attribute(t, "type"); direction != "" {
		hasArrow = direction == "directed"
	}
	return g.edges.add(g.line(), attribute(t, "source"),
		attribute(t, "target"), hasArrow)
}

const gexfHead = `<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://www.gexf.net/1.2draft" xmlns:viz="http://www.gexf.net/1.2draft/viz" version="1.2">
<graph mode="static" defaultedgetype="`

// palette holds the colours of classes, red, green and blue: those of Okabe and Ito, which remain
// distinct for people with colour vision deficiency, and three more.
var palette = [][3]uint8{
	{0, 114, 178}, {230, 159, 0}, {0, 158, 115}, {213, 94, 0}, {204, 121, 167},
	{86, 180, 233}, {240, 228, 66}, {117, 112, 179}, {102, 102,
		102}, {166, 118, 29},
}

// writeGEXF writes a graph for Gephi. The nodes have the colours of the values of the first
// attribute that is text, in the order in which these appear.
func writeGEXF(ctx context.Context, out *bufio.Writer,
	g *graph) (isolated int, err error) {
	_, _ = out.WriteString(gexfHead + directionOf(g) + "\">\n")
	coloured := slices.IndexFunc(g.attributes,
		func(a Attribute) bool { return a.Kind == Text })
	if len(g.attributes) > 0 {
		_, _ = out.WriteString("<attributes class=\"node\">\n")
		for i, a := range g.attributes {
			if err := writeMarkup(out, `<attribute id="%" title="%" type="%"/>`+"\n", strconv.Itoa(i), a.Title, xmlTypes[a.Kind]); err != nil {
				return 0, err
			}
		}
		_, _ = out.WriteString("</attributes>\n")
	}
	_, _ = out.WriteString("<nodes>\n")
	colours := map[string]int{}
	err = g.eachNode(ctx, func(id []byte, value func(i int) string) error {
		err := writeMarkup(out, `<node id="%" label="%"`, string(id), string(id))
		if len(g.attributes) == 0 || err != nil {
			return cmp.Or(err, writeMarkup(out, "/>\n"))
		}
		_, _ = out.WriteString("><attvalues>")
		for i := range g.attributes {
			if v := value(i); v != "" && err == nil {
				err = writeMarkup(out, `<attvalue for="%" value="%"/>`, strconv.Itoa(i), v)
			}
		}
		_, _ = out.WriteString("</attvalues>")
		if coloured >= 0 && value(coloured) != "" {
			class := value(coloured)
			if _, isColoured := colours[class]; !isColoured {
				colours[class] = len(colours)
			}
			c := palette[colours[class]%len(palette)]
			fmt.Fprintf(out, `<viz:color r="%d" g="%d" b="%d"/>`, c[0], c[1], c[2])
		}
		return cmp.Or(err, writeMarkup(out, "</node>\n"))
	})
	if err != nil {
		return 0, err
	}
	_, _ = out.WriteString("</nodes>\n<edges>\n")
	number := 0
	_, err = g.eachEdge(ctx, func(source, target []byte, weight float64) error {
		tail := "/>\n"
		if g.weighted {
			tail = ` weight="` + string(appendWeight(nil, weight)) + "\"/>\n"
		}
		number++
		return writeMarkup(out, `<edge id="%" source="%" target="%"`+tail, strconv.Itoa(number-1), string(source), string(target))
	})
	_, _ = out.WriteString("</edges>\n</graph>\n</gexf>\n")
	return 0, err
}

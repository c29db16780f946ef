package graphfile

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"strconv"
)

// GEXF is the XML format of Gephi. Every version is read, version 1.2 is written.
var GEXF = &Format{
	Name: "gexf", Title: "GEXF", Endings: []string{".gexf"}, Text: true, Attributes: true, Begins: isGEXF, Encoded: isEncoded, Read: reading(readGEXF),
	NodeAttributes: true, Sweeps: 1, write: writeGEXF, size: func(g *graph) int64 { return markupBytes(g, gexfHead, 80, 120) },
}

func isGEXF(head []byte) bool {
	text := trimmed(head)
	return bytes.HasPrefix(text, []byte("<")) && (bytes.Contains(text, []byte("<gexf")) || bytes.Contains(text, []byte(":gexf")))
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
	g.edges.attribute(ownWeight).name = "weight"
	if err := g.read(g.start, g.end); err != nil {
		return nil, err
	}
	if g.graphs == 0 {
		return nil, g.out.fault(0, "is this GEXF?", "no graph")
	}
	summary := &Summary{Lines: g.line()}
	return summary, g.edges.finish(summary)
}

func (g *gexf) start(t xml.StartElement) error {
	switch t.Name.Local {
	case "graph":
		if g.graphs++; g.graphs > 1 {
			return g.out.fault(g.line(), "write each into a file of its own", "a second graph")
		}
		g.arcs = attribute(t, "defaultedgetype") == "directed"
	case "attributes":
		g.ofEdges = attribute(t, "class") == "edge"
	case "attribute":
		return g.declared(t)
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
	case "attvalue":
		if g.edge != nil {
			key := cmp.Or(attribute(t, "for"), attribute(t, "id")) // id: version 1.0
			g.edges.set(g.edges.attribute(key), g.line(), attribute(t, "value"))
		}
	}
	return nil
}

// declared reads the declaration of an attribute.
func (g *gexf) declared(t xml.StartElement) error {
	var initial string
	err := g.content(t,
		func(child xml.StartElement) bool { return child.Name.Local == "default" },
		func(_ xml.StartElement, text string) { initial = text })
	if err == nil && g.ofEdges {
		a := g.edges.attribute(attribute(t, "id"))
		a.name, a.text = attribute(t, "title"), attribute(t, "type") == "string"
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
	return g.edges.add(g.line(), attribute(t, "source"), attribute(t, "target"), hasArrow)
}

const gexfHead = `<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://www.gexf.net/1.2draft" xmlns:viz="http://www.gexf.net/1.2draft/viz" version="1.2">
<graph mode="static" defaultedgetype="`

// palette holds the colours of classes, red, green and blue: those of Okabe and Ito, which remain
// distinct for people with colour vision deficiency, and three more.
var palette = [][3]uint8{
	{0, 114, 178}, {230, 159, 0}, {0, 158, 115}, {213, 94, 0}, {204, 121, 167},
	{86, 180, 233}, {240, 228, 66}, {117, 112, 179}, {102, 102, 102}, {166, 118, 29},
}

// writeGEXF writes a graph for Gephi. The nodes have the colours of the values of the first
// attribute that is text, in the order in which these appear.
func writeGEXF(ctx context.Context, out *bufio.Writer, g *graph) (isolated int, err error) {
	direction := "undirected"
	if g.directed {
		direction = "directed"
	}
	_, _ = out.WriteString(gexfHead + direction + "\">\n")
	coloured := -1
	if len(g.attributes) > 0 {
		_, _ = out.WriteString("<attributes class=\"node\">\n")
		for i, a := range g.attributes {
			line := append(out.AvailableBuffer(), `<attribute id="`...)
			line = append(strconv.AppendInt(line, int64(i), 10), `" title="`...)
			if line, err = appendMarkup(line, a.Title); err != nil {
				return 0, err
			}
			_, _ = out.Write(append(line, "\" type=\""+xmlTypes[a.Kind]+"\"/>\n"...))
			if a.Kind == Text && coloured < 0 {
				coloured = i
			}
		}
		_, _ = out.WriteString("</attributes>\n")
	}
	_, _ = out.WriteString("<nodes>\n")
	colours := map[string]int{}
	err = g.eachNode(ctx, func(id []byte, value func(i int) string) error {
		line := append(out.AvailableBuffer(), `<node id="`...)
		if line, err = appendMarkup(line, id); err != nil {
			return err
		}
		line = append(line, `" label="`...)
		line, _ = appendMarkup(line, id)
		if len(g.attributes) == 0 {
			_, err := out.Write(append(line, "\"/>\n"...))
			return err
		}
		line = append(line, "\"><attvalues>"...)
		for i := range g.attributes {
			v := value(i)
			if v == "" {
				continue
			}
			line = strconv.AppendInt(append(line, `<attvalue for="`...), int64(i), 10)
			if line, err = appendMarkup(append(line, `" value="`...), v); err != nil {
				return err
			}
			line = append(line, `"/>`...)
		}
		line = append(line, "</attvalues>"...)
		if coloured >= 0 && value(coloured) != "" {
			class := value(coloured)
			if _, isColoured := colours[class]; !isColoured {
				colours[class] = len(colours)
			}
			c := palette[colours[class]%len(palette)]
			line = append(line, `<viz:color r="`...)
			line = append(strconv.AppendUint(line, uint64(c[0]), 10), `" g="`...)
			line = append(strconv.AppendUint(line, uint64(c[1]), 10), `" b="`...)
			line = append(strconv.AppendUint(line, uint64(c[2]), 10), `"/>`...)
		}
		_, err := out.Write(append(line, "</node>\n"...))
		return err
	})
	if err != nil {
		return 0, err
	}
	_, _ = out.WriteString("</nodes>\n<edges>\n")
	number := int64(0)
	_, err = g.eachEdge(ctx, func(source, target []byte, weight float64) error {
		line := strconv.AppendInt(append(out.AvailableBuffer(), `<edge id="`...), number, 10)
		number++
		line, _ = appendMarkup(append(line, `" source="`...), source)
		line, _ = appendMarkup(append(line, `" target="`...), target)
		if g.weighted {
			line = appendWeight(append(line, `" weight="`...), weight)
		}
		_, err := out.Write(append(line, "\"/>\n"...))
		return err
	})
	_, _ = out.WriteString("</edges>\n</graph>\n</gexf>\n")
	return 0, err
}

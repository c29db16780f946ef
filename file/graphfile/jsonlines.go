package graphfile

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
)

// JSONLines is a text with an edge in each JSON object, one object on a line or all in a list. Objects may also be
// nodes, and the ends of an edge may be nested objects, as Neo4j's APOC writes them. A file of plain edges alone is a
// table.
var JSONLines = &Format{Title: "JSON lines", Endings: []string{".jsonl", ".ndjson"}, Text: true, Attributes: true,
	Begins: beginsJSONLines, Read: readBatches(readJSONLines)}

// beginsJSONLines reports whether a text begins with a list of objects or with an object on a line of its own. That
// object must name the ends of an edge, or another object must follow it. It must not hold lists of nodes or edges.
func beginsJSONLines(head []byte) bool {
	line, next, _ := bytes.Cut(trimStart(head), []byte{'\n'})
	if isList := bytes.HasPrefix(line, []byte{'['}); isList {
		key, isObject := bytes.CutPrefix(trimStart(trimStart(head)[1:]), []byte{'{'})
		return isObject && bytes.HasPrefix(trimStart(key), []byte{'"'})
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(line, &object) != nil {
		return false
	}
	hasLists := object["nodes"] != nil || object["edges"] != nil || object["links"] != nil
	return !hasLists && (bytes.HasPrefix(trimStart(next), []byte{'{'}) || table.NamesEnds(slices.Collect(maps.Keys(object))))
}

type jsonLines struct {
	out     *batchWriter
	nodes   *nodeNames
	edges   *edgeBuffer
	ends    [2]string // keys of source and target
	hasEnds bool      // the first edge has chosen ends
	line    int64
	own     []textio.Member // members of the object: texts, numbers, and objects with an id, replaced by the id
	inner   []textio.Member // members of the containers in the object
}

// containers are the members in which Neo4j, graphology, Cytoscape.js and the JSON Graph Format put attributes.
var containers = []string{"attributes", "data", "metadata", "properties"}

func readJSONLines(s *batchWriter) (*Summary, error) {
	g := &jsonLines{out: s, nodes: newNodeNames(s, "id"), ends: [2]string{"source", "target"}}
	g.edges = newEdgeBuffer(s, g.nodes)
	if err := textio.ReadObjects(s.Name, s.Text, g.object); err != nil {
		return nil, err
	}
	summary, err := g.edges.finish(0)
	if err == nil && !s.Directed {
		summary.Direction = Unstated
	}
	return summary, err
}

// object adds the edge or the node that an object describes.
func (g *jsonLines) object(line int64, members []textio.Member) error {
	g.line = line
	g.own = g.own[:0]
	g.inner = g.inner[:0]
	for _, m := range members {
		switch {
		case m.Nested == nil:
			g.own = append(g.own, m)
		case m.Nested[0] != '{':
		case slices.Contains(containers, m.Key):
			g.inner = append(g.inner, plainMembers(m.Nested)...)
		default:
			for _, end := range plainMembers(m.Nested) {
				if end.Key == "id" {
					end.Key = m.Key
					g.own = append(g.own, end)
				}
			}
		}
	}
	id := g.find("id")
	switch g.find("type") {
	case "node": // Neo4j
		return g.declare(id)
	case "relationship":
		return g.edge()
	}
	if g.chooseEnds(); id == "" || g.find(g.ends[0]) != "" {
		return g.edge()
	}
	return g.declare(id)
}

func plainMembers(object json.RawMessage) (members []textio.Member) {
	_ = textio.ReadObjects("", bytes.NewReader(object), func(_ int64, all []textio.Member) error {
		members = slices.DeleteFunc(slices.Clone(all), func(m textio.Member) bool { return m.Nested != nil })
		return nil
	})
	return members
}

func (g *jsonLines) find(key string) string {
	for _, members := range [][]textio.Member{g.own, g.inner} {
		for _, m := range members {
			if m.Key == key {
				if m.IsText {
					return m.Text
				}
				return table.PlainInteger(m.Text)
			}
		}
	}
	return ""
}

func (g *jsonLines) declare(id string) error {
	if _, isNode := g.nodes.byID[id]; isNode || id == "" {
		return nil
	}
	return g.nodes.add(g.line, id)
}

// edge adds the edge of the current object. The keys of source and target are titles as in a table of edges.
func (g *jsonLines) edge() error {
	g.chooseEnds()
	source := g.find(g.ends[0])
	target := g.find(g.ends[1])
	for _, m := range slices.Concat(g.inner, g.own) {
		if slices.Contains(g.ends[:], m.Key) {
			continue
		}
		a := g.edges.attribute(m.Key)
		a.name = m.Key
		a.text = m.IsText
		g.edges.set(a, g.line, m.Text)
	}
	for _, id := range []string{source, target} {
		if err := g.declare(id); err != nil {
			return err
		}
	}
	return g.edges.add(g.line, source, target, g.out.Directed && g.find("undirected") != "true") // graphology writes undirected
}

func (g *jsonLines) chooseEnds() {
	for _, members := range [][]textio.Member{g.own, g.inner} {
		if g.hasEnds {
			return
		}
		titles := make([]string, len(members))
		for i, m := range members {
			titles[i] = m.Key
		}
		if slices.Contains(titles, "start") && slices.Contains(titles, "end") { // Neo4j
			g.ends = [2]string{"start", "end"}
			g.hasEnds = true
		} else if source, target := table.Ends(titles); source >= 0 {
			g.ends = [2]string{titles[source], titles[target]}
			g.hasEnds = true
		}
	}
}

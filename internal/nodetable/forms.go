package nodetable

import (
	"bytes"

	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// headBytes is the number of bytes at the beginning of a file that show its form.
const headBytes = 4 << 10

// graphForms lists forms of graphs by a text at their beginning.
var graphForms = []struct{ text, title string }{
	{"%%MatrixMarket", "a Matrix Market file"}, {"<graphml", "a GraphML file"}, {"<gexf", "a GEXF file"},
	{"*Vertices", "a Pajek file"}, {"*vertices", "a Pajek file"}, {"graph [", "a GML file"},
	{`{"`, "a JSON file"}, {"{\n", "a JSON file"}, {`["`, "a JSON file"}, {"[{", "a JSON file"}, {"[[", "a JSON file"}, {"[\n", "a JSON file"},
}

// refuseGraph returns an error about a graph or JSON in place of a table with a node in each row.
func (t *Reader) refuseGraph(head []byte) error {
	if t.isList() || t.Lookup == nil && t.Value == "" {
		return nil
	}
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), table.Blank+"\n")
	for _, form := range graphForms {
		isXML := bytes.HasPrefix(head, []byte("<")) && form.text[0] == '<' && bytes.Contains(head, []byte(form.text))
		if !isXML && !bytes.HasPrefix(head, []byte(form.text)) {
			continue
		}
		noun := t.Value
		if noun == "" {
			noun = "attributes"
		}
		return textio.Fault(t.Name, 0, "give a table with the node and its "+noun+" on each line", "%s is no table of nodes", form.title)
	}
	return nil
}

package graphfile

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// The expected edges are from NetworkX 3.
func TestEdgeAttributes(t *testing.T) {
	const open, nodes = `<graphml><graph edgedefault="undirected">`, `<node id="a"/><node id="b"/><node id="c"/>`
	const key = `<key id="d1" for="edge" attr.name="weight" attr.type="double"/>`
	const two = `<graphml><key id="v" for="edge" attr.name="value" attr.type="double"/><key id="w" for="edge" attr.name="weight" attr.type="double"/>` +
		`<key id="l" for="edge" attr.name="interaction" attr.type="string"/><graph edgedefault="undirected">` + nodes +
		`<edge source="a" target="b"><data key="v">100</data><data key="w">9</data><data key="l">pp</data></edge></graph></graphml>`
	const amount = open + nodes + `<edge source="a" target="b"><data key="amount">7</data><data key="kind">x</data></edge></graph></graphml>`
	const named = `<graphml><key id="n" for="node" attr.name="name"/><graph>`
	for _, test := range []struct{ name, text, weight, want, columns, notes string }{
		{"keys behind the graph.graphml", open + nodes + `<edge source="a" target="b"><data key="d1">9</data></edge><edge source="b" target="c"><data key="d1">4</data></edge></graph>` + key + `</graphml>`,
			"", "a b 9;b c 4", "", ""},
		{"key of nodes.graphml", `<graphml><key attr.name="weight" attr.type="double" for="node" id="weight"/><key attr.name="name" attr.type="string" for="node" id="name"/>` +
			`<graph edgedefault="directed"><node id="68"><data key="name">N1</data></node><node id="70"/><edge source="68" target="70"><data key="name">x</data><data key="weight">0.5</data></edge></graph></graphml>`,
			"", "68 70 0.5", `weight → weight; ignored: name`, ""},
		{"edges before nodes.graphml", open + `<edge source="a" target="b"/>` + nodes + `</graph></graphml>`, "", "a b 1", "", ""},
		{"two weights.graphml", two, "", "a b 9", `weight → weight; ignored: value, interaction`,
			`two weights.graphml: the edge attribute "weight" is the weight, not "value"; choose with option weight=value`},
		{"two types.graphml", `<graphml><key id="d2" for="edge" attr.name="weight" attr.type="long"/><key id="d1" for="edge" attr.name="weight" attr.type="double"/>` +
			open[len("<graphml>"):] + nodes + `<edge source="a" target="b"><data key="d1">2.5</data></edge><edge source="b" target="c"><data key="d2">3</data></edge></graph></graphml>`,
			"", "a b 2.5;b c 3", "", ""},
		{"undeclared.graphml", open + nodes + `<edge source="a" target="b"><data key="weight">7</data></edge></graph></graphml>`, "", "a b 7", "", ""},
		{"chosen.graphml", two, "value", "a b 100", `value → weight; ignored: weight, interaction`, ""},
		{"chosen by key.graphml", two, "v", "a b 100", `value → weight; ignored: weight, interaction`, ""},
		{"missing.graphml", two, "cost", `missing.graphml: no edge has the attribute "cost"; choose with option weight=NAME; edges have "value", "weight", "interaction"`, "", ""},
		{"text.graphml", two, "interaction", `text.graphml:1: weight "pp" is not a number; correct it`, "", ""},
		{"default.graphml", `<graphml><key id="d" for="edge" attr.name="gain" attr.type="double"><default>2</default></key>` + open[len("<graphml>"):] + nodes + `<edge source="a" target="b"/></graph></graphml>`,
			"gain", "a b 2", "gain → weight", ""},
		{"amount.graphml", amount, "", "a b 1", `ignored: amount, kind`,
			`amount.graphml: no edge has the attribute weight or value; the numbers "amount" are ignored; choose one with option weight=NAME, or for distances option weight=1/NAME`},
		{"amount chosen.graphml", amount, "amount", "a b 7", `amount → weight; ignored: kind`, ""},
		{"a word as value.graphml", open + nodes + `<edge source="a" target="b"><data key="value">red</data></edge></graph></graphml>`, "", "a b 1", `ignored: value`, ""},
		{"lines in a name.graphml", named + `<node id="n0"><data key="n">a
  b</data></node><node id="n1"><data key="n">c</data></node><edge source="n0" target="n1"/></graph></graphml>`, "", "a b c 1", "", ""},
		{"a tab in a name.graphml", named + `<node id="n0"><data key="n">a&#9;b</data></node><node id="n1"><data key="n">c</data></node><edge source="n0" target="n1"/></graph></graphml>`, "", "n0 n1 1", "",
			`a tab in a name.graphml: the name "a\tb" holds a tab; nodes are called by their id`},
		{"a node without name.graphml", named + `<node id="n0"><data key="n">a</data></node><node id="n1"/><edge source="n0" target="n1"/></graph></graphml>`, "", "n0 n1 1", "",
			`a node without name.graphml: node "n1" has no name; nodes are called by their id`},
	} {
		c, err := readContent(test.name, []byte(test.text), &Input{Weight: test.weight})
		if err != nil {
			if err.Error() != test.want {
				t.Errorf("%s: error %v, want %s", test.name, err, test.want)
			}
			continue
		}
		got, columns := strings.Join(c.edges, ";"), c.graph.Columns.String()
		if c.graph.Columns.IsUsual() {
			columns = ""
		}
		if c.graph.Direction == Directed && strings.HasPrefix(test.want, "directed") {
			got = "directed " + got
		}
		if got != test.want || columns != test.columns || errorText(errors.Join(c.graph.Notes...)) != test.notes {
			t.Errorf("%s: %s\ncolumns %s\nnotes %q\nwant %s\n%s\n%q", test.name, got, columns, c.graph.Notes, test.want, test.columns, test.notes)
		}
	}
}

// An attribute for each edge must not take quadratic time or memory.
func TestManyAttributes(t *testing.T) {
	const edges = 10_000
	for name, text := range map[string][3]string{
		"e.json":    {`[{"source": {"id": "a"}, "target": "b"}`, `, {"source": "a", "target": "b", "k%d": 1}`, "]"},
		"e.graphml": {`<graphml><graph><node id="a"/><node id="b"/><edge source="a" target="b"/>`, `<edge source="a" target="b"><data key="k%d">1</data></edge>`, "</graph></graphml>"},
	} {
		var b strings.Builder
		b.WriteString(text[0])
		for i := range edges {
			fmt.Fprintf(&b, text[1], i)
		}
		b.WriteString(text[2])
		c, err := readContent(name, []byte(b.String()), nil)
		if err != nil || len(c.edges) != edges+1 || len(c.graph.Columns) != edges || len(errorText(errors.Join(c.graph.Notes...))) > 500 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

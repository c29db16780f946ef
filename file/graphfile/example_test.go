package graphfile_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/heatwalk/heatwalk/file/graphfile"
)

// A triangle as GraphML.
func ExampleRead() {
	in := &graphfile.Input{Name: "triangle.graphml", Text: strings.NewReader(`<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/><node id="c"/>
<edge source="a" target="b"/><edge source="b" target="c"/><edge source="c" target="a"/>
</graph></graphml>`)}
	g, err := graphfile.Read(graphfile.GraphML, in, func(b *graphfile.Batch) error {
		if !b.Edges {
			return nil
		}
		start := 0
		for _, end := range b.End {
			fmt.Println(string(b.Text[start:end]))
			start = end
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g.Direction == graphfile.Undirected)
	// Output:
	// a
	// b
	// b
	// c
	// c
	// a
	// true
}

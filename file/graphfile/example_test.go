package graphfile_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/heatwalk/heatwalk/file/graphfile"
)

// A triangle in the format of METIS.
func ExampleRead() {
	in := &graphfile.Input{Name: "triangle.metis", Text: strings.NewReader("3 3\n2 3\n1 3\n1 2\n")}
	g, err := graphfile.Read(graphfile.METIS, in, func(b *graphfile.Batch) error {
		for i := 0; i < len(b.Number); i += 2 {
			fmt.Println(b.Number[i], b.Number[i+1])
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g.Nodes, "nodes, from", g.First)
	// Output:
	// 0 1
	// 0 2
	// 1 2
	// 3 nodes, from 1
}

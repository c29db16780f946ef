package generate_test

import (
	"context"
	"log"
	"os"

	"github.com/heatwalk/heatwalk/ingest/generate"
	"github.com/heatwalk/heatwalk/param"
)

func ExampleNew() {
	g, err := generate.New("grid", param.Values{"rows": param.Of(2), "columns": param.Of(3)}, 1, 0)
	if err != nil {
		log.Fatal(err)
	}
	if err := g.EdgesTo(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 0	1
	// 0	3
	// 1	2
	// 1	4
	// 2	5
	// 3	4
	// 4	5
}

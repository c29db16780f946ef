package generate_test

import (
	"context"
	"log"
	"os"

	"github.com/heatwalk/heatwalk/generate"
)

// A lattice of two rows.
func ExampleGrid() {
	if err := (generate.Grid{Rows: 2, Columns: 3}).EdgesTo(context.Background(), os.Stdout); err != nil {
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

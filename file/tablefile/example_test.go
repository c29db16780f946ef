package tablefile_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/heatwalk/heatwalk/file/tablefile"
)

// Features of two items as LIBSVM text.
func ExampleRead() {
	ctx := context.Background()
	tmp, err := os.MkdirTemp("", "tablefile")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	path := filepath.Join(tmp, "items.svm")
	if err := os.WriteFile(path, []byte("+1 1:0.5 3:2\n-1 2:1\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	f, err := tablefile.Inspect(ctx, path, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Rows, "rows,", f.Cols, "columns")
	err = tablefile.Read(ctx, f, func(label []byte, row []float64) error {
		fmt.Println(string(label), row)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// 2 rows, 3 columns
	// +1 [0.5 0 2]
	// -1 [0 1 0]
}

// Predictions with the scores of both classes.
func ExampleWritePredictions() {
	red := []float64{0.75, 0.125}
	columns := tablefile.Columns{Classes: []string{"red", "blue"}}
	err := tablefile.WritePredictions(context.Background(), os.Stdout, ".tsv", columns, len(red), func(i int, p *tablefile.Prediction) {
		p.Node, p.Label, p.Reached = []string{"ann", "di"}[i], "red", true
		if red[i] < 0.5 {
			p.Label = "blue"
		}
		p.Scores[0], p.Scores[1] = red[i], 1-red[i]
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// node	label	reached	known	probability	blue	red
	// ann	red	true	false	0.75	0.25	0.75
	// di	blue	true	false	0.875	0.875	0.125
}

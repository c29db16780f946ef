package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

func Example() {
	ctx := context.Background()
	tmp, err := os.MkdirTemp("", "ingest")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	dir := filepath.Join(tmp, "graph")

	report, err := ingest.Run(ctx, dir, []string{"-"}, &ingest.Config{
		Stdin: strings.NewReader("ann\tbob\nbob\tcy\ncy\tann\ncy\tdi\n"),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Nodes, "nodes,", report.Edges, "edges")

	g, err := shard.Open(ctx, dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	labels, err := nodefile.ReadLabels(ctx, "-", g.Nodes, &nodefile.LabelConfig{
		Stdin: strings.NewReader("ann\tred\ndi\tblue\n"),
	})
	if err != nil {
		log.Fatal(err)
	}
	for i, row := range labels.Row {
		fmt.Println(g.Nodes.ID(row), labels.Names[labels.Class[i]])
	}
	// Output:
	// 4 nodes, 4 edges
	// di blue
	// ann red
}

func ExampleParseError() {
	tmp, err := os.MkdirTemp("", "ingest")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	_, err = ingest.Run(context.Background(), filepath.Join(tmp, "graph"), []string{"-"}, &ingest.Config{
		Stdin: strings.NewReader("1\t2\t0.5\n2\t3\tmuch\n"),
	})
	if bad := new(nodefile.ParseError); errors.As(err, &bad) {
		fmt.Println("line", bad.Line)
	}
	fmt.Println(err)
	// Output:
	// line 2
	// stdin:2:5: weight "much" is not a number; fix the line or pass option skip-bad-lines
}

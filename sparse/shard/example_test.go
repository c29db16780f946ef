package shard_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// A path of four nodes, written and swept.
func Example() {
	ctx := context.Background()
	tmp, err := os.MkdirTemp("", "shard")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	dir := filepath.Join(tmp, "path")

	w, err := shard.Create(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer w.Abort()
	for _, neighbours := range [][]uint32{{1}, {0, 2}, {1, 3}, {2}} {
		if err := w.Append(neighbours, nil); err != nil {
			log.Fatal(err)
		}
	}
	names, err := shard.StringNodes([]string{"ann", "bob", "cy", "di"})
	if err != nil {
		log.Fatal(err)
	}
	w.SetNodes(names)
	if err := w.Commit(ctx); err != nil {
		log.Fatal(err)
	}

	s, err := shard.Open(ctx, dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	fmt.Println(s.Manifest().Edges(), "edges")
	err = s.Sweep(ctx, 1, func(_ int, p sparse.Panel) error {
		for i := p.Lo; i < p.Hi; i++ {
			col, _ := p.Row(i - p.Lo)
			fmt.Println(s.Nodes().ID(i), col)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// 3 edges
	// ann [1]
	// bob [0 2]
	// cy [1 3]
	// di [2]
}

package shard_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

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
		if err := w.Append(neighbours, nil, nil); err != nil {
			log.Fatal(err)
		}
	}
	names, err := shard.StringNodes(slices.Values([]string{"ann", "bob", "cy", "di"}))
	if err != nil {
		log.Fatal(err)
	}
	w.Nodes = names
	if err := w.Commit(ctx); err != nil {
		log.Fatal(err)
	}

	s, err := shard.Open(ctx, dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	fmt.Println(s.Manifest.Edges(), "edges")
	err = sparse.Sweep(ctx, s, 1, func(_ int, p sparse.Panel) error {
		for i := p.Lo; i < p.Hi; i++ {
			col, _ := p.Row(i - p.Lo)
			fmt.Println(s.Nodes.ID(i), col)
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

// A vector is in the order of the ids, and the rows of the store are in another order. Without the two loops that
// convert, the result would belong to other nodes.
func ExampleNodes_Rows() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "shard")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := reordered(dir); err != nil { // the path 0 – 1 – 2 – 3, whose rows are 1, 2, 0, 3
		log.Fatal(err)
	}
	s, err := shard.Open(ctx, dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	v, tv := []float64{1, 0, 0, 0}, make([]float64, 0, 4)
	x, y := sparse.NewBlock[float64](4, 1), sparse.NewBlock[float64](4, 1)
	position := 0
	for row := range s.Nodes.Rows() {
		x.Row(row)[0] = v[position]
		position++
	}
	t := sparse.NewOperator[float64](sparse.Transition, s, s.Degrees)
	if err := t.ApplyTo(ctx, y, x); err != nil {
		log.Fatal(err)
	}
	for row := range s.Nodes.Rows() {
		tv = append(tv, y.Row(row)[0])
	}
	fmt.Println("rows", y.Data)
	fmt.Println("ids ", tv)
	// Output:
	// rows [0.5 0 0 0]
	// ids  [0 0.5 0 0]
}

// A store will be swept many times, with blocks of five float32 columns. The example makes the copy in memory that is
// swept fastest and takes at most a gigabyte.
func ExampleStore_layout() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "shard")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := path(dir); err != nil {
		log.Fatal(err)
	}

	s, err := shard.Open(ctx, dir, &shard.Options{Stream: true}) // no frame stays in memory with the copy
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	layout, err := sparse.FindLayout(ctx, s, &sparse.LayoutOptions{RowBytes: 5 * 4, Memory: 1 << 30, Ones: !s.Manifest.Weighted})
	if err != nil {
		log.Fatal(err)
	}
	a, err := layout.Load(ctx)
	if err != nil {
		log.Fatal(err)
	}
	x, y := sparse.NewBlock[float32](4, 5), sparse.NewBlock[float32](4, 5)
	x.Row(0)[2] = 1
	t := sparse.NewOperator[float32](sparse.Transition, a, s.Degrees)
	if err := t.StepTo(ctx, y, x, sparse.Step[float32]{Alpha: 1}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(y.Row(1))
	// Output: [0 0 0.5 0 0]
}

func reordered(dir string) error {
	w, err := shard.Create(dir, nil)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, neighbours := range [][]uint32{{1, 2}, {0, 3}, {0}, {1}} {
		if err := w.Append(neighbours, nil, nil); err != nil {
			return err
		}
	}
	w.Nodes = shard.NewNumericNodes(4).Reorder("degree", []uint32{1, 2, 0, 3}, nil)
	return w.Commit(context.Background())
}

func path(dir string) error {
	w, err := shard.Create(dir, nil)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, neighbours := range [][]uint32{{1}, {0, 2}, {1, 3}, {2}} {
		if err := w.Append(neighbours, nil, nil); err != nil {
			return err
		}
	}
	return w.Commit(context.Background())
}

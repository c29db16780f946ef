package method_test

import (
	"context"
	"fmt"
	"log"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/sparse"
)

// Two groups of friends, joined by one edge; three of each are labelled.
func ExampleEngine() {
	ctx := context.Background()
	const n = 12
	var edges []sparse.Triplet
	join := func(i, j int) {
		edges = append(edges, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: 1}, sparse.Triplet{Row: uint32(j), Col: uint32(i), Val: 1})
	}
	for i := range n {
		for j := range i {
			if i/6 == j/6 {
				join(i, j)
			}
		}
	}
	join(5, 6)
	a, err := sparse.FromTriplets(n, n, edges)
	if err != nil {
		log.Fatal(err)
	}
	g, err := graph.New(ctx, a, nil)
	if err != nil {
		log.Fatal(err)
	}
	p := &engine.Problem{
		Graph: g,
		Row:   []int{0, 1, 2, 9, 10, 11}, Class: []int{0, 0, 0, 1, 1, 1}, Names: []string{"red", "blue"},
	}
	walks, err := method.Parse("cwk")
	if err != nil {
		log.Fatal(err)
	}
	out, err := walks[0].Method.Predict(ctx, p, nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	for i := 3; i < 9; i++ {
		fmt.Println(i, p.Names[out.Class[i]])
	}
	// Output:
	// 3 red
	// 4 red
	// 5 red
	// 6 blue
	// 7 blue
	// 8 blue
}

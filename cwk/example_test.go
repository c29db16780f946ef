package cwk_test

import (
	"context"
	"fmt"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/sparse"
)

// Two friends of different classes are the ends of a path of five people. The example computes the classes in which
// walks of ten steps from the people end.
func Example() {
	path, err := sparse.FromTriplets(5, 5, []sparse.Triplet{
		{Row: 0, Col: 1, Val: 1}, {Row: 1, Col: 0, Val: 1},
		{Row: 1, Col: 2, Val: 1}, {Row: 2, Col: 1, Val: 1},
		{Row: 2, Col: 3, Val: 1}, {Row: 3, Col: 2, Val: 1},
		{Row: 3, Col: 4, Val: 1}, {Row: 4, Col: 3, Val: 1},
	})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	degrees, err := sparse.Degrees(ctx, path, 0)
	if err != nil {
		panic(err)
	}

	walk := cwk.Walk[float64]{
		A: path, Degrees: degrees, Steps: 10,
		Seeds:    cwk.Seeds{Row: []int{0, 4}, Class: []int{0, 1}, Classes: 2},
		Variants: []cwk.Variant{{Absorb: 0.5}},
	}
	p, err := walk.Collect(ctx, walk.Steps, plainPicks([]int{0, 1, 2, 3, 4}))
	if err != nil {
		panic(err)
	}
	for i := range p.Rows {
		fmt.Printf("%.2f %.2f\n", p.At(i, 0), p.At(i, 1))
	}

	fmt.Println("kernel between the seeds and their neighbours:")
	err = walk.Gram(ctx, 0, plainPicks([]int{0, 4}), plainPicks([]int{1, 3}), func(_ int, panel *sparse.Block[float64]) error {
		for i := range panel.Rows {
			fmt.Printf("%.3f\n", panel.Row(i))
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	// Output:
	// 0.83 0.17
	// 0.67 0.33
	// 0.50 0.50
	// 0.33 0.67
	// 0.17 0.83
	// kernel between the seeds and their neighbours:
	// [0.601 0.399]
	// [0.399 0.601]
}

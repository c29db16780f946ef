package graphs_test

import (
	"context"
	"fmt"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/papers/graphs"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// The walks that a path and a triangle have in common.
func Example() {
	ctx := context.Background()
	c := &graphfile.Collection{
		IDs: []string{"path", "triangle"}, Labels: []string{"a", "b"}, EdgeLabels: []string{"-"},
		Graphs: []graphfile.Member{
			graphfile.NewMember([]int32{0, 1, 0}, [][3]int32{{0, 1}, {1, 2}}),
			graphfile.NewMember([]int32{0, 1, 0}, [][3]int32{{0, 1}, {1, 2}, {2, 0}}),
		},
	}
	gram, err := graphs.Kernels().Named("label-sequence").Prepare(ctx, c, param.Values{"decay": param.Of(0.1)}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	k := sparse.NewBlock[float64](2, 2)
	if err := gram.RowsTo(ctx, k, 0); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f\n%.4f\n", k.Row(0), k.Row(1))
	// Output:
	// [6.0417 6.0417]
	// [6.0417 6.6279]
}

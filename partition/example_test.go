package partition_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/partition"
	"github.com/heatwalk/heatwalk/sparse"
)

func ExampleLocality() {
	// The numbers of the nodes of the path 2 – 0 – 3 – 1 are not in its order.
	path := mat.NewDense(4, 4, []float64{
		0, 0, 1, 1,
		0, 0, 0, 1,
		1, 0, 0, 0,
		1, 1, 0, 0,
	})
	a, err := sparse.FromMat(path)
	if err != nil {
		panic(err)
	}
	order, err := partition.Locality(context.Background(), a, nil)
	fmt.Println(order, err)
	// Output: [0 2 3 1] <nil>
}

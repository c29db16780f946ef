package partition_test

import (
	"fmt"

	"github.com/heatwalk/heatwalk/partition"
)

func ExampleDegree() {
	// Node 2 has the most neighbours; 0 and 3 have as many as each other.
	fmt.Println(partition.Degree([]uint32{1, 0, 5, 1}))
	// Output: [2 0 3 1]
}

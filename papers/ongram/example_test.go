package ongram_test

import (
	"fmt"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/papers/ongram"
	"github.com/heatwalk/heatwalk/param"
)

// Three records of two attributes; the first two differ in the second attribute.
func ExampleRecordKernels() {
	attributes := []nodefile.Column{
		{Name: "fur", Values: []string{"yes", "no"}, Code: []int32{0, 0, 1}},
		{Name: "sound", Values: []string{"meow", "bark", "cluck"}, Code: []int32{0, 1, 2}},
	}
	k := ongram.RecordKernels().Named("categorical")
	v, err := k.Resolve(param.Values{"beta": param.Of(0.5)}, nil)
	if err != nil {
		panic(err)
	}
	gram, err := k.Of(attributes, v)
	if err != nil {
		panic(err)
	}
	row := make([]float64, gram.Len())
	gram.RowTo(row, 0)
	fmt.Printf("%.4f\n", row)
	// Output: [1.0000 0.5372 0.2482]
}

// A vertex of a binary tree with its parent and with its sibling.
func ExampleRootedTree() {
	fmt.Printf("%.4f %.4f\n", ongram.RootedTree(3, 1, 2, 1, 0.5), ongram.RootedTree(3, 2, 2, 2, 0.5))
	// Output: 0.1372 0.0323
}

package blocks

import (
	"testing"

	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestHubSquares(t *testing.T) {
	a := testgraph.Hub()
	n, _ := a.Dims()
	for _, workers := range []int{1, 2, 7} {
		squares, err := RowSquares(t.Context(), a, 1, workers)
		if err != nil || squares[0] != float32(n-1) || squares[1] != 3 {
			t.Errorf("%d goroutines: %v, want %d, %v", workers, squares[:2], n-1, err)
		}
	}
}

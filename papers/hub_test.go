package papers

import (
	"testing"

	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestHubRow(t *testing.T) {
	a := testgraph.Hub()
	n, _ := a.Dims()
	longest, err := longestRow(t.Context(), testgraph.Path(5), nil, a)
	if err != nil || longest != n-1 {
		t.Errorf("%d entries of %d, %v", longest, n-1, err)
	}
}

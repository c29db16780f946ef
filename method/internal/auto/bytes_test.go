package auto

import (
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// With wide attributes ridges learn from few labels, but two of each class, which the memory
// estimate includes.
func TestMemoryOfManyClasses(t *testing.T) {
	const n, classes, columns = 600, 150, 60_000
	p := &problem.Problem{Names: make([]string, classes), Graph: &graph.Graph{Degrees: make([]float64, n)}, Attributes: &sparse.Table{Rows: n, Cols: columns}}
	for v := range 3 * classes {
		p.Row, p.Class = append(p.Row, v), append(p.Class, v%classes)
	}
	least := 2 * blockBytes(2*classes, columns) // attributes of labels through each view
	if bytes := attributeBytes(p, &design{folds: 5}, 1, 0); bytes < least || bytes > 12*least {
		t.Errorf("%d bytes, at least %d are needed", bytes, least)
	}
}

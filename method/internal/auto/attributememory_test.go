package auto

import (
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/internal/piece"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// Of wide attributes few labels are learned from, but two of each class, and memory is
// reckoned for as many.
func TestMemoryOfManyClasses(t *testing.T) {
	const n, classes, columns = 600, 150, 60_000
	p := &problem.Problem{Names: make([]string, classes), Graph: &graph.Graph{Degrees: make([]float64, n)}, Attributes: &sparse.Table{Rows: n, Cols: columns}}
	for v := range 3 * classes {
		p.Row, p.Class = append(p.Row, v), append(p.Class, v%classes)
	}
	shown := map[int]int{} // of each class
	for _, i := range shownLabels(p, 3*columns, 1) {
		shown[p.Class[i]]++
	}
	for c := range classes {
		if shown[c] != 2 {
			t.Errorf("%d labels of class %d are learned from", shown[c], c)
		}
	}
	sweeps, ridges := attributeSweeps(p, slabColumns, 1)
	want := 4 * piece.Bytes[float32](2*classes, columns)
	for name, phase := range map[string]int64{"sweeps": sweeps[1].Bytes, "ridges": ridges[1].Bytes} {
		if phase != want {
			t.Errorf("%s hold attributes of labels in %d bytes, want %d", name, phase, want)
		}
	}
}

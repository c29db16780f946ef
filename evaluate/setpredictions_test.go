package evaluate

import (
	"math"
	"reflect"
	"testing"

	"github.com/heatwalk/heatwalk/file/nodefile"
)

func TestSummarizeSets(t *testing.T) {
	l := &nodefile.Labels{Names: []string{"red", "blue"}, Row: []int{0, 0, 1}, Class: []int{0, 1, 0}}
	truth := &nodefile.Labels{Names: []string{"blue", "green", "red"}, Row: []int{0, 2, 3, 3, 4}, Class: []int{1, 0, 0, 2, 1}} // node 0 is labelled
	predicted := [][]int{{0, 1}, {0}, {1}, {0}, {}, {0, 1}}
	s := SummarizeSets([]int{0, 1, 2, 3, 4, 5}, func(node int) []int { return predicted[node] }, l, truth)
	if want := []SetLabel{{"blue", 1, 2}, {"red", 2, 2}}; !reflect.DeepEqual(s.ByLabel, want) {
		t.Errorf("labels %+v, want %+v", s.ByLabel, want)
	}
	if want := []SetSize{{0, 1}, {1, 2}, {2, 1}}; !reflect.DeepEqual(s.BySize, want) {
		t.Errorf("sizes %+v, want %+v", s.BySize, want)
	}
	// Right: blue of node 2, red of node 3. Missing: blue of node 3, green of node 4.
	micro := 2 * 2.0 / (2*2 + 2)
	macro := (1 + 2.0/3 + 0) / 3
	if got := s.Truth; got.Nodes != 3 || math.Abs(got.MicroF1-micro) > 1e-12 || math.Abs(got.MacroF1-macro) > 1e-12 || math.Abs(got.AllRight-1.0/3) > 1e-12 {
		t.Errorf("truth %+v, want micro-F1 %v and macro-F1 %v", got, micro, macro)
	}
	truth = &nodefile.Labels{Names: []string{"blue"}, Row: []int{0}, Class: []int{0}}
	if s := SummarizeSets([]int{2}, func(node int) []int { return predicted[node] }, l, truth); s.Truth != nil || len(s.BySize) != 1 {
		t.Errorf("%+v", s)
	}
}

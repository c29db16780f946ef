package evaluate

import (
	"slices"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/method/choose"
)

// SetPredictions describes predicted sets of labels.
type SetPredictions struct {
	ByLabel []SetLabel `json:"by_label"` // in the order of nodefile.OrderClasses
	BySize  []SetSize  `json:"by_size"`  // sizes that occur, in increasing order
	Truth   *SetTruth  `json:"truth,omitempty"`
}

// SetLabel counts the nodes with a label.
type SetLabel struct {
	Label       string `json:"label"`
	Labels      int    `json:"labels"`      // labelled nodes
	Predictions int    `json:"predictions"` // other nodes
}

// SetSize counts the nodes without a label that have a number of predicted labels.
type SetSize struct {
	Labels int `json:"labels_of_a_node"`
	Nodes  int `json:"nodes"`
}

// SetTruth compares predicted sets with true sets, see [choose.SetF1]. A true label without a training label counts as
// missing.
type SetTruth struct {
	Nodes    int     `json:"nodes"`
	MicroF1  float64 `json:"micro_f1"`
	Stderr   float64 `json:"micro_f1_stderr"`
	MacroF1  float64 `json:"macro_f1"`
	AllRight float64 `json:"all_right"` // share of nodes with exactly the true labels
}

// SummarizeSets describes the sets that labelsOf returns for nodes, as classes of l. A node without a predicted label has
// an empty set. It compares the sets of nodes that l does not label with truth, which may be nil. Truth is nil if it
// labels no such node.
func SummarizeSets(nodes []int, labelsOf func(node int) []int, l, truth *nodefile.Labels) *SetPredictions {
	s := &SetPredictions{}
	isKnown := map[int]bool{}
	labels := make([]int, len(l.Names))
	predictions := make([]int, len(l.Names))
	for i, row := range l.Row {
		isKnown[row] = true
		labels[l.Class[i]]++
	}
	var sizes []int
	for _, node := range nodes {
		if isKnown[node] {
			continue
		}
		list := labelsOf(node)
		for _, label := range list {
			predictions[label]++
		}
		for len(sizes) <= len(list) {
			sizes = append(sizes, 0)
		}
		sizes[len(list)]++
	}
	for _, label := range nodefile.OrderClasses(l.Names) {
		s.ByLabel = append(s.ByLabel, SetLabel{l.Names[label], labels[label], predictions[label]})
	}
	for size, count := range sizes {
		if count > 0 {
			s.BySize = append(s.BySize, SetSize{size, count})
		}
	}
	if truth != nil {
		s.Truth = compareSets(labelsOf, isKnown, l, truth)
	}
	return s
}

func compareSets(labelsOf func(node int) []int, isKnown map[int]bool, l, truth *nodefile.Labels) *SetTruth {
	names := slices.Clone(l.Names)
	sets := map[int][]int{}
	var nodes []int
	for i, row := range truth.Row {
		if isKnown[row] {
			continue
		}
		name := truth.Names[truth.Class[i]]
		label := slices.Index(names, name)
		if label < 0 {
			label = len(names)
			names = append(names, name)
		}
		if sets[row] == nil {
			nodes = append(nodes, row)
		}
		sets[row] = append(sets[row], label)
	}
	if nodes == nil {
		return nil
	}
	t := &SetTruth{Nodes: len(nodes)}
	list := make([][]int, len(nodes))
	for i, node := range nodes {
		list[i] = sets[node]
		predicted := slices.Sorted(slices.Values(labelsOf(node)))
		if slices.Equal(predicted, slices.Sorted(slices.Values(list[i]))) {
			t.AllRight++
		}
	}
	t.AllRight /= float64(len(nodes))
	t.MicroF1, t.MacroF1, t.Stderr = choose.SetF1(list, len(names), func(i int) []int { return labelsOf(nodes[i]) })
	return t
}

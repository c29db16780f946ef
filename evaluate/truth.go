package evaluate

import (
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/heatwalk/heatwalk/file/nodefile"
)

// Truth compares predictions with true labels.
type Truth struct {
	Accuracies
	MacroF1 float64 `json:"macro_f1"`
}

// Accuracies are the shares of right predictions, as fractions of one: of all nodes that are
// compared, and of those among them that a label reaches. No method can learn anything of the
// others, so that accuracies estimated from labels are those of reached nodes.
type Accuracies struct {
	Nodes        int     `json:"nodes"`
	All          float64 `json:"accuracy"`
	Reached      float64 `json:"accuracy_reached"` // 0 without a reached node
	NodesReached int     `json:"nodes_reached"`
}

// hits counts predictions, and the right ones among them.
type hits struct{ nodes, right, reached, rightReached int }

// add counts one prediction.
func (h *hits) add(reached, right bool) {
	h.nodes++
	if right {
		h.right++
	}
	if reached {
		h.reached++
		if right {
			h.rightReached++
		}
	}
}

func (h *hits) accuracies() Accuracies {
	return Accuracies{
		Nodes:        h.nodes,
		All:          float64(h.right) / math.Max(1, float64(h.nodes)),
		Reached:      float64(h.rightReached) / math.Max(1, float64(h.reached)),
		NodesReached: h.reached,
	}
}

// Compare compares predicted labels, a class of seeds for each row or [Unlabelled], with the
// known ones on all nodes without a label in seeds. It returns nil if there are no such nodes.
// A blank counts as wrong, and so does every class that seeds lacks.
func Compare(labels []int, reached *roaring.Bitmap, seeds, actual *nodefile.Labels) *Truth {
	seedClass := classOfRow(seeds, len(labels))
	names := slices.Clone(seeds.Names)
	position := map[string]int{}
	for i, name := range names {
		position[name] = i
	}
	for _, name := range actual.Names {
		if _, ok := position[name]; !ok {
			position[name] = len(names)
			names = append(names, name)
		}
	}
	blank := len(names) // in a column of its own, which has no part in the mean of F1
	table := newConfusion(len(names) + 1)
	var t Truth
	var count hits
	for i, row := range actual.Row {
		if seedClass[row] != Unlabelled {
			continue
		}
		want, got := position[actual.Names[actual.Class[i]]], labels[row]
		if got == Unlabelled {
			got = blank
		}
		table[want][got]++
		count.add(reached.Contains(uint32(row)), got == want)
	}
	if t.Accuracies = count.accuracies(); t.Nodes == 0 {
		return nil
	}
	t.MacroF1 = table.macroF1(blank)
	return &t
}

// classOfRow returns the class of each of n rows, [Unlabelled] for those without.
func classOfRow(l *nodefile.Labels, n int) []int32 {
	class := slices.Repeat([]int32{Unlabelled}, n)
	for i, row := range l.Row {
		class[row] = int32(l.Class[i])
	}
	return class
}

package problem

import (
	"cmp"
	"math"
	"slices"
)

// HighestCount is the number of scores of each node in [Highest].
const HighestCount = 3

// Highest has the highest scores of each node, by falling score and then by class. It replaces a block of all scores that
// does not fit the memory.
type Highest struct {
	class []int32 // HighestCount for each node, −1 for none
	score []float32
	sum   []float64 // sums of the scores of all classes

	labels     []labelScore
	isLabelled []uint64 // a bit for each node
}

type labelScore struct {
	node  int
	class int32
	score float32
}

// NewHighest returns a Highest of n nodes, without scores yet. For each node labelled[i] it also keeps the score of class
// labels[i], even if this is low.
func NewHighest(n int, labelled, labels []int) *Highest {
	h := &Highest{
		class: slices.Repeat([]int32{-1}, n*HighestCount),
		score: make([]float32, n*HighestCount), sum: make([]float64, n),
		isLabelled: make([]uint64, n/64+1),
	}
	for i, node := range labelled {
		h.labels = append(h.labels, labelScore{node: node, class: int32(labels[i])})
		h.isLabelled[node/64] |= 1 << (node % 64)
	}
	slices.SortFunc(h.labels,
		func(a, b labelScore) int { return cmp.Compare(a.node, b.node) })
	return h
}

// label returns the entry with the label of a node and the label's score. For a node without a label it returns nil.
func (h *Highest) label(node int) *labelScore {
	if h.isLabelled[node/64]>>(node%64)&1 == 0 {
		return nil
	}
	i, _ := slices.BinarySearchFunc(h.labels, node,
		func(l labelScore, node int) int { return cmp.Compare(l.node, node) })
	return &h.labels[i]
}

// HighestBytes returns the memory of the highest scores of n nodes.
func HighestBytes(n int) int64 {
	return int64(n) * (8*HighestCount + 8 + 1)
}

// Add adds the scores of a node for the classes first, first+1, …. The classes of a node must be
// added in increasing order.
func (h *Highest) Add(node, first int, scores []float32) {
	class, score := h.of(node)
	if l := h.label(node); l != nil && first <= int(l.class) && int(l.class) < first+len(scores) {
		l.score = scores[int(l.class)-first]
	}
	for c, v := range scores {
		h.sum[node] += float64(v)
		if class[HighestCount-1] < 0 || v > score[HighestCount-1] {
			class[HighestCount-1] = int32(first + c)
			score[HighestCount-1] = v
			sink(class, score)
		}
	}
}

func (h *Highest) of(node int) ([]int32, []float32) {
	lo, hi := node*HighestCount, (node+1)*HighestCount
	return h.class[lo:hi], h.score[lo:hi]
}

// sink moves the last class and its score to their place in the order of [Highest].
func sink(class []int32, score []float32) {
	for i := len(class) - 1; i > 0; i-- {
		upper := score[i-1]
		lower := score[i]
		if class[i-1] >= 0 &&
			(upper > lower || upper == lower && class[i-1] < class[i]) {
			return
		}
		class[i-1], class[i], score[i-1], score[i] = class[i], class[i-1],
			lower, upper
	}
}

// Set replaces the scores of a node.
func (h *Highest) Set(node int, scores []float32) {
	class, score := h.of(node)
	for i := range class {
		class[i] = -1
		score[i] = 0
	}
	h.sum[node] = 0
	h.Add(node, 0, scores)
}

// Normalize divides the scores of a node by their sum over all classes, if the sum is above 0 and differs from 1 by more
// than tolerance. It reports whether the sum is above 0.
func (h *Highest) Normalize(node int, tolerance float64) bool {
	sum := h.sum[node]
	if math.Abs(sum-1) <= tolerance || !(sum > 0) {
		return sum > 0
	}
	if l := h.label(node); l != nil {
		l.score = float32(float64(l.score) / sum)
	}
	class, score := h.of(node)
	for i := range score {
		score[i] = float32(float64(score[i]) / sum)
		sink(class[:i+1], score[:i+1]) // rounding may have made neighbours equal
	}
	return true
}

// Class returns the class with the highest score of a node.
func (h *Highest) Class(node int) int {
	return int(h.class[node*HighestCount])
}

// RowTo stores in dst the highest scores of a node and the score of its label, each at the position of its class, and 0 for
// other classes.
func (h *Highest) RowTo(dst []float64, node int) {
	clear(dst)
	if l := h.label(node); l != nil && int(l.class) < len(dst) {
		dst[l.class] = float64(l.score)
	}
	class, score := h.of(node)
	for i, c := range class {
		if 0 <= c && int(c) < len(dst) {
			dst[c] = float64(score[i])
		}
	}
}

package choose

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// LabelF1 returns the F1 of predicted labels, see [SetF1], by the protocol of DeepWalk (Perozzi, Al-Rfou, Skiena 2014).
// For an item with m labels it predicts the m labels with the highest scores. Of labels with equal scores it takes the
// lower label.
func LabelF1(sets [][]int, labels int,
	scores func(item int) []float64) (micro, macro, stderr float64) {
	var order []int
	return SetF1(sets, labels, func(item int) []int {
		order = likeliest(order, scores(item), len(sets[item]))
		return order
	})
}

// SetF1 returns the F1 of predicted sets of labels. With the numbers tp, fp and fn of right, wrong and missing predictions
// of a label, micro is 2Σtp/(2Σtp + Σfp + Σfn) over all labels, and macro is the mean of 2tp/(2tp + fp + fn). A label that
// no item has and that is never predicted counts as 0. stderr is the error of micro as a ratio of sums over items.
func SetF1(sets [][]int, labels int,
	predicted func(item int) []int) (micro, macro, stderr float64) {
	right := make([]float64, labels)
	total := make([]float64, labels)
	itemRight := make([]float64, len(sets))
	itemTotal := make([]float64, len(sets))
	for i, set := range sets {
		list := predicted(i)
		itemTotal[i] = float64(len(set) + len(list))
		for _, c := range set {
			total[c]++
		}
		for _, c := range list {
			total[c]++
			if slices.Contains(set, c) {
				right[c] += 2
				itemRight[i] += 2
			}
		}
	}
	for c, count := range right {
		if count > 0 {
			macro += count / total[c] / float64(labels)
		}
	}
	sum := max(1, floats.Sum(itemTotal))
	micro = floats.Sum(itemRight) / sum
	floats.AddScaled(itemRight, -micro, itemTotal)
	return micro, macro, math.Sqrt(Nearness) * floats.Norm(itemRight, 2) / sum
}

func likeliest(dst []int, scores []float64, count int) []int {
	dst = dst[:0]
	for c := range scores {
		dst = append(dst, c)
	}
	slices.SortFunc(dst, func(a, b int) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), a-b) })
	return dst[:min(count, len(dst))]
}

// LabelThreshold returns the t with the largest micro-F1 of predicting labels with a probability of at least t,
//
//	2·right/(predicted + had),
//
// on items with known sets of labels. It returns the largest of equal t. A threshold for each label is less accurate for
// labels with few items; compare Fan, Lin, A study on threshold selection for multi-label classification (2007). Cost:
// sorting items × labels numbers.
func LabelThreshold(sets [][]int, probabilities func(item int) []float64) float64 {
	type pair struct {
		p     float64
		right bool
	}
	var pairs []pair
	had := 0
	for i, set := range sets {
		had += len(set)
		for c, p := range probabilities(i) {
			pairs = append(pairs, pair{p, slices.Contains(set, c)})
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Compare(b.p, a.p) })
	best := 1.0
	highest := 0.0
	right := 0
	for i, candidate := range pairs {
		if candidate.right {
			right++
		}
		if i+1 < len(pairs) && pairs[i+1].p == candidate.p {
			continue
		}
		if f := 2 * float64(right) / float64(i+1+had); f > highest {
			best = candidate.p
			highest = f
		}
	}
	return best
}

// LabelsAbove returns the labels whose probability is at least t, in their order. If there are none, it returns the
// likeliest label, the first in a tie.
func LabelsAbove[T float32 | float64](probabilities []T, t T) (set []int) {
	best := 0
	for c, p := range probabilities {
		if p >= t {
			set = append(set, c)
		}
		if p > probabilities[best] {
			best = c
		}
	}
	if set == nil {
		set = []int{best}
	}
	return set
}

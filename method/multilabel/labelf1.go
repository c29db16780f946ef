package multilabel

import (
	"cmp"
	"slices"
)

// labelF1 scores the ranking of labels by the protocol of DeepWalk (Perozzi, Al-Rfou,
// Skiena 2014): of each item as many labels are predicted as it has, those of the
// highest scores, the lower label first among equals.
func labelF1(sets [][]int, labels int,
	scores func(item int) []float64) (micro, macro float64) {
	var order []int
	return setF1(sets, labels, func(item int) []int {
		order = likeliest(order, scores(item), len(sets[item]))
		return order
	})
}

// setF1 returns the F1 of predicted sets of labels. With the numbers tp, fp and fn of right, wrong
// and missing predictions of a label, micro is 2Σtp/(2Σtp + Σfp + Σfn) over all labels, and macro
// the mean of 2tp/(2tp + fp + fn), which is 0 for a label that no item has or is given.
func setF1(sets [][]int, labels int,
	predicted func(item int) []int) (micro, macro float64) {
	if labels == 0 {
		return 0, 0
	}
	right := make([]int, labels)
	predictions := make([]int, labels)
	had := make([]int, labels)
	for i, set := range sets {
		for _, c := range set {
			had[c]++
		}
		for _, c := range predicted(i) {
			predictions[c]++
			if slices.Contains(set, c) {
				right[c]++
			}
		}
	}
	hits := 0
	total := 0
	for c := range labels {
		hits = hits + 2*right[c]
		total = total + predictions[c] + had[c]
		if right[c] > 0 {
			macro += 2 * float64(right[c]) / float64(predictions[c]+had[c])
		}
	}
	return float64(hits) / float64(max(1, total)), macro / float64(labels)
}

// likeliest stores in dst the count labels of the highest scores, best first, the lower
// one first among equals.
func likeliest(dst []int, scores []float64, count int) []int {
	dst = dst[:0]
	for c := range scores {
		dst = append(dst, c)
	}
	slices.SortFunc(dst, func(a, b int) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), a-b) })
	return dst[:min(count, len(dst))]
}

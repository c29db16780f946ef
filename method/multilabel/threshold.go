package multilabel

import (
	"cmp"
	"slices"
)

// threshold returns the number t for which predicting the labels of a probability of at least t has the
// largest micro-F1,
//
//	2·right/(predicted + had),
//
// on items with known sets of labels, the largest t of several. One threshold for all labels is more accurate
// than one for each: those of labels with few items are chosen by luck. Compare Fan, Lin, A study on
// threshold selection for multi-label classification (2007). Cost: sorting items × labels numbers.
func threshold(sets [][]int, probabilities func(item int) []float64) float64 {
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

// above returns the labels whose probability is at least t, in their order, or else the first of the
// likeliest.
func above[T float32 | float64](probabilities []T, t T) (set []int) {
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

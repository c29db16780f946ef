package choose

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// dealTo deals the shuffled items of each group to the folds in turn, without a gap between groups, so that folds have equal
// sizes.
func dealTo(fold []int, groups [][]int, count int, rng *rand.Rand) {
	next := 0
	for _, items := range groups {
		shuffle(rng, items)
		for _, i := range items {
			fold[i] = next
			next = (next + 1) % count
		}
	}
}

func shuffle(rng *rand.Rand, items []int) {
	rng.Shuffle(len(items),
		func(i, j int) { items[i], items[j] = items[j], items[i] })
}

// Sample returns a stratified sample of about limit of the items 0 … len(class)−1, in increasing order. If there are at most
// limit items, it returns all. Every class keeps its share, rounded to whole items, and at least two items if it has two. A
// sample of many classes may therefore exceed limit. Each stream gives another draw from the same seed.
func Sample(class []int, limit int, seed, stream uint64) []int {
	rng := newRand(seed, streamSample|stream)
	var sample []int
	for _, nodes := range groupByClass(class) {
		share := int(math.Round(float64(len(nodes)) * float64(limit) / float64(len(class))))
		shuffle(rng, nodes)
		sample = append(sample, nodes[:min(len(nodes), max(share, 2))]...)
	}
	slices.Sort(sample)
	return sample
}

// Majority returns the most frequent class; if several are equally frequent, the lowest of them.
func Majority(class []int) int {
	counts := append(countsOf(class), 0)
	return slices.Index(counts, slices.Max(counts))
}

// TooFew reports whether fewer than two classes have two or more labels. Then hidden labels say nothing about accuracy.
func TooFew(class []int) bool {
	several := 0
	for _, count := range countsOf(class) {
		if count > 1 {
			several++
		}
	}
	return several < 2
}

func membersOf(class []int) (members [][]int) {
	for _, count := range countsOf(class) {
		members = append(members, make([]int, 0, count))
	}
	for i, c := range class {
		members[c] = append(members[c], i)
	}
	return members
}

// groupByClass returns the positions of the items of each class that has items. Classes are ordered by their first item.
func groupByClass(class []int) [][]int {
	groups := slices.DeleteFunc(membersOf(class),
		func(positions []int) bool { return len(positions) == 0 })
	slices.SortFunc(groups, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	return groups
}

func countsOf(class []int) (counts []int) {
	for _, c := range class {
		for len(counts) <= c {
			counts = append(counts, 0)
		}
		counts[c]++
	}
	return counts
}

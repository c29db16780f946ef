package papers

import (
	"cmp"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

var assignParam = param.Param{
	Name: "assign", Meaning: "each node its likeliest class, or each class its share of the nodes", Kind: param.Choice,
	Words: []string{"likeliest", "shares"}, Default: param.Of("likeliest"),
}

// assignShares returns the class of every node. Class c has the same share μ_c among the n unlabelled nodes as among the
// labels: it gets n·μ_c nodes, rounded by largest remainder. One class after another takes the likeliest of the remaining
// nodes, by the softmax of the scores f plus offset. If probabilities agree to 9 decimals, it takes the first node (Gärtner,
// Le and Smola 2006, section 1.5).
func assignShares(f *sparse.Block[float64], offset []float64, s cwk.Seeds) []int {
	class := slices.Repeat([]int{-1}, f.Rows)
	free := make([]int, 0, f.Rows)
	for i, row := range s.Row {
		class[row] = s.Class[i]
	}
	for i, c := range class {
		if c < 0 {
			free = append(free, i)
		}
	}
	weighed := make([]float64, f.Cols)
	share := make([]float64, f.Cols)
	likely := make([]float64, f.Rows)
	for c, quota := range quotas(countsOf(s), len(free)) {
		for _, i := range free {
			copy(weighed, f.Row(i))
			for j, x := range offset {
				weighed[j] += x
			}
			classify.Softmax(share, weighed)
			likely[i] = math.Round(share[c] * 1e9)
		}
		slices.SortFunc(free,
			func(a, b int) int { return cmp.Or(cmp.Compare(likely[b], likely[a]), cmp.Compare(a, b)) })
		for _, i := range free[:quota] {
			class[i] = c
		}
		free = free[quota:]
	}
	return class
}

func countsOf(s cwk.Seeds) []int {
	count := make([]int, s.Classes)
	for _, c := range s.Class {
		count[c]++
	}
	return count
}

// quotas divides n in proportion to count, by largest remainder. Of equal remainders the first wins.
func quotas(count []int, n int) []int {
	total := 0
	for _, m := range count {
		total += m
	}
	quota := make([]int, len(count))
	order := make([]int, len(count))
	left := n
	for c, m := range count {
		order[c] = c
		quota[c] = m * n / total
		left -= quota[c]
	}
	slices.SortStableFunc(order,
		func(a, b int) int { return cmp.Compare(count[b]*n%total, count[a]*n%total) })
	for _, c := range order[:left] {
		quota[c]++
	}
	return quota
}

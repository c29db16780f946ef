package lanczos

import (
	"cmp"
	"slices"

	"github.com/heatwalk/heatwalk/sparse"
)

func (e *eigenproblem) weightsOf(v []float64, n int) []float64 {
	if v == nil {
		if e.isolated == 0 {
			return nil
		}
		v = slices.Repeat([]float64{1}, n)
	}
	for _, i := range e.Excluded {
		v[i] = 0
	}
	return v
}

// search returns how many pairs of the rows with edges must be found for k pairs of the matrix.
func (e *eigenproblem) search(k int) int {
	switch {
	case e.edged == 0:
		return 0
	case e.isolatedComeFirst() && !e.Beyond:
		k = max(min(k, e.Known.Count(e.team)), k-e.isolated)
	}
	return min(k, e.edged)
}

func (e *eigenproblem) isolatedComeFirst() bool {
	if e.Known == nil || e.isolated == 0 {
		return false
	}
	value := e.Known.Value
	if e.value != nil {
		value = e.value(value)
	}
	return value == e.zero
}

// firstIsolated returns the first isolated rows in the order of the matrix, at most k. A row of another
// process is −1.
func (e *eigenproblem) firstIsolated(k int) []int {
	var here []float64
	for _, i := range e.Excluded {
		if e.team.Counts(int(i)) {
			here = append(here, float64(e.team.Row(int(i))))
		}
	}
	slices.Sort(here)
	first := e.team.Concat(here[:min(k, len(here))])
	slices.Sort(first)
	rows := slices.Repeat([]int{-1}, min(k, e.isolated))
	for _, i := range e.Excluded {
		if place, _ := slices.BinarySearch(first, float64(e.team.Row(int(i)))); place < len(rows) {
			rows[place] = int(i)
		}
	}
	return rows
}

// pair is an eigenvalue and the index of its vector: a column, or −1 − p for the isolated node at place p.
type pair struct {
	value float64
	index int
}

func (e *eigenproblem) compare(a, b pair) int {
	if e.which == Largest {
		return cmp.Compare(b.value, a.value)
	}
	return cmp.Compare(a.value, b.value)
}

// join merges the pairs found with the pairs of isolated nodes, and returns the first k.
func (e *eigenproblem) join(pairs *Pairs, n, k int) *Pairs {
	var sorted []pair
	var rows []int // rows of isolated nodes
	for j, v := range pairs.Values {
		sorted = append(sorted, pair{v, j})
	}
	if !e.Beyond && !(e.Problem.Positive && e.zero <= 0) {
		var isolated []pair
		rows = e.firstIsolated(k)
		for j := range rows {
			isolated = append(isolated, pair{e.zero, -1 - j})
		}
		if e.isolatedComeFirst() { // regardless of rounding in the other values
			sorted = slices.Insert(sorted, pairs.Known, isolated...)
		} else {
			sorted = append(sorted, isolated...)
			slices.SortStableFunc(sorted[pairs.Known:], e.compare)
		}
	}
	sorted = sorted[:min(k, len(sorted))]
	out := *pairs
	out.Values = nil
	out.Residuals = nil
	out.Known = 0
	out.Converged = max(0, len(sorted)-(len(pairs.Values)-pairs.Converged))
	out.Vectors = nil
	if len(sorted) > 0 {
		out.Vectors = sparse.NewBlock[float64](n, len(sorted))
	}
	for j, p := range sorted {
		out.Values = append(out.Values, p.value)
		if p.index < 0 {
			if i := rows[-1-p.index]; i >= 0 {
				out.Vectors.Row(i)[j] = 1
			}
			out.Residuals = append(out.Residuals, 0)
		} else {
			for i := range n {
				out.Vectors.Row(i)[j] = pairs.Vectors.Row(i)[p.index]
			}
			out.Residuals = append(out.Residuals, pairs.Residuals[p.index])
		}
		if j == out.Known && (p.index < 0 || p.index < pairs.Known) {
			out.Known++
		}
	}
	return &out
}

package choose

import (
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/sparse"
)

// Tests are test nodes with the values of a kernel between them and the items that
// models have learned from.
type Tests struct {
	Values  *sparse.Block[float64]
	First   int   // row of the first one
	Y       []int // classes of the items
	Class   []int // of the test nodes
	Largest int   // the answer where there is no model, or no item is related
}

// Count adds the right answers of each model, nil for none, to hits.
func (t *Tests) Count(models []*classify.Model, hits []int64) {
	if models[0] != nil && models[0].Machines != nil && t.First == t.Values.Cols {
		t.countDual(models, hits)
		return
	}
	for j, class := range t.Class {
		row, self := t.Values.Row(t.First+j), 0.0
		if len(row) > t.First+j {
			self = row[t.First+j]
		}
		isRelated := related(row, t.Y)
		for s, model := range models {
			answer := t.Largest
			if model != nil && isRelated {
				answer = model.Pairs.Predict(model.ScoresTo(nil, row, self))
			}
			if answer == class {
				hits[s]++
			}
		}
	}
}

// countDual is Count of models that are all nil or have machines, which decide
// on many nodes at a time.
func (t *Tests) countDual(models []*classify.Model, hits []int64) {
	items := t.Values.Cols
	columns := make([]float64, items*NodesAtATime)
	var decisions [][]float64 // by machine and node
	var one []float64         // on one node
	for lo := 0; lo < len(t.Class); lo += NodesAtATime {
		class := t.Class[lo:min(lo+NodesAtATime, len(t.Class))]
		var unrelated [NodesAtATime]bool
		for j := range class {
			row := t.Values.Row(t.First + lo + j)
			unrelated[j] = !related(row, t.Y)
			for item, v := range row {
				columns[item*NodesAtATime+j] = v
			}
		}
		for s, dual := range models {
			if dual != nil {
				for len(decisions) < len(dual.Machines) {
					decisions = append(decisions, make([]float64, NodesAtATime))
				}
				for m := range dual.Machines {
					ImageTo(decisions[m], &dual.Machines[m], 1, func(item int) []float64 { return columns[item*NodesAtATime:][:NodesAtATime] })
					for j := range decisions[m] {
						decisions[m][j] -= dual.Machines[m].Rho
					}
				}
			}
			for j, c := range class {
				answer := t.Largest
				if dual != nil && !unrelated[j] {
					one = one[:0]
					for m := range dual.Machines {
						one = append(one, decisions[m][j])
					}
					answer = dual.Pairs.Predict(one)
				}
				if answer == c {
					hits[s]++
				}
			}
		}
	}
}

// MeanDiagonal returns one over the mean value between each of the first items and
// itself, 1 if that is not positive.
func MeanDiagonal(k *sparse.Block[float64], items int) float64 {
	var trace float64
	for i := range items {
		trace += k.Row(i)[i]
	}
	if !(trace > 0) {
		return 1
	}
	return float64(items) / trace
}

// Rescale divides a block of items among themselves by the mean of its diagonal, if that is
// positive, and returns the factor.
func Rescale(k *sparse.Block[float64]) float64 {
	f := MeanDiagonal(k, k.Rows)
	Scale(k, f)
	return f
}

// Scale multiplies a block by f.
func Scale(k *sparse.Block[float64], f float64) {
	for i := range k.Rows {
		row := k.Row(i)
		for j := range row {
			row[j] *= f
		}
	}
}

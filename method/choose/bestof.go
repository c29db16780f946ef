package choose

import "github.com/heatwalk/heatwalk/method/problem"

// BestOf returns the position of the predictions in list that are right most often, at the labels that all of list predict.
// Of equal predictions it takes the first. For each fold of these labels, held has the predictions that are best in the other
// folds.
func BestOf(p *problem.Problem, list []*Held, seed uint64) (best int, held *Held) {
	rows := make([]map[int]HeldRow, len(list)) // by predictions and label
	for s, h := range list {
		rows[s] = map[int]HeldRow{}
		for _, row := range h.Rows {
			rows[s][row.Label] = row
		}
	}
	fold := ToMeasure(p, len(p.Row), seed).Of
	right := make([]map[int]int, len(list)) // right predictions by predictions and fold, all: −1
	for s := range right {
		right[s] = map[int]int{}
	}
	var labels []int
	for i, class := range p.Class {
		isCommon := true
		for s := range rows {
			_, isHeld := rows[s][i]
			isCommon = isCommon && isHeld
		}
		if !isCommon {
			continue
		}
		labels = append(labels, i)
		for s := range rows {
			if rows[s][i].Class == class {
				right[s][fold[i]]++
				right[s][-1]++
			}
		}
	}
	bestOutside := func(hidden int) (best int) {
		count := func(s int) int {
			if hidden < 0 {
				return right[s][-1]
			}
			return right[s][-1] - right[s][hidden]
		}
		for s := range list {
			if count(s) > count(best) {
				best = s
			}
		}
		return best
	}
	held = new(Held)
	for _, i := range labels {
		held.Rows = append(held.Rows, rows[bestOutside(fold[i])][i])
	}
	return bestOutside(-1), held
}

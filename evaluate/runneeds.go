package evaluate

import (
	"math"

	"github.com/heatwalk/heatwalk/method"
)

// RunNeeds returns what [Run] takes: the most that one of its methods does at
// one of its training sizes. Sweeps are −1: how many there are depends on what
// is chosen.
func RunNeeds(p *method.Problem, plan *Plan) (method.Needs, error) {
	most := method.Needs{Sweeps: method.UnknownSweeps}
	take := func(n method.Needs, err error) error {
		if n.Bytes > most.Bytes {
			most.Bytes, most.Phase = n.Bytes, n.Phase
		}
		most.Sure, most.RowBytes = max(most.Sure, n.Sure), max(most.RowBytes, n.RowBytes)
		return err
	}
	set := plan.Settings.WithDefaults()
	trained := func(size int) *method.Problem {
		positions := make([]int, size)
		for i := range positions {
			positions[i] = i * len(p.Row) / size
		}
		return p.At(positions)
	}
	sizes := plan.trainingSizes(p)
	for _, size := range sizes {
		for _, m := range plan.entries(&set) {
			if err := take(method.PredictNeeds(m.Method, trained(size), nil, m.Settings)); err != nil {
				return most, err
			}
		}
	}
	if plan.TuningSplits == 0 || plan.Given != nil {
		return most, nil
	}
	if len(plan.TuneAt) > 0 {
		sizes = nil
		for _, f := range plan.TuneAt {
			sizes = append(sizes, plan.trainedAt(p, f))
		}
	}
	for _, size := range sizes {
		for _, m := range plan.entries(&set) {
			if err := take(method.TuneNeeds(m.Method, trained(size), p, m.Settings)); err != nil {
				return most, err
			}
		}
	}
	return most, nil
}

// trainingSizes returns the number of training nodes of each size.
func (plan *Plan) trainingSizes(p *method.Problem) (sizes []int) {
	switch {
	case plan.Given != nil:
		return []int{len(plan.Given.Train)}
	case plan.Folds != 0 && plan.Inverse:
		return []int{plan.trainedAt(p, 1/float64(plan.Folds))}
	case plan.Folds != 0:
		return []int{plan.trainedAt(p, 1-1/float64(plan.Folds))}
	case len(plan.PerClass) > 0:
		for _, each := range plan.PerClass {
			sizes = append(sizes, min(each*len(p.Names), len(p.Row)))
		}
		return sizes
	}
	for _, f := range plan.Fractions {
		sizes = append(sizes, plan.trainedAt(p, f))
	}
	return sizes
}

// trainedAt bounds the number of training nodes at a fraction.
func (plan *Plan) trainedAt(p *method.Problem, fraction float64) int {
	return max(1, min(len(p.Row), int(math.Ceil(fraction*float64(len(p.Row))))+len(p.Names)))
}

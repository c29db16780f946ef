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
	for _, size := range plan.trainingSizes(p) {
		positions := make([]int, size)
		for i := range positions {
			positions[i] = i * len(p.Row) / size
		}
		train := p.At(positions)
		for _, m := range append([]method.Method{method.Majority}, plan.Methods...) {
			if err := take(method.PredictNeeds(m, train, nil, &set)); err != nil {
				return most, err
			}
			if plan.TuningSplits > 0 && plan.Given == nil {
				if err := take(method.TuneNeeds(m, train, p, &set)); err != nil {
					return most, err
				}
			}
		}
	}
	return most, nil
}

// trainingSizes returns the number of training nodes of each size.
func (plan *Plan) trainingSizes(p *method.Problem) []int {
	switch {
	case plan.Given != nil:
		return []int{len(plan.Given.Train)}
	case plan.PerClass != 0:
		return []int{min(plan.PerClass*len(p.Names), len(p.Row))}
	}
	var sizes []int
	for _, f := range plan.Fractions {
		sizes = append(sizes, max(1, min(len(p.Row), int(math.Ceil(f*float64(len(p.Row))))+len(p.Names))))
	}
	return sizes
}

package evaluate

import (
	"math"

	"github.com/heatwalk/heatwalk/internal/sched"
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
	sizes := plan.trainingSizes(p)
	for _, size := range sizes {
		for _, m := range plan.entries(&set) {
			_, _, needs, err := plan.sideBySide(&m, p, size)
			if err := take(needs, err); err != nil {
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
			if err := take(method.TuneNeeds(m.Method, someOf(p, size), p, m.Settings)); err != nil {
				return most, err
			}
		}
	}
	return most, nil
}

// sideBytes is what predictions that are made side by side may take together.
const sideBytes = 256 << 20

// sideBySide returns how many predictions from training sets of a size are made at the
// same time, each with the settings that are returned, and what they take together. The
// sweeps over a small graph are too short to be shared among processors; a large one
// keeps these busy, and a single prediction has most of the memory.
func (plan *Plan) sideBySide(m *Entry, p *method.Problem, size int) (int, *method.Settings, method.Needs, error) {
	train := someOf(p, size)
	for lanes := min(sched.Workers(m.Settings.Workers), plan.predictions()); lanes > 1; lanes-- {
		set := *m.Settings
		set.Workers = sched.Workers(set.Workers) / lanes
		set.Memory /= int64(lanes)
		needs, err := method.PredictNeeds(m.Method, train, nil, &set)
		if all := int64(lanes) * needs.Bytes; err == nil && all <= sideBytes {
			needs.Bytes, needs.Sure = all, int64(lanes)*needs.Sure
			return lanes, &set, needs, nil
		}
	}
	needs, err := method.PredictNeeds(m.Method, train, nil, m.Settings)
	return 1, m.Settings, needs, err
}

// predictions returns how many are made at each training size.
func (plan *Plan) predictions() int {
	if plan.Given != nil {
		return 1
	}
	return plan.count()
}

// someOf returns the problem with so many of its labels.
func someOf(p *method.Problem, size int) *method.Problem {
	positions := make([]int, size)
	for i := range positions {
		positions[i] = i * len(p.Row) / size
	}
	return p.At(positions)
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

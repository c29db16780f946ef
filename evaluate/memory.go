package evaluate

import (
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/spec"
)

// SplitBytes is what a label takes in a split: its row and class in the labels and in the
// training or test set, its place in the permutation, what is predicted of it, and its score
// and place in a ranking.
const SplitBytes = 112

// Memory lists what [Run] holds: the most that one of its methods does at one of its
// training sizes.
func Memory(p *method.Problem, plan *Plan) ([]spec.Bytes, error) {
	set := plan.Settings.WithDefaults()
	entries := plan.entries(&set)
	shared, err := plan.share(p, entries)
	if err != nil {
		return nil, err
	}
	var most []spec.Bytes
	add := func(m *entry, size, lanes int, whole *method.Problem, set *method.Settings) error {
		list, _, err := method.Memory(m.Method, someOf(p, size), whole, set)
		for i := range list {
			list[i].Bytes *= int64(lanes)
		}
		most = spec.Larger(most, list)
		return err
	}
	sizes := plan.trainingSizes(p)
	for i := range entries {
		lanes, set := plan.sideBySide(&entries[i], p)
		for _, size := range sizes {
			if err := add(&entries[i], size, lanes, nil, set); err != nil {
				return nil, err
			}
		}
	}
	switch {
	case plan.TuningSplits == 0 || plan.Given != nil:
		sizes = nil
	case len(plan.TuneAt) > 0:
		sizes = nil
		for _, f := range plan.TuneAt {
			sizes = append(sizes, plan.trainedAt(p, f))
		}
	}
	for _, size := range sizes { // of tuning
		for i := range entries {
			if err := add(&entries[i], size, 1, p, entries[i].Settings); err != nil {
				return nil, err
			}
		}
	}
	return append(shared, most...), nil
}

// share gives the methods a place to keep values of kernels, where the predictions of a
// plan would otherwise compute them more than twice. It lists what these take, and what
// computing them takes beside.
func (plan *Plan) share(p *method.Problem, entries []entry) ([]spec.Bytes, error) {
	columns := 0
	for _, size := range plan.trainingSizes(p) {
		columns += size * plan.count()
	}
	if columns < 2*len(p.Row) {
		return nil, nil
	}
	methods, settings := make([]method.Method, len(entries)), make([]*method.Settings, len(entries))
	for i, e := range entries {
		methods[i], settings[i] = e.Method, e.Settings
	}
	return method.ShareKernels(p, methods, settings, plan.TuningSplits > 0 && plan.Given == nil)
}

// sideBytes is what predictions that are made side by side may take together.
const sideBytes = 256 << 20

// sideBySide returns how many predictions of a method are made at the same time, and the
// settings of each. The sweeps over a small graph are too short to be shared among
// processors; a large one keeps these busy, and a single prediction has the memory.
func (plan *Plan) sideBySide(m *entry, p *method.Problem) (lanes int, s *method.Settings) {
	largest := someOf(p, slices.Max(plan.trainingSizes(p)))
	for lanes = min(sched.Workers(m.Settings.Workers), plan.count()); lanes > 1; lanes-- {
		set := *m.Settings
		set.Workers = sched.Workers(set.Workers) / lanes
		if set.Memory > 0 { // 0 is no limit
			set.Memory = max(1, set.Memory/int64(lanes))
		}
		set.Progress = nil // of one prediction among several
		list, _, err := method.Memory(m.Method, largest, nil, &set)
		if err == nil && int64(lanes)*spec.Sum(list) <= sideBytes {
			return lanes, &set
		}
	}
	return 1, m.Settings
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

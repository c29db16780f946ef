package evaluate

import (
	"math"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/internal/sched"
)

// RunNeeds returns what [Run] takes: the most that one of its methods does at
// one of its training sizes. Sweeps are −1: how many there are depends on what
// is chosen.
func RunNeeds(p *Problem, plan *Plan) (Needs, error) {
	most := Needs{Sweeps: depends}
	take := func(n Needs, err error) error {
		if n.Bytes > most.Bytes {
			most.Bytes, most.Phase = n.Bytes, n.Phase
		}
		most.Sure, most.RowBytes = max(most.Sure, n.Sure), max(most.RowBytes, n.RowBytes)
		return err
	}
	set := plan.Settings.filled()
	for _, size := range plan.trainingSizes(p) {
		positions := make([]int, size)
		for i := range positions {
			positions[i] = i * len(p.Row) / size
		}
		train := p.at(positions)
		for _, m := range append([]Method{majority{}}, plan.Methods...) {
			if err := take(PredictNeeds(m, train, nil, &set)); err != nil {
				return most, err
			}
			if walks, ok := m.(walkMethod); ok && !walks.inside && plan.TuningSplits > 0 && plan.Given == nil {
				one := set
				one.Learner = walks.learner
				if err := take(tuningNeeds(train, p, &one)); err != nil {
					return most, err
				}
			}
		}
	}
	return most, nil
}

// trainingSizes returns the number of training nodes of each size.
func (plan *Plan) trainingSizes(p *Problem) []int {
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

// tuningNeeds returns what a choice on splits takes whose training sets are
// like that of train.
func tuningNeeds(train, all *Problem, s *Settings) (Needs, error) {
	a, err := newAccount(train, s)
	if err != nil {
		return Needs{}, err
	}
	set := a.left()
	folds, g := set.folds(len(train.Row)), set.Grid
	c := &chooser{p: train, set: set, fold: Folds(train.Class, folds, set.RNGSeed), seen: sample(train.Class, set.tried(), set.RNGSeed, 0)}
	tests := min(maxTested, len(all.Row)-len(train.Row)+len(all.Names))
	for i := range tests {
		c.picks = append(c.picks, cwk.Pick{Row: all.Row[i%len(all.Row)]})
	}
	for range g.Features {
		for i, node := range c.seen {
			c.picks = append(c.picks, cwk.Pick{Row: train.Row[node], Variant: 1 + i%folds})
		}
	}
	together := c.together()
	for lo := 0; lo < len(g.Alpha); lo += together {
		w, picks := c.slabWalk(lo, min(lo+together, len(g.Alpha)))
		need, err := w.CollectNeeds(g.MinSteps, picks)
		a.row = max(a.row, need.RowBytes)
		if err == nil {
			err = a.phase(need.Bytes, "walks to tune by")
		}
		if err == nil {
			features := w.PickedBytes(g.MinSteps, len(picks))
			workers := int64(min(sched.Workers(set.Workers), len(g.Features)*len(g.Alpha)))
			err = a.phase(features+workers*a.tester(len(c.seen), tests), "machines to tune by")
		}
		if err != nil {
			return Needs{}, err
		}
	}
	needs := a.needs()
	needs.Sweeps = depends
	return needs, nil
}

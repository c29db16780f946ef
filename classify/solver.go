package classify

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// costSolver fits many small classifiers one after the other in the same memory. The
// zero value is ready for use; it is not safe for concurrent use.
//
// The models it returns share its memory and are valid until its next call.
type costSolver struct {
	// SVM holds the settings. Cost is not used.
	SVM SVM

	groups groups
	pairs  Pairs
	diag   []float64 // K(i, i) of the used items
	single []trainer[float32]
	double []trainer[float64]
	models []Model
	cells  []Machine
}

// path fits a model for each of the increasing costs, each starting from the
// one before, and returns them in order. Within the tolerance they are the
// models that [SVM.Fit] gives for each cost. They are valid until the next
// call.
//
// With [ErrIterationLimit] the models are returned too.
func (s *costSolver) path(ctx context.Context, k Gram, y []int, classes int, costs []float64) ([]Model, error) {
	set := s.SVM.filled()
	if err := cmp.Or(set.validate(classes), validateCosts(costs)); err != nil {
		return nil, err
	}
	if err := s.groups.setTwo(k.Len(), y, classes); err != nil {
		return nil, err
	}
	s.pairs = s.groups.pairs(s.pairs[:0], set.OneVsRest)
	s.diag = diagonal(s.diag, k, s.groups.items)
	n := len(s.pairs)
	s.models = resize(s.models, len(costs))
	s.cells = resize(s.cells, len(costs)*n)
	for c := range s.models {
		s.models[c] = Model{Classes: classes, Items: k.Len(), Pairs: s.pairs, Machines: s.cells[c*n : (c+1)*n]}
	}
	var err error
	if set.rounded() {
		err = pathTo(ctx, s, &s.single, &set, k, costs)
	} else {
		err = pathTo(ctx, s, &s.double, &set, k, costs)
	}
	if err != nil && !errors.Is(err, ErrIterationLimit) {
		return nil, err
	}
	return s.models, err
}

// pathTo trains the classifiers of the models of s on kernel values rounded to T, several at a
// time.
func pathTo[T sparse.Float](ctx context.Context, s *costSolver, trainers *[]trainer[T], set *SVM, k Gram, costs []float64) error {
	workers := min(sched.Workers(set.Workers), len(s.pairs))
	set.CacheBytes /= int64(workers)
	set.Cost = costs[0]
	for len(*trainers) < workers {
		*trainers = append(*trainers, trainer[T]{})
	}
	for w := range *trainers {
		(*trainers)[w].arena.reset()
	}
	order := s.groups.largestFirst(s.pairs)
	return machines(ctx, workers, len(order), func(worker, index int) (limited error) {
		m, t := order[index], &(*trainers)[worker]
		t.start(set, k, s.diag, &s.groups, s.pairs[m])
		for c, cost := range costs {
			if c > 0 {
				t.dual.raise(costs[c-1], cost)
			}
			if err := t.step(ctx, set, &s.models[c].Machines[m]); errors.Is(err, ErrIterationLimit) {
				limited = err
			} else if err != nil {
				return err
			}
		}
		return limited
	})
}

func validateCosts(costs []float64) error {
	if len(costs) == 0 {
		return errors.New("classify: a path without costs")
	}
	for i, c := range costs {
		if !positive(c) || i > 0 && c < costs[i-1] {
			return fmt.Errorf("classify: costs %v are not positive and increasing", costs)
		}
	}
	return nil
}

// reset makes the memory in use free again.
func (a *arena) reset() { a.index, a.coef = a.index[:0], a.coef[:0] }

package choose

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// Counts are the right predictions of candidates on held-out labels.
type Counts struct {
	Hits           // by fold and candidate: that of fold f and candidate c at f·Candidates + c
	Candidates int // number of candidates
	Folds      []FoldLabels
	Loss       []float64 // of each candidate, subtracted from its share of right predictions; nil: 0; +Inf: it is impossible

	mu        sync.Mutex // of Note
	described bool       // Folds describes the labels
}

// Note counts the predictions of a candidate for held-out labels; with a nil list the candidate is impossible. weight is
// that of a label of each class, and predict returns the predicted class. The labels and their order are the same for
// all candidates, which may be noted at the same time.
func (c *Counts) Note(candidate int, list []Outcome, loss float64, weight []float64, predict func(o *Outcome) int) {
	isRight := make([]bool, len(list))
	for i := range list {
		isRight[i] = predict(&list[i]) == list[i].Class
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Loss == nil {
		c.Loss = make([]float64, c.Candidates)
	}
	if c.Loss[candidate] = loss; list == nil {
		c.Loss[candidate] = math.Inf(1)
	}
	for i := range list {
		o := &list[i]
		labels, index, w := &c.Folds[o.Fold], o.Fold*c.Candidates+candidate, weight[o.Class]
		if o.Unreached {
			w = 0
		}
		if !c.described {
			labels.Tested++
			labels.Of += w
			if !o.Unreached {
				labels.Reached++
			}
		}
		if isRight[i] {
			c.Right[index]++
			c.Weight[index] += w
		}
	}
	c.described = c.described || list != nil
}

// FoldLabels describes the labels of a fold.
type FoldLabels struct {
	Tested  int     // labels
	Reached int     // labels that a label outside the fold reaches
	Of      float64 // the weight of the reached labels
}

// NewCounts returns the counts of candidates on folds, without a right prediction.
func NewCounts(candidates int, folds []FoldLabels) *Counts {
	return &Counts{Hits: NewHits(candidates * len(folds)), Candidates: candidates, Folds: folds}
}

// Total returns the right predictions of each candidate on all folds.
func (c *Counts) Total() []int64 {
	total := make([]int64, c.Candidates)
	for i, n := range c.Right {
		total[i%c.Candidates] += n
	}
	return total
}

// merits returns the merit of each candidate without a fold, −1 for none, and the number of
// labels behind it, see [Space.Best].
func (c *Counts) merits(hidden int) (merit []float64, tested int) {
	merit = make([]float64, c.Candidates)
	for f, labels := range c.Folds {
		if f == hidden {
			continue
		}
		tested += labels.Tested
		for i, n := range c.Right[f*c.Candidates:][:c.Candidates] {
			merit[i] += float64(n)
		}
	}
	for i, loss := range c.Loss {
		merit[i] -= loss * float64(tested)
	}
	return merit, tested
}

// best returns the candidate that the labels outside a fold choose, −1 for none.
func (c *Counts) best(s *Space, hidden int) int {
	merit, tested := c.merits(hidden)
	return s.Best(merit, tested)
}

// Search chooses a setting of a kernel and a setting of a learner.
type Search struct {
	Kernel, Learner *Space

	// Together reports that all pairs are compared at once, because fitting all settings of
	// the learner on one kernel costs little more than one. Otherwise each pair is a fit of its
	// own, and a setting is chosen on the usual kernel, then a kernel with that setting, and then
	// the setting on that kernel. Without the first step kernels would be compared with defaults
	// that may suit none of them: Gaussian processes on walks lost 7 points on polbooks.
	Together bool

	// Measure returns the counts of all pairs of the given kernels and settings, the settings
	// varying fastest.
	Measure func(ctx context.Context, kernels, settings []int) (*Counts, error)
}

// Found is the result of a [Search].
type Found struct {
	Kernel, Setting int
	Accuracy        float64 // of the chosen pair on the labels that it was chosen by, without a loss
	Stderr          float64 // its binomial standard error
	Tested          int     // labels
	Candidates      int     // pairs to choose from

	// Counts are those that the pair was chosen by: of all pairs, or of the settings on the
	// chosen kernel.
	Counts *Counts

	// HeldOut has the predictions of each label by the pair that the other folds choose.
	HeldOut Estimator
}

// Run chooses.
func (s *Search) Run(ctx context.Context) (*Found, error) {
	kernels, settings := sched.UpTo(s.Kernel.Len()), sched.UpTo(s.Learner.Len())
	if s.Together || len(kernels) == 1 || len(settings) == 1 { // else one of them would be compared twice
		both := s.both()
		counts, err := s.Measure(ctx, kernels, settings)
		if err != nil {
			return nil, err
		}
		best := counts.best(both, -1)
		f := s.found(counts, best, best/len(settings), best%len(settings))
		f.hold(counts, func(fold int) float64 {
			return counts.Weight[fold*counts.Candidates+counts.best(both, fold)]
		})
		return f, nil
	}
	usual, err := s.Measure(ctx, []int{s.Kernel.Usual}, settings)
	if err != nil {
		return nil, err
	}
	first, err := s.Measure(ctx, kernels, []int{usual.best(s.Learner, -1)})
	if err != nil {
		return nil, err
	}
	kernel := first.best(s.Kernel, -1)
	second := usual
	if kernel != s.Kernel.Usual {
		if second, err = s.Measure(ctx, []int{kernel}, settings); err != nil {
			return nil, err
		}
	}
	setting := second.best(s.Learner, -1)
	f := s.found(second, setting, kernel, setting)
	f.hold(second, func(fold int) float64 {
		if rival := first.best(s.Kernel, fold); rival != kernel { // other settings were not compared there
			return first.Weight[fold*first.Candidates+rival]
		}
		return second.Weight[fold*second.Candidates+second.best(s.Learner, fold)]
	})
	return f, nil
}

// both returns the space of all pairs.
func (s *Search) both() *Space {
	space := &Space{Usual: s.Kernel.Usual*s.Learner.Len() + s.Learner.Usual}
	space.Axes = append(append(space.Axes, s.Kernel.Axes...), s.Learner.Axes...)
	for _, isLast := range []bool{false, true} {
		first := 0
		for _, factor := range []*Space{s.Kernel, s.Learner} {
			for i := range factor.Axes {
				axis := i
				if factor.Order != nil {
					axis = factor.Order[i]
				}
				if factor.Axes[axis].Last == isLast {
					space.Order = append(space.Order, first+axis)
				}
			}
			first += len(factor.Axes)
		}
	}
	return space
}

// found returns the result for one candidate of counts.
func (s *Search) found(c *Counts, candidate, kernel, setting int) *Found {
	f := &Found{Kernel: kernel, Setting: setting, Candidates: s.Kernel.Len() * s.Learner.Len(), Counts: c}
	right := int64(0)
	for fold, labels := range c.Folds {
		f.Tested += labels.Tested
		right += c.Right[fold*c.Candidates+candidate]
	}
	if f.Tested > 0 {
		f.Accuracy = float64(right) / float64(f.Tested)
		f.Stderr = math.Sqrt(f.Accuracy * (1 - f.Accuracy) / float64(f.Tested))
	}
	return f
}

// hold counts the predictions for the labels of each fold; weight returns the weight of the
// right ones by the candidate that the other folds choose.
func (f *Found) hold(c *Counts, weight func(fold int) float64) {
	if len(c.Folds) < 2 { // no other fold to choose by
		return
	}
	for fold, labels := range c.Folds {
		if labels.Tested > 0 {
			f.HeldOut.addFold(labels, weight(fold))
		}
	}
}

// Labels describes the folds of the labels at the given positions. Of each label it takes the
// class, the fold, and whether no label outside its fold reaches it; weight is that of a label of
// each class, see [WeightsOf].
func Labels(weight []float64, class, fold, positions []int, unreached []bool) []FoldLabels {
	list := make([]FoldLabels, slices.Max(fold)+1)
	for _, i := range positions {
		labels := &list[fold[i]]
		labels.Tested++
		if !unreached[i] {
			labels.Reached++
			labels.Of += weight[class[i]]
		}
	}
	return list
}

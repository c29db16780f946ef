package choose

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// Counts are the numbers of right predictions of candidates on held-out labels. Right and Weight have fold f and candidate c
// at position f·Candidates + c. If numbers are predicted, Right has sums of merits, see [Counts.AddMerit].
type Counts struct {
	Right      []float64
	Squares    []float64 // sums of squared merits; nil: predictions are right or wrong
	Weight     []float64 // weights of the right predictions for labels that another label reaches
	Candidates int
	Folds      []FoldLabels
	Loss       []float64 // subtracted from each candidate's share of right predictions; +Inf: impossible
}

// Add counts a right prediction of a candidate for a label of a fold. weight is the weight of the label's class, or 0 if no
// label outside the fold reaches the label.
func (c *Counts) Add(candidate, fold int, weight float64) {
	c.Right[fold*c.Candidates+candidate]++
	c.Weight[fold*c.Candidates+candidate] += weight
}

// AddMerit adds the merit of a predicted number: 1 counts as a right prediction of a class, 0 as a wrong prediction.
func (c *Counts) AddMerit(candidate, fold int, merit float64) {
	if c.Squares == nil {
		c.Squares = make([]float64, len(c.Right))
	}
	c.Right[fold*c.Candidates+candidate] += merit
	c.Squares[fold*c.Candidates+candidate] += float64(merit * merit)
}

// Note counts the predicted class of a label with outcome o, if it is right. weight has the weight of each class, see
// [WeightsOf].
func (c *Counts) Note(candidate, fold, predicted int, o *Outcome,
	weight []float64) {
	switch {
	case predicted != o.Class:
	case o.Unreached:
		c.Add(candidate, fold, 0)
	default:
		c.Add(candidate, fold, weight[o.Class])
	}
}

// Join adds the counts d, of the same candidates and folds, to c.
func (c *Counts) Join(d *Counts) {
	floats.Add(c.Right, d.Right)
	floats.Add(c.Weight, d.Weight)
	for f := range c.Folds {
		c.Folds[f].Tested += d.Folds[f].Tested
	}
}

// Share adds the counts of the other processes of a team.
func (c *Counts) Share(team *sparse.Team) {
	team.Sum(c.Weight)
	team.Sum(c.Right)
}

// FoldLabels describes the labels of a fold.
type FoldLabels struct {
	Tested  int
	Reached int     // number of labels that a label outside the fold reaches
	Of      float64 // weight of the reached labels
}

// NewCounts returns the counts of candidates on folds, without a right prediction.
func NewCounts(candidates int, folds []FoldLabels) *Counts {
	return &Counts{
		Right:  make([]float64, candidates*len(folds)),
		Weight: make([]float64, candidates*len(folds)), Candidates: candidates,
		Folds: folds, Loss: make([]float64, candidates),
	}
}

// sumOutside returns for each candidate the sum of numbers, ordered as [Counts].Right, over all folds except hidden. Fold −1
// hides no fold.
func (c *Counts) sumOutside(hidden int, numbers []float64) []float64 {
	sums := make([]float64, c.Candidates)
	for f := range c.Folds {
		if f != hidden {
			floats.Add(sums, numbers[f*c.Candidates:][:c.Candidates])
		}
	}
	return sums
}

// Merits that differ by less than tie differ by rounding.
const tie = 1e-9

// Best returns the candidate of s that is best for the labels outside fold hidden, and its merit, see [Space.Best]. If
// hidden is −1, all labels count.
func (c *Counts) Best(s *Space, hidden int) (candidate int, merit float64) {
	tested := 0
	for f, labels := range c.Folds {
		if f != hidden {
			tested += labels.Tested
		}
	}
	merits := c.sumOutside(hidden, c.Right)
	floats.AddScaled(merits, -float64(tested), c.Loss)
	if c.Squares == nil {
		candidate = s.Best(merits, tested)
		return candidate, merits[candidate]
	}
	highest := floats.MaxIdx(merits)
	square := float64(merits[highest] * merits[highest])
	variance := c.sumOutside(hidden, c.Squares)[highest] - square/float64(max(1, tested))
	for i, m := range merits {
		merits[i] = math.Round(m/tie) * tie
	}
	candidate = s.BestWithin(merits, math.Sqrt(max(0, variance)))
	return candidate, merits[candidate]
}

func (c *Counts) best(s *Space, hidden int) int {
	candidate, _ := c.Best(s, hidden)
	return candidate
}

// Search chooses a setting of a kernel and a setting of a learner.
type Search struct {
	Kernel, Learner *Space

	// Together states that all pairs are compared at once, because all settings of the learner on one kernel cost little more
	// than one setting. Otherwise a setting is chosen on the default kernel, then a kernel with this setting, and then the
	// setting on this kernel.
	Together bool

	// Measure returns the counts of all pairs of the given kernels and settings, the settings
	// varying fastest.
	Measure func(ctx context.Context, kernels, settings []int) (*Counts, error)
}

// Found is the result of a [Search].
type Found struct {
	Kernel, Setting int
	Accuracy        float64 // accuracy of the chosen pair on the labels that chose it, without a loss
	Tested          int

	// Counts are the counts of all pairs, or of the settings on the chosen kernel.
	Counts *Counts

	// HeldOut has the predictions of each label by the pair that the other folds choose.
	HeldOut Estimator

	Outside []int // by fold: number of the pair that the other folds choose; nil if pairs were not compared at once
}

// Run compares the pairs, and chooses a pair by all folds, and a pair for each fold by the other folds.
func (s *Search) Run(ctx context.Context) (*Found, error) {
	kernels := sched.UpTo(s.Kernel.Len())
	settings := sched.UpTo(s.Learner.Len())
	if s.Together || len(kernels) == 1 || len(settings) == 1 { // otherwise a pair would be compared twice
		both := &Space{Axes: slices.Concat(s.Kernel.Axes, s.Learner.Axes),
			Usual: s.Kernel.Usual*s.Learner.Len() + s.Learner.Usual}
		counts, err := s.Measure(ctx, kernels, settings)
		if err != nil {
			return nil, err
		}
		best := counts.best(both, -1)
		f := found(counts, best, best/len(settings), best%len(settings))
		for fold := range counts.Folds {
			f.Outside = append(f.Outside, counts.best(both, fold))
		}
		f.hold(counts, func(fold int) float64 {
			return counts.Weight[fold*counts.Candidates+f.Outside[fold]]
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
	f := found(second, setting, kernel, setting)
	f.hold(second, func(fold int) float64 {
		if rival := first.best(s.Kernel, fold); rival != kernel { // other settings were not compared there
			return first.Weight[fold*first.Candidates+rival]
		}
		return second.Weight[fold*second.Candidates+second.best(s.Learner, fold)]
	})
	return f, nil
}

func found(c *Counts, candidate, kernel, setting int) *Found {
	f := &Found{Kernel: kernel, Setting: setting, Counts: c}
	right := 0.0
	for fold, labels := range c.Folds {
		f.Tested += labels.Tested
		right += c.Right[fold*c.Candidates+candidate]
	}
	f.Accuracy = problem.EstimateShare(right, f.Tested).Accuracy
	return f
}

// hold adds each fold of c to f.HeldOut. weight must return the weight of the right predictions in a fold by the candidate
// that the other folds choose.
func (f *Found) hold(c *Counts, weight func(fold int) float64) {
	if len(c.Folds) < 2 && c.Candidates > 1 { // no other fold to choose by
		return
	}
	for fold, labels := range c.Folds {
		if labels.Tested > 0 {
			f.HeldOut.tested += labels.Reached
			f.HeldOut.total += labels.Of
			f.HeldOut.right += weight(fold)
		}
	}
}

// Labels describes the folds of labels. weight is the result of [WeightsOf]. unreached[i] is true if no label outside the
// fold of label i reaches it, see [Task.FindIsolated]; nil: all are reached.
func Labels(weight []float64, class, fold []int, unreached []bool) []FoldLabels {
	list := make([]FoldLabels, slices.Max(fold)+1)
	for i, c := range class {
		labels := &list[fold[i]]
		labels.Tested++
		if unreached == nil || !unreached[i] {
			labels.Reached++
			labels.Of += weight[c]
		}
	}
	return list
}

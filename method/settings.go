package method

import (
	"errors"
	"fmt"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/method/internal/gram"
	"github.com/heatwalk/heatwalk/method/internal/trial"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// Settings tell how parameters are chosen and machines are trained. The zero
// value and nil are the defaults.
type Settings struct {
	Grid    *Grid     // parameters to choose from; nil: smallGrid(Plain, Honest)
	Prior   cwk.Prior // where walks without a label start; the zero value: uniform
	Folds   int       // of cross-validation and of honest features; 0: 10 up to 1,000 labels, else 5
	RNGSeed uint64    // of folds and samples

	// Given holds values of parameters of methods' declarations that are not to be
	// chosen. A method takes those that it has. Those of walks, costs and λ of support vector
	// machines and of regularised least squares are those of Grid, see [Settle].
	Given spec.Values

	// Lists holds values that are tried for parameters of declarations in place of
	// those of their grids; a method tries those that it has.
	Lists map[string][]spec.Value

	// Fixed says that parameters of declarations which are neither given nor listed
	// have their defaults, and are not chosen.
	Fixed bool

	// Raw says that the scores are kept as the method's formula gives them, see
	// [Prediction], by methods that have other ones beside probabilities.
	Raw bool

	// LowEffort leaves out of the method auto what it makes beside columns of walks and
	// attributes: eigenvectors, and scores of a diffusion kernel.
	LowEffort bool

	// Sample limits the labelled nodes on which machines are tried during the
	// choice; all labels take part in the walks. 0: 500
	Sample int

	// Trials, if not nil, are those that a choice from walks would make first.
	Trials *Trials

	// Reference, if not nil, is what [Refer] has found for the same method, problem and
	// settings: auto asks label propagation again otherwise, to the same end.
	Reference *Reference `json:"-"`

	Memory  int64 // limits what walks and features allocate, in bytes; 0: no limit
	Workers int   // goroutines, 0: one for each processor; never changes a result

	// Tally, if not nil, is what [Method.Tune] has counted so far, and goes on from.
	Tally *Tally `json:"-"`

	learner learner     // trains the last machine; the zero value: the support vector machine
	kernels *gram.Cache // keeps values of kernels for further predictions, see [ShareKernels]; nil: they are not kept

	// Progress is called now and then with the share that is done of a phase: "choose",
	// "features" or "walk". nil: nobody is told
	Progress func(phase string, done float64) `json:"-"`
}

// learner is the machine that learns from a kernel or from walk features.
type learner string

const (
	kernelSVM learner = "svm"        // classify.SVM; on walks above 10,000 labels linearSVM
	linearSVM learner = "linear-svm" // classify.LinearSVM; on walks only
	rls       learner = "rls"        // classify.FitRLS
)

func untold(string, float64) {}

// WithDefaults returns the settings with every default filled in.
func (s *Settings) WithDefaults() Settings {
	var f Settings
	if s != nil {
		f = *s
	}
	if f.Grid == nil {
		f.Grid = smallGrid(Plain, Honest)
	}
	if f.Sample == 0 {
		f.Sample = 500
	}
	if f.learner == "" {
		f.learner = kernelSVM
	}
	if f.Progress == nil {
		f.Progress = untold
	}
	return f
}

// on returns the settings with every default and the grid of their learner, for a problem
// that there is something to learn of.
func (s *Settings) on(p *Problem) (Settings, error) {
	if err := p.Validate(); err != nil {
		return Settings{}, err
	}
	set := s.WithDefaults()
	set.Grid = set.Grid.of(set.learner)
	return set, errors.Join(set.check(), set.Grid.validate())
}

// check returns what is wrong with what is not part of the grid.
func (s *Settings) check() error {
	var all []error
	if s.Folds < 0 || s.Folds == 1 {
		all = append(all, fmt.Errorf("%w: Settings.Folds: %d; give at least 2, or 0", validate.ErrUsage, s.Folds))
	}
	if s.Sample < 0 {
		all = append(all, fmt.Errorf("%w: Settings.Sample: %d is negative", validate.ErrUsage, s.Sample))
	}
	return errors.Join(all...)
}

// folds returns the number of folds for so many labels.
func (s *Settings) folds(labels int) int {
	if s.Folds > 0 {
		return min(s.Folds, labels)
	}
	return validate.FoldCount(labels)
}

// trySolved is the number of labels that least squares is tried on during the
// choice: each setting costs a factorisation.
const trySolved = 250

// tried returns the number of labels that machines are tried on.
func (s *Settings) tried() int {
	if by := s.learner.declared(); s.learner == rls || by != nil && by.Whole {
		return min(s.Sample, trySolved)
	}
	return s.Sample
}

// machinesOf returns what a choice tries.
func machinesOf(s *Settings) trial.Machines {
	return trial.Machines{
		Machine: s.machine, LeastSquares: s.learner == rls, Learner: s.learner.declared(),
		Steps: s.Grid.steps(), MinSteps: s.Grid.MinSteps, Values: s.Grid.tried(),
	}
}

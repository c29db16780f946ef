package method

import (
	"cmp"
	"context"
	"fmt"

	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/internal/ledger"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// Extended is a [Method] that tells more of itself.
type Extended interface {
	Method

	// Extend returns what there is to tell. Any field may be nil.
	Extend() Extension
}

// Extension is what is known of a method beside how it predicts.
type Extension struct {
	// Memory lists what Predict holds at a time beside the problem, the prediction included,
	// and tells how many sweeps it makes at the most; or with a second problem the same of Tune on
	// splits of that whose training sets are like p, which is nothing if the method chooses for each
	// training set anew. Of the problem's matrix the dimensions are looked at alone. The largest
	// setting counts that may be chosen. The error tells that the memory of the settings is too
	// little. nil: it holds scores alone.
	Memory func(p, tuned *Problem, s *Settings) (list []spec.Bytes, sweeps int, err error)

	// Shares returns into how many shares the choice of parameters by so many labels can be
	// divided, and what a share is called. A method that chooses among settings of walks has a
	// share for each absorption of the grid, auto one for each fold. nil or 0: it cannot.
	Shares func(s *Settings, labels int) (shares int, noun string)

	// Try makes the trials of the shares lo ≤ i < hi: of the settings with these absorptions that
	// [CrossValidate] tries first, or of the models of auto without these folds. Outcomes of ranges
	// that together cover all shares, added up, take the place of the trials of a choice as
	// Settings.Trials. A choice that then turns to long walks makes the trials of those itself.
	Try func(ctx context.Context, p *Problem, s *Settings, lo, hi int) (*Trials, error)

	// TryMemory is Memory for Try.
	TryMemory func(p *Problem, s *Settings, lo, hi int) (list []spec.Bytes, sweeps int, err error)

	// Kernel is the one whose values [ShareKernels] keeps for the method, nil: there is none, or
	// it has values of its own.
	Kernel *kernel.Family

	reckon       func(a *account) error               // adds to an account what Predict takes, from which Memory follows
	reckonTuning func(a *account, all *Problem) error // the same of Tune, nil: it chooses for each training set anew
	reckonTrials func(a *account, lo, hi int) error   // and of Try
}

// ExtensionOf returns what a method tells, all of it: with functions where it has none.
func ExtensionOf(m Method) Extension {
	var e Extension
	if more, ok := m.(Extended); ok {
		e = more.Extend()
	}
	if e.Memory == nil {
		if e.reckon == nil {
			e.reckon = func(a *account) error {
				a.Scores()
				return nil
			}
		}
		e.Memory = e.memory
	}
	if e.Shares == nil {
		e.Shares = func(*Settings, int) (int, string) { return 0, "" }
	}
	if e.Try == nil {
		e.Try = func(context.Context, *Problem, *Settings, int, int) (*Trials, error) {
			return nil, fmt.Errorf("%w: %s does not choose from walks", validate.ErrUsage, m.Name())
		}
	}
	if e.TryMemory == nil {
		e.TryMemory = e.tryMemory
	}
	return e
}

// Memory is that of [ExtensionOf] a method.
func Memory(m Method, p, tuned *Problem, s *Settings) (list []spec.Bytes, sweeps int, err error) {
	return ExtensionOf(m).Memory(p, tuned, s)
}

// memory is the Memory of a method that adds to an account.
func (e Extension) memory(p, tuned *Problem, s *Settings) (list []spec.Bytes, sweeps int, err error) {
	switch {
	case tuned == nil:
		return reckoned(p, s, e.reckon)
	case e.reckonTuning == nil:
		return nil, 0, nil
	}
	return reckoned(p, s, func(a *account) error { return e.reckonTuning(a, tuned) })
}

// tryMemory is the TryMemory of a method that adds to an account.
func (e Extension) tryMemory(p *Problem, s *Settings, lo, hi int) (list []spec.Bytes, sweeps int, err error) {
	if e.reckonTrials == nil {
		return nil, 0, nil
	}
	return reckoned(p, s, func(a *account) error { return e.reckonTrials(a, lo, hi) })
}

// addTo adds what Predict holds to an account.
func (e Extension) addTo(a *account) error {
	if e.reckon != nil {
		return e.reckon(a)
	}
	list, _, err := e.Memory(a.P, nil, a.set)
	a.PhaseOf(list, "predictions")
	return err
}

// reckoned lists what an account comes to.
func reckoned(p *Problem, s *Settings, add func(a *account) error) (list []spec.Bytes, sweeps int, err error) {
	set := s.WithDefaults()
	a := &account{ledger.New(p, set.Memory), &set}
	err = add(a)
	return a.List(), a.Sweeps, cmp.Or(a.Over(), err)
}

// account adds up what a prediction takes.
type account struct {
	*ledger.Ledger
	set *Settings
}

// left returns the settings with the memory that is left.
func (a *account) left() *Settings {
	set := *a.set
	set.Memory = a.Left()
	return &set
}

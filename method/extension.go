package method

import (
	"cmp"

	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/internal/ledger"
	"github.com/heatwalk/heatwalk/spec"
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

	// Kernel is the one whose values [ShareKernels] keeps for the method, nil: there is none, or
	// it has values of its own.
	Kernel *kernel.Family

	reckon       func(a *account) error               // adds to an account what Predict takes, from which Memory follows
	reckonTuning func(a *account, all *Problem) error // the same of Tune, nil: it chooses for each training set anew
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

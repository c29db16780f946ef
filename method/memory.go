package method

import (
	"github.com/heatwalk/heatwalk/method/internal/ledger"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// UnknownSweeps stands where what is found on the way decides how many sweeps there
// are.
const UnknownSweeps = ledger.UnknownSweeps

// reckoning is a method that holds more than scores.
type reckoning interface {
	// reckon adds to an account what Predict takes, with the given parameters or, if they
	// are nil, with the largest that may be chosen.
	reckon(a *account, par *Parameters) error
}

// tuned is a method that chooses parameters on splits.
type tuned interface {
	// reckonTuning adds to an account what Tune takes on splits of all whose training sets
	// are like that of the account.
	reckonTuning(a *account, all *Problem) error
}

// Memory lists what Predict of a method holds at a time beside the problem, the prediction
// included, and tells how many sweeps it makes at the most. Of the problem's matrix the
// dimensions are looked at alone. Without parameters it is that of the largest setting
// that may be chosen. The error tells that the memory of the settings is too little.
func Memory(m Method, p *Problem, par *Parameters, s *Settings) (list []spec.Bytes, sweeps int, err error) {
	return reckoned(p, s, func(a *account) error {
		if m, ok := m.(reckoning); ok {
			return m.reckon(a, par)
		}
		return a.Scores()
	})
}

// TuneMemory is Memory for Tune on splits whose training sets are like that of train:
// nothing if it chooses for each training set anew.
func TuneMemory(m Method, train, all *Problem, s *Settings) (list []spec.Bytes, err error) {
	if s, ok := m.(smoothed); ok {
		m = s.Method
	}
	if m, ok := m.(tuned); ok {
		list, _, err = reckoned(train, s, func(a *account) error { return m.reckonTuning(a, all) })
	}
	return list, err
}

// TryMemory is Memory for [Try].
func TryMemory(m Method, p *Problem, s *Settings, lo, hi int) (list []spec.Bytes, sweeps int, err error) {
	return reckoned(p, s, func(a *account) error {
		if walks, ok := m.(walkMethod); ok {
			a.set.learner = walks.learner
		}
		a.set.Grid = a.set.Grid.of(a.set.learner)
		if validate.TooFew(p.Class) {
			return nil
		}
		return a.choice(lo, hi)
	})
}

// reckoned lists what an account comes to.
func reckoned(p *Problem, s *Settings, add func(a *account) error) (list []spec.Bytes, sweeps int, err error) {
	set := s.WithDefaults()
	l, err := ledger.New(p, set.Memory)
	a := &account{l, &set}
	if err == nil {
		err = add(a)
	}
	return a.List(), a.Sweeps, err
}

// account adds up what a prediction takes.
type account struct {
	*ledger.Ledger
	set *Settings
}

// left returns the settings with the memory that is left.
func (a *account) left() *Settings {
	set := *a.set
	if bytes, limited := a.Plan.Left(); limited {
		set.Memory = max(1, bytes)
	}
	return &set
}

package method

import (
	"cmp"

	"github.com/heatwalk/heatwalk/method/internal/ledger"
	"github.com/heatwalk/heatwalk/spec"
)

// reckoning is a method that holds more than scores.
type reckoning interface {
	// reckon adds to an account what Predict takes, with the largest parameters that may be
	// chosen.
	reckon(a *account) error
}

// tuner is a method that chooses parameters on splits.
type tuner interface {
	// reckonTuning adds to an account what Tune takes on splits of all whose training sets
	// are like that of the account.
	reckonTuning(a *account, all *Problem) error
}

// Memory lists what Predict of a method holds at a time beside the problem, the prediction
// included, and tells how many sweeps it makes at the most; or with a second problem the same
// of Tune on splits of that whose training sets are like p, which is nothing if the method
// chooses for each training set anew. Of the problem's matrix the dimensions are looked at
// alone. The largest setting counts that may be chosen. The error tells that the memory of the
// settings is too little.
func Memory(m Method, p, tuned *Problem, s *Settings) (list []spec.Bytes, sweeps int, err error) {
	if tuned == nil {
		return reckoned(p, s, func(a *account) error {
			if m, ok := m.(reckoning); ok {
				return m.reckon(a)
			}
			a.Scores()
			return nil
		})
	}
	if m, ok := within(m).(tuner); ok {
		return reckoned(p, s, func(a *account) error { return m.reckonTuning(a, tuned) })
	}
	return nil, 0, nil
}

// TryMemory is [Memory] for [Try].
func TryMemory(m Method, p *Problem, s *Settings, lo, hi int) (list []spec.Bytes, sweeps int, err error) {
	return reckoned(p, s, func(a *account) error {
		if m, ok := m.(divided); ok {
			return m.reckonTrials(a, lo, hi)
		}
		return nil
	})
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

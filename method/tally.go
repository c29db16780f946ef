package method

import (
	"fmt"

	"github.com/heatwalk/heatwalk/validate"
)

// Tally holds what a choice on splits has counted so far. A choice whose settings have the
// tally of one that was stopped goes on from there: it counts what is missing alone.
type Tally struct {
	Stages []Stage `json:"stages"` // in the order in which the choice comes to them

	// Keep, if not nil, is called when more was counted; its error ends the choice.
	Keep func() error `json:"-"`

	at int // the next stage
}

// Stage is one part of a choice: the right answers of several settings on units of work,
// such as splits.
type Stage struct {
	Done   int     `json:"done"`   // units
	Tested int     `json:"tested"` // predictions of each setting
	Right  []int64 `json:"right"`  // by setting
}

// count returns the next stage of a choice, complete. add adds the right answers of one of
// so many units to those of so many settings, and returns how many predictions it
// tested. A nil tally has counted nothing.
func (t *Tally) count(settings, units int, add func(unit int, right []int64) (tested int, err error)) (*Stage, error) {
	if t == nil {
		t = new(Tally)
	}
	if t.at == len(t.Stages) {
		t.Stages = append(t.Stages, Stage{Right: make([]int64, settings)})
	}
	s := &t.Stages[t.at]
	t.at++
	if len(s.Right) != settings || s.Done > units {
		return nil, fmt.Errorf("%w: a tally of another choice", validate.ErrUsage)
	}
	right := make([]int64, settings)
	for s.Done < units {
		clear(right)
		tested, err := add(s.Done, right)
		if err != nil {
			return nil, err
		}
		for i, n := range right {
			s.Right[i] += n
		}
		s.Done, s.Tested = s.Done+1, s.Tested+tested
		if t.Keep != nil {
			if err := t.Keep(); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

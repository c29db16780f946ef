package shell

import (
	"fmt"
	"sync"
)

// StageCallback returns a callback that shows a stage, which begins at the first call.
func (p *Display) StageCallback(name string,
	u Unit) func(item string, done, total int64) {
	units, _ := p.Parts(name, u)
	return units
}

// Parts returns two callbacks for one stage: units shows the number of finished units, and phase the finished
// share of the current unit's phase. Shares of several units at a time do not go backwards.
func (p *Display) Parts(name string,
	u Unit) (units, phase func(name string, done, total int64)) {
	var (
		shown *Stage
		mu    sync.Mutex
		least = map[string]float64{} // the next share of each phase that is shown
	)
	begin := func() *Stage {
		if shown == nil {
			shown = p.Begin(name, 0, u)
		}
		return shown
	}
	units = func(_ string, done, total int64) {
		mu.Lock()
		defer mu.Unlock()
		clear(least)
		begin().within("")
		shown.Set(done, total)
	}
	phase = func(name string, done, total int64) {
		mu.Lock()
		defer mu.Unlock()
		text := name
		share := 100 * float64(done) / float64(max(1, total))
		switch {
		case share < least[name]:
			return
		case total > 0 && done < total:
			text = fmt.Sprintf("%s %.0f %%", name, share)
		case total > 0:
			text = "" // a finished phase is not shown, because further work without progress may follow it
		}
		least[name] = share
		begin().within(text)
	}
	return units, phase
}

// Stages returns a callback that shows a stage with the finished work and the total, which is 0 if it is not
// known.
func (p *Display) Stages(u Unit) func(stage string, done, total int64) {
	var (
		shown *Stage
		name  string
	)
	return func(stage string, done, total int64) {
		if shown == nil || stage != name {
			name, shown = stage, p.Begin(stage, total, u)
		}
		shown.Set(done, total)
	}
}

// Phases returns a callback that shows the phases of a method, one after the other, as finished shares. A
// finished phase disappears, because further work without progress may follow it. If a phase begins again,
// only its time is shown, so that shares never fall.
func (p *Display) Phases() func(name string, done, total int64) {
	var (
		shown *Stage
		phase string
		over  = map[string]bool{}
	)
	return func(name string, done, total int64) {
		if shown == nil || phase != name {
			over[phase] = true
			phase = name
			if over[name] {
				shown = p.Begin(name, 0, nothing)
			} else {
				shown = p.Begin(name, Whole, Shares)
			}
		}
		if !over[name] {
			shown.Set(int64(float64(done)/float64(max(1, total))*Whole), Whole)
		}
		if total > 0 && done >= total {
			p.End()
			shown = nil
		}
	}
}

// Write counts bytes as done.
func (s *Stage) Write(p []byte) (int, error) {
	s.done.Add(int64(len(p)))
	return len(p), nil
}

func (s *Stage) Done() int64 { return s.done.Load() }

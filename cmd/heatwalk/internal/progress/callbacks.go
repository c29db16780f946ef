package progress

import "fmt"

// Showing returns a callback that shows a stage whose work is counted in the unit, from
// its first call on.
func (p *Display) Showing(name string, u Unit) func(done, total int) {
	units, _ := p.Parts(name, u)
	return units
}

// Parts returns callbacks that show how much of a stage is done in its unit, and what
// is done of the next one: a phase and the share of it.
func (p *Display) Parts(name string, u Unit) (units func(done, total int), phase func(name string, done float64)) {
	var shown *Stage
	begin := func() {
		if shown == nil {
			shown = p.Begin(name, 0, u)
		}
	}
	units = func(done, total int) {
		begin()
		shown.within("")
		shown.Set(int64(done), int64(total))
	}
	phase = func(name string, done float64) {
		begin()
		part := ""
		if done < 1 { // what follows, such as training machines, is no part of it
			part = fmt.Sprintf("%s %.0f %%", name, 100*done)
		}
		shown.within(part)
	}
	return units, phase
}

// Stages returns a callback of the shape that libraries have: it shows a stage with the
// work that is done, counted in the unit, and with the whole work where that is known.
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

// Phases returns a callback that shows the phases of a method, one after the other. What
// follows a phase that is done, such as training machines, is no part of it.
func (p *Display) Phases() func(name string, done float64) {
	var (
		shown *Stage
		phase string
	)
	return func(name string, done float64) {
		if shown == nil || phase != name {
			phase = name
			shown = p.Begin(name, Whole, Shares)
		}
		shown.Set(int64(done*Whole), Whole)
		if done >= 1 {
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

// Done returns how much is done.
func (s *Stage) Done() int64 { return s.done.Load() }

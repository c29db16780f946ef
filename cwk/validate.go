package cwk

import (
	"errors"
	"fmt"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// ErrInvalid is wrapped by the errors of [Walk.Validate].
var ErrInvalid = errors.New("cwk: invalid walk")

// Validate returns an error that wraps [ErrInvalid], with a line for every problem. It returns another error for
// degrees that T cannot compute with.
func (w *Walk[T]) Validate() error { return w.validate(0) }

// validate is [Walk.Validate] for features from the step start on.
func (w *Walk[T]) validate(start int) error {
	var list []error
	add := func(format string, args ...any) { list = append(list, fmt.Errorf(format, args...)) }

	n := len(w.Degrees)
	team := sparse.TeamOf(w.A)
	if rows, cols := w.A.Dims(); rows != cols || rows != n {
		add("matrix is %d×%d with %d degrees; all three must be equal",
			rows, cols, n)
		n = rows
	}
	if w.Steps < 0 || w.Steps > MaxSteps {
		add("steps: %d is not in 0 … %d", w.Steps, MaxSteps)
	}
	if start < 0 || start > max(0, w.Steps) {
		add("first step: %d is not in 0 … %d", start, w.Steps)
	}
	if len(w.Variants) == 0 {
		add("variants: none given")
	}
	seedsFit := w.Seeds.problems(n, team, add)
	for g, v := range w.Variants {
		if !(v.Absorb >= 0 && v.Absorb <= 1) {
			add("variant %d: absorption %v is not in [0, 1]", g, v.Absorb)
		}
		if v.Hidden != nil && len(v.Hidden) != len(w.Seeds.Row) {
			add("variant %d: hides %d seeds of %d", g, len(v.Hidden),
				len(w.Seeds.Row))
			seedsFit = false
		}
	}
	if seedsFit {
		list = append(list, w.Prior.problems(n, team, w.Seeds, w.Variants)...)
	}
	if len(list) == 0 {
		return blocks.CheckScale[T](team, w.Degrees)
	}
	return fmt.Errorf("%w: %w", ErrInvalid, errors.Join(list...))
}

func (s Seeds) problems(n int, team *sparse.Team,
	add func(format string, args ...any)) bool {
	if s.Classes < 1 {
		add("seeds: %d classes, want at least 1", s.Classes)
	}
	if len(s.Row) != len(s.Class) {
		add("seeds: %d rows but %d classes", len(s.Row), len(s.Class))
		return false
	}
	seen := make(map[int]int, len(s.Row))
	for i, row := range s.Row {
		if row < 0 || row >= n {
			add("seed %d: row %d is not in 0 … %d", i, row, n-1)
		}
		if team != nil && row < team.First {
			add("seed %d: row %d is not a row of all processes", i, row)
		}
		if first, twice := seen[row]; twice {
			add("seed %d: row %d is seed %d already", i, row, first)
		} else {
			seen[row] = i
		}
		if c := s.Class[i]; c < 0 || c >= s.Classes {
			add("seed %d: class %d is not in 0 … %d", i, c, s.Classes-1)
		}
	}
	return true
}

package method

import (
	"context"
	"errors"
	"maps"

	"github.com/heatwalk/heatwalk/param"
)

// Settle completes entries with the settings that each of them chooses from, and returns
// those of all. The grid is "small", the usual values, "none", the defaults, "paper", those of
// the methods' papers, or a file of values by method, see docs/formats.md; of values there those for
// a method go before those for all, and an entry's own before both.
//
// Errors are joined: those of reading the
// file, an error that wraps [ErrGrid] for its contents, a [split.ErrUsage] for an entry's own values,
// a [*param.ParameterError] for a given one that leaves an entry nothing to try.
func Settle(ctx context.Context, entries []Entry, grid string) (*Settings, error) {
	base := &Settings{Fixed: grid == "none"}
	file, err := openGrid(ctx, grid)
	errs := []error{err}
	if err != nil {
		file = new(gridFile)
	}
	var methods []Method
	for i := range entries {
		e := &entries[i]
		methods = append(methods, e.Method)
		set := base.WithDefaults()
		if set.Lists, err = file.of(e.Method); err == nil {
			set.fix(e.Own)
		}
		if walks, ok := e.Method.(walkMethod); ok && err == nil {
			_, err = newGrid(&set, walks.learner)
		}
		e.Settings = &set
		errs = append(errs, err)
	}
	return base, errors.Join(append(errs, file.check(methods))...)
}

// fix moves single values of Lists to Given, and gives the parameters of own their values.
func (s *Settings) fix(own param.Values) {
	s.Given = maps.Clone(own)
	for name, list := range s.Lists {
		if len(list) == 1 && !own.Has(name) {
			s.Given[name] = list[0]
		}
		if s.Given.Has(name) {
			delete(s.Lists, name)
		}
	}
}

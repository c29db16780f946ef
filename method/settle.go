package method

import (
	"context"
	"errors"
)

// Settle completes entries with the settings that each of them chooses from, and returns
// those of all. The grid is "small", the usual values, "none", the defaults, "paper", those of
// the methods' papers, or a file of values by method, see docs/formats.md; of values there those for
// a method go before those for all, and an entry's own before both.
//
// The settings of an entry that has an error are nil. Errors are joined: those of reading the
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
		values, err := file.of(e.Method)
		errs = append(errs, err)
		if e.Settings, err = base.with(e.Method, values); err == nil {
			e.Settings, err = e.Settings.with(e.Method, e.Own)
		}
		if walks, ok := e.Method.(walkMethod); ok && err == nil {
			_, err = newGrid(e.Settings, walks.learner)
		}
		errs = append(errs, err)
	}
	return base, errors.Join(append(errs, file.check(methods))...)
}

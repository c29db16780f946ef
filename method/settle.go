package method

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/internal/textio"
	"github.com/heatwalk/heatwalk/method/split"
)

// Settle completes entries with the settings that each of them chooses from, and returns
// those of all. The grid is "small", the usual values, "none", the defaults, "paper", those of
// the methods' papers, or a file of values by method, see docs/formats.md; of values there those for
// a method go before those for all, and an entry's own before both.
//
// The settings of an entry that has an error are nil. Errors are joined: those of reading the
// file, a [*nodefile.ParseError] for a line of it, a [split.ErrUsage] for an entry's own values,
// a [*param.ParameterError] for a given one that leaves an entry nothing to try.
func Settle(ctx context.Context, entries []Entry, grid string) (*Settings, error) {
	var methods []Method
	for _, e := range entries {
		methods = append(methods, e.Method)
	}
	base := &Settings{Fixed: grid == "none"}
	lines, err := openGrid(ctx, grid, isMethod)
	errs := []error{err, checkLines(lines, methods)}
	for i := range entries {
		e := &entries[i]
		values, err := linesOf(lines, e.Method)
		errs = append(errs, err)
		if e.Settings, err = base.with(e.Method, values); err == nil {
			e.Settings, err = e.Settings.with(e.Method, e.Own)
		}
		if walks, ok := e.Method.(walkMethod); ok && err == nil {
			_, err = newGrid(e.Settings, walks.learner)
		}
		errs = append(errs, err)
	}
	return base, errors.Join(errs...)
}

// isMethod reports whether there is a method, or a kernel of methods, with a name.
func isMethod(name string) bool {
	return slices.ContainsFunc(All(), func(m Method) bool { return belongs(m, name) })
}

// belongs reports whether a method has a name, or a kernel that has it.
func belongs(m Method, name string) bool {
	kernel, _, _ := strings.Cut(m.Name(), "+")
	return m.Name() == name || kernel == name
}

// meant returns the methods that a line of a grid file is for.
func meant(l *gridLine, methods []Method) (list []Method) {
	for _, m := range methods {
		if l.Of == "" || belongs(m, l.Of) {
			list = append(list, m)
		}
	}
	return list
}

// checkLines returns a [*nodefile.ParseError] for a parameter that none of the methods has which it is
// for, where there are such methods.
func checkLines(lines []gridLine, methods []Method) error {
	for _, l := range lines {
		meant := meant(&l, methods)
		if len(meant) > 0 && !slices.ContainsFunc(meant, func(m Method) bool { return declares(m, l.Parameter) }) {
			return wrongLine(&l, fmt.Sprintf("%s no parameter %q", haveNames(meant), l.Parameter))
		}
	}
	return nil
}

// linesOf returns the values of a grid file for a method. The error is a [*nodefile.ParseError] for a value that the method does not take.
func linesOf(lines []gridLine, m Method) (map[string][]string, error) {
	values, exact := map[string][]string{}, map[string]bool{}
	for _, l := range lines {
		if len(meant(&l, []Method{m})) == 0 || !declares(m, l.Parameter) || l.Of == "" && exact[l.Parameter] {
			continue
		}
		exact[l.Parameter] = l.Of != ""
		values[l.Parameter] = l.Values
		_, err := new(Settings).with(m, map[string][]string{l.Parameter: l.Values})
		if wrong := new(split.UsageError); errors.As(err, &wrong) {
			return nil, wrongLine(&l, wrong.Problem())
		}
	}
	return values, nil
}

// wrongLine returns the error of a line of a grid file.
func wrongLine(l *gridLine, what string) error {
	return &textio.Error{File: l.File, Line: l.Number, Msg: what, Err: ErrGrid}
}

func haveNames(list []Method) string {
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = m.Name()
	}
	if len(names) == 1 {
		return names[0] + " has"
	}
	return strings.Join(names, ", ") + " have"
}

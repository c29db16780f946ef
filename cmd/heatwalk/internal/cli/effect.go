package cli

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/spec"
)

// checkEffect notes the flags that were given and make no difference to any of
// the methods.
func (in *invocation) checkEffect(flags *pflag.FlagSet, methods []method.Method) {
	if len(methods) == 0 {
		return // their names are wrong, which is noted already
	}
	var names, takes []string
	for _, m := range methods {
		names = append(names, m.Name())
		takes = append(takes, flagsOf(m)...)
	}
	has, there := " has", " it takes --"
	if len(names) > 1 {
		has, there = " have", " they take --"
	}
	takes = sortedOnce(takes)
	hint := " leave it out"
	if own := slices.DeleteFunc(slices.Clone(takes), func(name string) bool { return flags.Lookup(name) == nil }); len(own) > 0 {
		hint = there + strings.Join(own, ", --")
	}
	for _, name := range effectFlags() {
		noted := slices.ContainsFunc(in.problems, func(p problem) bool { return p.place == "--"+name })
		if flags.Changed(name) && !slices.Contains(takes, name) && !noted {
			in.problem("--"+name, "%s%s no such parameter;%s", strings.Join(names, ", "), has, hint)
		}
	}
}

// flagsOf returns the flags that make a difference to a method.
func flagsOf(m method.Method) []string {
	if within := method.Within(m); within != nil {
		return append(flagsOf(within), propagate.CorrectAndSmooth.Takes()...)
	}
	var names []string
	for _, name := range m.Takes() {
		names = append(names, strings.ReplaceAll(name, "_", "-"))
	}
	if len(names) > 0 {
		names = append(names, "unreached") // the largest class is for every node
	}
	if !declares(m, "cost") && slices.Contains(names, "cost") || !declares(m, "lambda") && slices.Contains(names, "lambda") || choosesDeclared(m) {
		names = append(names, "grid", "tuning-splits")
	}
	return names
}

// declares reports whether a parameter is one of a declaration of the method, which
// says what is tried of it.
func declares(m method.Method, name string) bool {
	d, ok := m.(method.Declared)
	return ok && slices.ContainsFunc(d.Declarations(), func(s *spec.Spec) bool { return s.Param(name) != nil })
}

// choosesDeclared reports whether a method has several values to try of a parameter of a
// declaration.
func choosesDeclared(m method.Method) bool {
	d, ok := m.(method.Declared)
	return ok && slices.ContainsFunc(d.Declarations(), func(s *spec.Spec) bool {
		return slices.ContainsFunc(s.Params, func(p spec.Param) bool { return len(p.Grid) > 1 })
	})
}

// effectFlags returns the flags that make a difference to some method.
func effectFlags() []string {
	methods, err := method.ParseMethods(strings.Join(method.MethodNames(), ","))
	if err != nil {
		panic(err) // the names are right
	}
	names := propagate.CorrectAndSmooth.Takes()
	for _, m := range methods {
		names = append(names, flagsOf(m)...)
	}
	return sortedOnce(names)
}

func sortedOnce(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

package cli

import (
	"errors"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/internal/nearest"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/spec"
)

// flagError turns a mistake of the flag parser into ours, with the nearest
// right flag, together with what was found wrong before.
func (in *invocation) flagError(cmd *cobra.Command, err error) error {
	in.formatErrors()
	var (
		unknown *pflag.NotExistError
		missing *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
	)
	switch {
	case errors.As(err, &unknown):
		in.unknownFlag(cmd, unknown)
	case errors.As(err, &missing):
		in.missingValue(missing.GetFlag())
	case errors.As(err, &invalid):
		name := "--" + invalid.GetFlag().Name // a switch, since the others check themselves
		in.problem(name, "%s is not a value it takes; write %s or %[2]s=false", quoted(invalid.GetValue()), name)
	default:
		in.problem(cmd.Name(), "%v", err)
	}
	return in.checked()
}

// missingValue notes that a flag stands without its value.
func (in *invocation) missingValue(f *pflag.Flag) {
	kind, _ := pflag.UnquoteUsage(f)
	in.problem("--"+f.Name, "its value is missing; write --%s=%s", f.Name, kind)
}

// formatErrors settles the form of errors where the parser stopped before it
// came to the flags that say so.
func (in *invocation) formatErrors() {
	for i, arg := range in.args {
		name, text, given := strings.Cut(arg, "=")
		switch name {
		case "--":
			return
		case "--json":
			on, err := strconv.ParseBool(text)
			in.json = !given || on && err == nil
		case "--log-format":
			if !given && i+1 < len(in.args) {
				text = in.args[i+1]
			}
			in.logFormat = text
		}
	}
}

func (in *invocation) unknownFlag(cmd *cobra.Command, err *pflag.NotExistError) {
	name := err.GetSpecifiedName()
	place := "--" + name
	if err.GetSpecifiedShortnames() != "" {
		place = "-" + name
	}
	var own []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { own = append(own, f.Name) })
	var others []string
	for _, other := range commands() {
		if other.make(in).Flags().Lookup(name) != nil {
			others = append(others, other.name)
		}
	}
	near := nearest.Of(name, own)
	file := slices.IndexFunc(in.args, func(arg string) bool { return strings.HasPrefix(arg, place) && isThere(arg) })
	switch {
	case file >= 0:
		in.problem(in.args[file], "no such flag; write ./%s for the file", in.args[file])
	case len(others) > 0 && cmd.Flags().Lookup(name) == nil: // or else it wants two hyphens
		sort.Strings(others)
		in.problem(place, "%s has no such flag; it belongs to %s", strings.TrimPrefix(cmd.CommandPath(), "heatwalk "), strings.Join(others, ", "))
	case near != "":
		in.problem(place, "no such flag; did you mean --%s?", near)
	default:
		in.problem(place, "no such flag; see %s --help", cmd.CommandPath())
	}
}

// noSuchCommand is the root's check of its arguments.
func (in *invocation) noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	in.formatErrors()
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	near := nearest.Of(args[0], names)
	if _, err := os.Stat(args[0]); err == nil {
		in.problem(args[0], "is not a command; to label its nodes: heatwalk classify %s --labels LABELS", args[0])
	} else if near != "" {
		in.problem(args[0], "no such command; did you mean %s?", near)
	} else {
		in.problem(args[0], "no such command; there are %s", strings.Join(names, ", "))
	}
	return in.checked()
}

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
	if f := flags.Lookup("tuning-splits"); f != nil && f.Value.String() == "0" {
		takes = append(takes, f.Name) // so every method that chooses nothing does anyway
	}
	takes = sortedOnce(takes)
	there := slices.DeleteFunc(slices.Clone(takes), func(name string) bool { return flags.Lookup(name) == nil })
	text := " has no such parameter; " + itTakes(there, "leave it out")
	if len(names) > 1 {
		text = strings.NewReplacer(" has ", " have ", "it takes", "they take").Replace(text)
	}
	for _, name := range effectFlags() {
		in.refuse(flags, rule{!slices.Contains(takes, name), name, strings.Join(names, ", ") + text})
	}
}

// itTakes lists flags as what something takes, or says otherwise for none.
func itTakes(names []string, otherwise string) string {
	if len(names) == 0 {
		return otherwise
	}
	return "it takes --" + strings.Join(names, ", --")
}

// notTaken notes each flag of a command, but for those of every command, that was given
// and is not among takes: what say returns for it.
func (in *invocation) notTaken(cmd *cobra.Command, takes []string, say func(name string) string) {
	shared := cmd.InheritedFlags()
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if shared.Lookup(f.Name) == nil && !slices.Contains(takes, f.Name) {
			in.problem("--"+f.Name, "%s", say(f.Name))
		}
	})
}

// flagsOf returns the flags that make a difference to a method.
func flagsOf(m method.Method) []string {
	var names []string
	for _, name := range m.Takes() {
		names = append(names, strings.ReplaceAll(name, "_", "-"))
	}
	if len(names)+len(m.Declarations()) > 0 {
		names = append(names, "unreached") // the largest class is for every node
	}
	if slices.ContainsFunc(m.Declarations(), func(s *spec.Spec) bool {
		return slices.ContainsFunc(s.Params, func(p spec.Param) bool { return len(p.Grid) > 1 })
	}) {
		names = append(names, "grid", "tuning-splits")
	}
	return names
}

// effectFlags returns the flags that make a difference to some method.
func effectFlags() []string {
	names := propagate.CorrectAndSmooth.Takes()
	for _, m := range method.All() {
		names = append(names, flagsOf(m)...)
	}
	return sortedOnce(names)
}

func sortedOnce(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

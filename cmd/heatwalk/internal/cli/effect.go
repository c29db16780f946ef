package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/propagate"
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
	takes = sortedOnce(takes)
	there := slices.DeleteFunc(slices.Clone(takes), func(name string) bool { return flags.Lookup(name) == nil })
	text := " has no such parameter; " + itTakes(there, "leave it out")
	if len(names) > 1 {
		text = strings.NewReplacer(" has ", " have ", "it takes", "they take").Replace(text)
	}
	for _, name := range effectFlags() {
		if flags.Changed(name) && !slices.Contains(takes, name) && !in.noted("--"+name) {
			in.problem("--"+name, "%s%s", strings.Join(names, ", "), text)
		}
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
	if method.Chooses(m) {
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

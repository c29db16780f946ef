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

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/internal/nearest"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/param"
)

// flagError converts an error of the flag parser, adds the most similar flag, and joins the problems
// recorded before.
func flagError(run *session, cmd *cobra.Command, err error) error {
	formatErrors(run)
	var (
		unknown *pflag.NotExistError
		missing *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
	)
	switch {
	case errors.As(err, &unknown):
		unknownFlag(run, cmd, unknown)
	case errors.As(err, &missing):
		missingValue(run, missing.GetFlag())
	case errors.As(err, &invalid):
		name := "--" + invalid.GetFlag().Name // a switch, because other flags check their values themselves
		run.problem(name, "%s is not a value it takes; write %s or %[2]s=false", quoted(invalid.GetValue()), name)
	default:
		run.problem(cmd.Name(), "%v", err)
	}
	return run.checked()
}

// missingValue records that the value of a flag is missing.
func missingValue(run *session, f *pflag.Flag) {
	kind, _ := pflag.UnquoteUsage(f)
	run.problem("--"+f.Name, "its value is missing; write --%s=%s", f.Name, kind)
}

// formatErrors determines the format of errors if the parser stopped before the flags of the format.
func formatErrors(run *session) {
	for i, arg := range run.args {
		name, text, isGiven := strings.Cut(arg, "=")
		switch name {
		case "--":
			return
		case "--json":
			isOn, err := strconv.ParseBool(text)
			run.json = !isGiven || isOn && err == nil
		case "--log-format":
			if !isGiven && i+1 < len(run.args) {
				text = run.args[i+1]
			}
			run.logFormat = text
		}
	}
}

func unknownFlag(run *session, cmd *cobra.Command, err *pflag.NotExistError) {
	name := err.GetSpecifiedName()
	place := "--" + name
	if err.GetSpecifiedShortnames() != "" {
		place = "-" + name
	}
	var flagNames []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { flagNames = append(flagNames, f.Name) })
	var owners []string
	for _, candidate := range commands() {
		if candidate.make(run).Flags().Lookup(name) != nil {
			owners = append(owners, candidate.name)
		}
	}
	suggestion := nearest.Of(name, flagNames)
	named := namingFlag(cmd, name)
	file := slices.IndexFunc(run.args, func(arg string) bool { return strings.HasPrefix(arg, place) && isThere(arg) })
	switch {
	case file >= 0:
		run.problem(run.args[file], "no such flag; write ./%s for the file", run.args[file])
	case named != "":
		run.problem(place, "no such flag; %s is a parameter, which stands behind a name: %s NAME:%s=…", name, named, name)
	case len(owners) > 0 && cmd.Flags().Lookup(name) == nil: // otherwise two hyphens are missing
		sort.Strings(owners)
		run.problem(place, "%s has no such flag; it belongs to %s", strings.TrimPrefix(cmd.CommandPath(), "heatwalk "), strings.Join(owners, ", "))
	case suggestion != "":
		run.problem(place, "no such flag; did you mean --%s?", suggestion)
	default:
		run.problem(place, "no such flag; see %s --help", cmd.CommandPath())
	}
}

// namingFlag returns the flag of a command that accepts names with the given parameter, or "".
func namingFlag(cmd *cobra.Command, parameter string) string {
	for _, flag := range []string{"method", "kernel", "learner"} {
		if cmd.Flags().Lookup(flag) != nil && slices.ContainsFunc(declarations(), func(d declaration) bool {
			return slices.ContainsFunc(d.Parameters, func(p parameterInfo) bool { return p.Name == parameter })
		}) {
			return "--" + flag
		}
	}
	return ""
}

// noSuchCommand returns the error about an unknown command.
func noSuchCommand(run *session, cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	formatErrors(run)
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	suggestion := nearest.Of(args[0], names)
	if _, err := os.Stat(args[0]); err == nil {
		run.problem(args[0], "is not a command; to label its nodes: heatwalk classify %s --labels LABELS", args[0])
	} else if suggestion != "" {
		run.problem(args[0], "no such command; did you mean %s?", suggestion)
	} else {
		run.problem(args[0], "no such command; there are %s", strings.Join(names, ", "))
	}
	return run.checked()
}

// checkEffect records the flags without effect on any of the methods.
func checkEffect(run *session, flags *pflag.FlagSet, methods []method.Method) {
	if len(methods) == 0 {
		return // their names are wrong, which is recorded already
	}
	var names, takes []string
	for _, m := range methods {
		names = append(names, m.Name())
		takes = append(takes, flagsOf(m)...)
	}
	if f := flags.Lookup("tuning-splits"); f != nil && f.Value.String() == "0" {
		takes = append(takes, f.Name) // methods without a choice ignore it
	}
	if f := flags.Lookup("prior"); f != nil && !slices.Contains(cwk.PriorParam.Words, f.Value.String()) {
		takes = append(takes, f.Name) // a file may hold shares of classes, which all methods take
	}
	for _, name := range []string{"prior", "effort", "unreached", "grid", "tuning-splits", "node-features", "feature-ids", "edge-weights"} {
		run.refuse(flags, rule{!slices.Contains(takes, name), name, "makes no difference to " + strings.Join(names, ", ") + "; leave it out"})
	}
}

// flagsOf returns the flags with an effect on a method.
func flagsOf(m method.Method) []string {
	var names []string
	for _, name := range m.Takes() {
		names = append(names, strings.ReplaceAll(name, "_", "-"))
	}
	if slices.Contains(names, "node-features") {
		names = append(names, "feature-ids")
	}
	if len(names)+len(m.Declarations()) > 0 {
		names = append(names, "unreached", "edge-weights") // majority predicts a class for every node
	}
	if slices.ContainsFunc(m.Declarations(), func(s *param.Spec) bool {
		return slices.ContainsFunc(s.Params, func(p param.Param) bool { return len(p.Grid) > 1 })
	}) {
		names = append(names, "grid", "tuning-splits")
	}
	return names
}

package cli

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/internal/words"
)

// flagError converts an error of the flag parser, adds the most similar flag, and joins the problems
// recorded before.
func flagError(run *shell.Session, cmd *cobra.Command, err error) error {
	if !cmd.HasParent() && cmd.Flags().NArg() > 0 { // flags of a command that does not exist
		return noSuchCommand(run, cmd, cmd.Flags().Args())
	}
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
		run.Line.MissingValue(missing.GetFlag())
	case errors.As(err, &invalid):
		name := "--" + invalid.GetFlag().Name // a switch, because other flags check their values themselves
		run.Line.Problem(name, "%s is not a value it takes; write %s or %[2]s=false",
			shell.Quote(invalid.GetValue()), name)
	default:
		run.Line.Problem(cmd.Name(), "%v", err)
	}
	return run.Line.JoinProblems()
}

// formatErrors determines the format of errors if the parser stopped before the flags of the format.
func formatErrors(run *shell.Session) {
	for i, arg := range run.Line.Args {
		name, text, isGiven := strings.Cut(arg, "=")
		switch name {
		case "--":
			return
		case "--json":
			isOn, err := strconv.ParseBool(text)
			run.Console.JSON = !isGiven || isOn && err == nil
		case "--log-format":
			if !isGiven && i+1 < len(run.Line.Args) {
				text = run.Line.Args[i+1]
			}
			run.Console.LogFormat = text
		}
	}
}

// otherNames are flags by names that users try.
var otherNames = map[string]string{
	"attributes": "node-features", "features": "node-features", "node-attributes": "node-features", "attribute-columns": "attribute-fields", "columns": "fields",
	"label-columns": "label-fields", "label-column": "label-fields", "label": "labels", "kinds": "kind", "date": "time", "separator": "delimiter", "sep": "delimiter",
}

func unknownFlag(run *shell.Session, cmd *cobra.Command, err *pflag.NotExistError) {
	name := err.GetSpecifiedName()
	place := "--" + name
	long, _, _ := strings.Cut(err.GetSpecifiedShortnames(), "=")
	if long != "" {
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
	suggestion := cmp.Or(otherNames[name], words.Nearest(name, flagNames))
	isOther := otherNames[name] != "" && slices.Contains(flagNames, suggestion)
	named := namingFlag(cmd, name)
	file := slices.IndexFunc(run.Line.Args,
		func(arg string) bool { return strings.HasPrefix(arg, place) && shell.IsThere(arg) })
	switch {
	case name == "slab":
		run.Line.Problem(place, "no such flag; processes share the rows of a graph: %s; docs/run.md tells how to build it", withoutSlab(run.Line.Args))
	case len(long) > 1 && cmd.Flags().Lookup(long) != nil:
		run.Line.Problem("-"+long, "a long flag has two hyphens; write --%s", long)
	case file >= 0:
		run.Line.Problem(run.Line.Args[file], "no such flag; write ./%s for the file",
			run.Line.Args[file])
	case isOther:
		run.Line.Problem(place, "no such flag; did you mean --%s?", suggestion)
	case named != "":
		run.Line.Problem(place,
			"no such flag; %s is a parameter, which stands behind a name: %s NAME:%s=…", name, named, name)
	case len(owners) > 0 && cmd.Flags().Lookup(name) == nil: // otherwise two hyphens are missing
		sort.Strings(owners)
		run.Line.Problem(place, "%s has no such flag; it belongs to %s",
			strings.TrimPrefix(cmd.CommandPath(), "heatwalk "),
			strings.Join(owners, ", "))
	case suggestion != "":
		run.Line.Problem(place, "no such flag; did you mean --%s?", suggestion)
	default:
		run.Line.Problem(place, "no such flag; see %s --help", cmd.CommandPath())
	}
}

// withoutSlab returns the line that runs arguments with the flag --slab in several processes.
func withoutSlab(args []string) string {
	line := "mpirun -n 2 heatwalk-mpi"
	for i := 0; i < len(args); i++ {
		if args[i] == "--slab" {
			i++
		} else if !strings.HasPrefix(args[i], "--slab=") {
			line += " " + input.ShellWord(args[i])
		}
	}
	return line
}

// namingFlag returns the flag of a command that accepts names with the given parameter, or "".
func namingFlag(cmd *cobra.Command, parameter string) string {
	for _, flag := range []string{"method", "kernel", "learner"} {
		if cmd.Flags().Lookup(flag) != nil &&
			slices.ContainsFunc(declarations(), func(d declaration) bool {
				return slices.ContainsFunc(d.Parameters,
					func(p shell.ParameterInfo) bool { return p.Name == parameter })
			}) {
			return "--" + flag
		}
	}
	return ""
}

// noSuchCommand returns the error about an unknown command.
func noSuchCommand(run *shell.Session, cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	formatErrors(run)
	names := namesOf(cmd)
	suggestion := words.Nearest(args[0], names)
	if _, err := os.Stat(args[0]); err == nil {
		run.Line.Problem(args[0],
			"is not a command; to label its nodes: heatwalk classify %s --labels LABELS", args[0])
	} else if !cmd.HasParent() && args[0] == "merge" {
		run.Line.Problem(args[0], "no such command; run the command of the parts once, without --slab, in several processes with mpirun -n 2 heatwalk-mpi; docs/run.md tells how to build it")
	} else if suggestion != "" {
		run.Line.Problem(args[0], "no such command; did you mean %s?", suggestion)
	} else if !cmd.HasParent() && !strings.Contains(args[0], ".") && findPlaces(cmd.Root(), args[0]) != nil { // a file has a dot
		run.Line.Problem(args[0], "no such command; see heatwalk help %s", args[0])
	} else {
		run.Line.Problem(args[0], "no such command; there are %s",
			strings.Join(names, ", "))
	}
	return run.Line.JoinProblems()
}

// namesOf returns the names of the subcommands of a command.
func namesOf(cmd *cobra.Command) (names []string) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

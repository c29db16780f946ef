package cli

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/internal/words"
)

// flagError records the error of the flag parser, for an unknown flag with the most similar flag, and
// returns all problems recorded so far as one error.
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

// formatErrors reads --json and --log-format from the arguments, because the flag parser may have stopped
// before them.
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

// otherNames maps names that users try to flags of this program.
var otherNames = map[string]string{
	"attributes": "node-features", "features": "node-features", "node-attributes": "node-features", "attribute-columns": "attribute-fields", "columns": "fields",
	"label-columns": "label-fields", "label-column": "label-fields", "label": "labels", "kinds": "kind", "date": "time", "separator": "delimiter", "sep": "delimiter",
}

// unknownFlag records a problem about an unknown flag, and says what to type instead.
func unknownFlag(run *shell.Session, cmd *cobra.Command, err *pflag.NotExistError) {
	name := err.GetSpecifiedName()
	place := "--" + name
	if letters, _, _ := strings.Cut(err.GetSpecifiedShortnames(), "="); letters != "" {
		name = letters
		for _, arg := range run.Line.Args { // the parser removes letters that are flags
			if strings.HasPrefix(arg, "-") && strings.HasSuffix(arg, letters) {
				name = strings.TrimLeft(arg, "-")
			}
		}
		place = "-" + name
	}
	var flagNames []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { flagNames = append(flagNames, f.Name) })
	suggestion := otherNames[name]
	if !slices.Contains(flagNames, suggestion) {
		suggestion = words.Nearest(name, flagNames)
	}
	isParameter := slices.ContainsFunc(declarations(), func(d declaration) bool {
		return slices.ContainsFunc(d.Parameters, func(p shell.ParameterInfo) bool { return p.Name == name })
	})
	switch {
	case name == "slab":
		run.Line.Problem(place, "no such flag; leave it out, and begin the line with mpirun -n 2 heatwalk-mpi, which docs/run.md explains")
	case isParameter:
		run.Line.Problem(place, "no such flag; %s is a parameter, which stands behind the name of a method or kernel: NAME:%[1]s=…", name)
	case suggestion != "":
		run.Line.Problem(place, "no such flag; did you mean --%s?", suggestion)
	default:
		run.Line.Problem(place, "no such flag; see %s --help", cmd.CommandPath())
	}
}

func noSuchCommand(run *shell.Session, cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	formatErrors(run)
	names := namesOf(cmd)
	if args[0] == "merge" {
		run.Line.Problem(args[0], "no such command; run the command of the parts once, without --slab, and begin the line with mpirun -n 2 heatwalk-mpi, which docs/run.md explains")
	} else if suggestion := words.Nearest(args[0], names); suggestion != "" {
		run.Line.Problem(args[0], "no such command; did you mean %s?", suggestion)
	} else if shell.IsThere(args[0]) {
		run.Line.Problem(args[0],
			"is not a command; to label its nodes: heatwalk classify %s --labels LABELS", args[0])
	} else {
		run.Line.Problem(args[0], "no such command; there are %s",
			strings.Join(names, ", "))
	}
	return run.Line.JoinProblems()
}

func namesOf(cmd *cobra.Command) (names []string) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

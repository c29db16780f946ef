package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/param"
)

// flagSet is the flags of a command, with checks of groups of them.
type flagSet struct {
	*pflag.FlagSet
	line   *commandLine
	checks []func(line *commandLine, args []string)
}

func newFlagSet(line *commandLine) *flagSet {
	flags := &flagSet{FlagSet: pflag.NewFlagSet("",
		pflag.ContinueOnError), line: line}
	flags.SortFlags = false
	return flags
}

// addText declares a flag of a text, "" if it is not given.
func (f *flagSet) addText(p *string, name, usage string) {
	f.StringVar(p, name, "", usage)
}

// addCheck adds a check that records problems of flags when all of them have been parsed.
func (f *flagSet) addCheck(check func(line *commandLine, args []string)) {
	f.checks = append(f.checks, check)
}

// value is a flag whose mistakes are collected instead of ending the parsing,
// so that all of them are reported together.
type value struct {
	line *commandLine
	name string
	kind string
	text string
	set  func(string) error
}

// Set implements pflag.Value.
func (v *value) Set(s string) error {
	v.text = s
	if err := v.set(s); err != nil {
		v.line.problem("--"+v.name, "%v", err)
	}
	return nil
}

// String implements pflag.Value.
func (v *value) String() string { return v.text }

// Type implements pflag.Value; the help text shows it.
func (v *value) Type() string {
	if v.isLong() {
		return "WORD"
	}
	return v.kind
}

// isLong reports whether the help text of a flag lists its words instead of
// showing them in place of its value.
func (v *value) isLong() bool {
	return len(v.kind) > len("auto|honest|plain")
}

// words returns the accepted words of a flag whose help text lists them.
func (v *value) words() []string {
	if !strings.Contains(v.kind, "|") {
		return nil
	}
	return strings.Split(v.kind, "|")
}

// problem records a problem of a flag or argument, in the form PROBLEM; REMEDY.
func (line *commandLine) problem(place, format string, args ...any) {
	line.problems = append(line.problems,
		fault.Problem{Place: place, What: fmt.Sprintf(format, args...)})
}

// hasProblem reports whether a problem of a flag or argument is recorded already.
func (line *commandLine) hasProblem(place string) bool {
	return slices.ContainsFunc(line.problems,
		func(p fault.Problem) bool { return p.Place == place })
}

func variable(flags *flagSet, name, kind, text, usage string,
	set func(string) error) {
	v := &value{line: flags.line, name: name, kind: kind, text: text, set: set}
	if v.isLong() {
		usage += "; one of " + strings.Join(v.words(), ", ")
	}
	flags.Var(v, name, usage)
}

// numeric is a type of numeric flags.
type numeric interface{ int | int64 | float64 }

// numberVar declares a flag with a number in a range; symbol denotes the number in the text of the range.
func numberVar[T numeric](flags *flagSet, p *T, name string, initial T,
	interval param.Range, symbol, usage string) {
	*p = initial
	kind := "N"
	if _, real := any(initial).(float64); real {
		kind = "X"
	}
	variable(flags, name, kind, fmt.Sprint(initial), usage, func(s string) error {
		x, err := parseNumber[T](s, interval, symbol)
		if err == nil {
			*p = x
		}
		return err
	})
}

// parseNumber reads a number of a range.
func parseNumber[T numeric](s string, interval param.Range,
	symbol string) (x T, err error) {
	what := "a whole number"
	switch p := any(&x).(type) {
	case *int:
		*p, err = strconv.Atoi(s)
	case *int64:
		*p, err = strconv.ParseInt(s, 10, 64)
	case *float64:
		what = "a number"
		*p, err = strconv.ParseFloat(s, 64)
	}
	switch {
	case x != x || err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%s is not %s; give %s", quote(s), what,
			interval.Text(symbol))
	case err != nil || !interval.Contains(float64(x)):
		return 0, fmt.Errorf("%s is out of range; give %s", s,
			interval.Text(symbol))
	}
	return x, nil
}

func choiceVar(flags *flagSet, p *string, name, initial string, choices []string,
	usage string) {
	*p = initial
	enumVar(flags, p, name, initial, choices, choices, usage)
}

// dtypeFlag declares the flag of a precision.
func dtypeFlag(flags *flagSet, p *string, initial, usage string) {
	choiceVar(flags, p, "dtype", initial, []string{"float32", "float64"}, usage)
}

// enumVar declares a flag with a word that selects one of values.
func enumVar[C any](flags *flagSet, p *C, name, initial string, choices []string,
	values []C, usage string) {
	variable(flags, name, strings.Join(choices, "|"), initial, usage, func(s string) error {
		if i := slices.Index(choices, s); i >= 0 {
			*p = values[i]
			return nil
		}
		if suggestion := words.Nearest(s, choices); suggestion != "" {
			return fmt.Errorf("%s is none of %s; did you mean %s?", quote(s),
				strings.Join(choices, ", "), suggestion)
		}
		return fmt.Errorf("%s is none of its values; give %s", quote(s),
			strings.Join(choices, ", "))
	})
}

func sizeVar(flags *flagSet, p *int64, name, usage string) {
	variable(flags, name, "SIZE", "", usage, func(s string) (err error) {
		*p, err = parseSize(s)
		return err
	})
}

var sizeUnits = []struct {
	suffix string
	bytes  float64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12}, {"b", 1},
	{"k", 1e3}, {"m", 1e6}, {"g", 1e9}, {"t", 1e12}, {"", 1},
}

// parseSize reads a number of bytes such as 4GiB, 1.5 GB, 4G (which is 4 GB) or
// 1048576.
func parseSize(s string) (int64, error) {
	for _, u := range sizeUnits {
		number, hasSuffix := strings.CutSuffix(strings.ToLower(s), u.suffix)
		if !hasSuffix {
			continue
		}
		x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(x > 0) || x*u.bytes > math.MaxInt64/2 || x*u.bytes < 1 {
			break
		}
		return int64(x * u.bytes), nil
	}
	return 0, fmt.Errorf("%s is not a size; give bytes, or K M G T (powers of 1000) or KiB MiB GiB TiB as in 4GiB", quote(s))
}

// quote returns s in quotes, cut to a length that fits a line.
func quote(s string) string {
	const most = 64
	if len(s) > most {
		return strconv.Quote(s[:most]) + "…"
	}
	return strconv.Quote(s)
}

// rule rejects flags that have no effect under a condition, with the message PROBLEM; REMEDY.
type rule struct {
	holds bool
	flags string // names, separated by blanks
	what  string
}

// refuse records the given flags that rules reject.
func (line *commandLine) refuse(rules ...rule) {
	for _, r := range rules {
		for _, name := range strings.Fields(r.flags) {
			if f := line.command.Flags().Lookup(name); r.holds && f != nil &&
				f.Changed && !line.hasProblem("--"+name) {
				line.problem("--"+name, "%s", r.what)
			}
		}
	}
}

// require records required flags that are missing.
func (line *commandLine) require(names ...string) {
	for _, name := range names {
		f := line.command.Flags().Lookup(name)
		_, want := pflag.UnquoteUsage(f)
		want = "a " + strings.TrimRight(want[:strings.IndexAny(want+":",
			":;(")], " ")
		if v, ok := f.Value.(*value); ok && v.words() != nil {
			want = "one of " + strings.Join(v.words(), ", ")
		}
		if !f.Changed {
			line.problem("--"+name, "it is missing; give %s", want)
		}
	}
}

// argumentsOf returns the check of the arguments in the use of a command: NAME, NAME... for one or more, and the
// same in brackets for an optional one.
func argumentsOf(line *commandLine, use string) cobra.PositionalArgs {
	words := strings.Fields(use)
	if len(words) < 2 || words[1][0] == '-' {
		return arguments(line, "", 0, 0)
	}
	name, optional := strings.CutPrefix(words[1], "[")
	name, repeated := strings.CutSuffix(strings.TrimSuffix(name, "]"), "...")
	lo, hi := 1, 1
	if optional {
		lo = 0
	}
	if repeated {
		hi = -1
	}
	if second, isList := strings.CutSuffix(words[min(2, len(words)-1)], "..."); isList && !repeated {
		name = name + " or " + second
		lo = 2
		hi = -1
	}
	return arguments(line, name, lo, hi)
}

// arguments returns a check that a command has between lo and hi arguments
// called name; hi < 0 means any number.
func arguments(line *commandLine, name string, lo, hi int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < lo:
			line.problem(cmd.Name(), "%s is missing; usage: %s", name, synopsis(cmd))
		case hi == 0 && len(args) > 0:
			line.problem(cmd.Name(), "takes no argument, got %s; usage: %s",
				quote(args[0]), synopsis(cmd))
		case hi >= 0 && len(args) > hi:
			line.problem(cmd.Name(), "%d arguments (%s is one too many); usage: %s",
				len(args), quote(args[hi]), synopsis(cmd))
		case slices.Contains(args, ""):
			line.problem(cmd.Name(), "%s is empty; usage: %s", name, synopsis(cmd))
		}
		return nil
	}
}

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
		missingValue(run.line, missing.GetFlag())
	case errors.As(err, &invalid):
		name := "--" + invalid.GetFlag().Name // a switch, because other flags check their values themselves
		run.line.problem(name, "%s is not a value it takes; write %s or %[2]s=false",
			quote(invalid.GetValue()), name)
	default:
		run.line.problem(cmd.Name(), "%v", err)
	}
	return run.line.joinProblems()
}

// missingValue records that the value of a flag is missing.
func missingValue(line *commandLine, f *pflag.Flag) {
	kind, _ := pflag.UnquoteUsage(f)
	line.problem("--"+f.Name, "its value is missing; write --%s=%s", f.Name, kind)
}

// formatErrors determines the format of errors if the parser stopped before the flags of the format.
func formatErrors(run *session) {
	for i, arg := range run.line.args {
		name, text, isGiven := strings.Cut(arg, "=")
		switch name {
		case "--":
			return
		case "--json":
			isOn, err := strconv.ParseBool(text)
			run.console.json = !isGiven || isOn && err == nil
		case "--log-format":
			if !isGiven && i+1 < len(run.line.args) {
				text = run.line.args[i+1]
			}
			run.console.logFormat = text
		}
	}
}

// otherNames are flags by names that users try.
var otherNames = map[string]string{
	"attributes": "node-features", "features": "node-features", "node-attributes": "node-features", "attribute-columns": "attribute-fields", "columns": "fields",
	"label-columns": "label-fields", "label-column": "label-fields", "label": "labels", "kinds": "kind", "date": "time", "separator": "delimiter", "sep": "delimiter",
}

func unknownFlag(run *session, cmd *cobra.Command, err *pflag.NotExistError) {
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
	file := slices.IndexFunc(run.line.args,
		func(arg string) bool { return strings.HasPrefix(arg, place) && isThere(arg) })
	switch {
	case len(long) > 1 && cmd.Flags().Lookup(long) != nil:
		run.line.problem("-"+long, "a long flag has two hyphens; write --%s", long)
	case file >= 0:
		run.line.problem(run.line.args[file], "no such flag; write ./%s for the file",
			run.line.args[file])
	case isOther:
		run.line.problem(place, "no such flag; did you mean --%s?", suggestion)
	case named != "":
		run.line.problem(place,
			"no such flag; %s is a parameter, which stands behind a name: %s NAME:%s=…", name, named, name)
	case len(owners) > 0 && cmd.Flags().Lookup(name) == nil: // otherwise two hyphens are missing
		sort.Strings(owners)
		run.line.problem(place, "%s has no such flag; it belongs to %s",
			strings.TrimPrefix(cmd.CommandPath(), "heatwalk "),
			strings.Join(owners, ", "))
	case suggestion != "":
		run.line.problem(place, "no such flag; did you mean --%s?", suggestion)
	default:
		run.line.problem(place, "no such flag; see %s --help", cmd.CommandPath())
	}
}

// namingFlag returns the flag of a command that accepts names with the given parameter, or "".
func namingFlag(cmd *cobra.Command, parameter string) string {
	for _, flag := range []string{"method", "kernel", "learner"} {
		if cmd.Flags().Lookup(flag) != nil &&
			slices.ContainsFunc(declarations(), func(d declaration) bool {
				return slices.ContainsFunc(d.Parameters,
					func(p parameterInfo) bool { return p.Name == parameter })
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
	names := namesOf(cmd)
	suggestion := words.Nearest(args[0], names)
	if _, err := os.Stat(args[0]); err == nil {
		run.line.problem(args[0],
			"is not a command; to label its nodes: heatwalk classify %s --labels LABELS", args[0])
	} else if suggestion != "" {
		run.line.problem(args[0], "no such command; did you mean %s?", suggestion)
	} else if !cmd.HasParent() && !strings.Contains(args[0], ".") && helpOn(cmd.Root(), args[:1]) != nil { // a file has a dot
		run.line.problem(args[0], "no such command; see heatwalk help %s", args[0])
	} else {
		run.line.problem(args[0], "no such command; there are %s",
			strings.Join(names, ", "))
	}
	return run.line.joinProblems()
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

// checkEffect records the flags without effect on any of the methods.
func checkEffect(line *commandLine, methods []method.Method) {
	if len(methods) == 0 {
		return // their names are wrong, which is recorded already
	}
	flags := line.command.Flags()
	var names, takes []string
	for _, m := range methods {
		names = append(names, m.Name())
		takes = append(takes, flagsOf(m)...)
	}
	if f := flags.Lookup("tuning-splits"); f != nil && f.Value.String() == "0" {
		takes = append(takes, f.Name) // methods without a choice ignore it
	}
	if f := flags.Lookup("prior"); f != nil &&
		!slices.Contains(cwk.PriorParam.Words, f.Value.String()) {
		takes = append(takes, f.Name) // a file may hold shares of classes, which all methods take
	}
	for _, name := range []string{"prior", "effort", "unreached", "grid",
		"tuning-splits", "node-features", "feature-ids", "edge-weights"} {
		line.refuse(rule{!slices.Contains(takes, name), name,
			"makes no difference to " + strings.Join(names, ", ") +
				"; leave it out"})
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
		return slices.ContainsFunc(s.Params,
			func(p param.Param) bool { return len(p.Grid) > 1 })
	}) {
		names = append(names, "grid", "tuning-splits")
	}
	return names
}

// openUnit has the numbers between 0 and 1.
var openUnit = param.Range{Most: 1, AboveLeast: true, BelowMost: true}

// listLengths are the lengths of lists that a user asks for.
var listLengths = param.Range{Least: 1, Most: 1 << 20}

// letterFlag declares the flag of a number in a range with a letter for short.
func letterFlag(flags *flagSet, p *int, name string, initial int,
	interval param.Range, usage string) {
	local := newFlagSet(flags.line)
	numberVar(local, p, name, initial, interval, "N", usage)
	local.Lookup(name).Shorthand = name[:1]
	flags.AddFlagSet(local.FlagSet)
}

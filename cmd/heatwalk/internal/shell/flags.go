package shell

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/param"
)

// FlagSet is the flags of a command, with checks of groups of flags.
type FlagSet struct {
	*pflag.FlagSet
	Line   *CommandLine
	checks []func(line *CommandLine, args []string)
}

// NewFlagSet returns an empty set of flags, which keeps the order of declarations.
func NewFlagSet(line *CommandLine) *FlagSet {
	flags := &FlagSet{FlagSet: pflag.NewFlagSet("",
		pflag.ContinueOnError), Line: line}
	flags.SortFlags = false
	return flags
}

func (f *FlagSet) AddText(p *string, name, usage string) {
	f.StringVar(p, name, "", usage)
}

// AddInput declares the flag of a file that the command reads. An output must not replace the file, and the
// file must be the same in all processes of a job.
func (f *FlagSet) AddInput(p *string, name, usage string) {
	f.AddInputOrWord(p, name, "", nil, "`FILE` "+usage)
}

// AddInputOrWord is [FlagSet.AddInput] for a flag that also accepts words. usage must contain FILE in
// backquotes.
func (f *FlagSet) AddInputOrWord(p *string, name, initial string, accepted []string, usage string) {
	f.StringVar(p, name, initial, usage)
	f.TakeOnePath(name, stdinNames...)
	mark(f.Lookup(name), inputFile, accepted)
}

// AddOutput declares the flag of a file that the command writes. If formats is not nil, the name of the file
// must end in one of them.
func (f *FlagSet) AddOutput(p *string, name, initial, usage string, formats []string) {
	f.StringVarP(p, name, map[string]string{"output": "o"}[name], initial, "`FILE` "+usage)
	f.TakeOnePath(name, StdoutNames...)
	mark(f.Lookup(name), OutputFile, formats)
}

// Names of the streams besides "-".
var (
	stdinNames  = []string{"/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}
	StdoutNames = []string{"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}
)

// TakeOnePath makes a flag record an error if the user gives it two different paths, because the first path
// would be lost. It replaces the given names of stdin or stdout by "-".
func (f *FlagSet) TakeOnePath(name string, names ...string) {
	flag := f.Lookup(name)
	flag.Value = &pathValue{Value: flag.Value, line: f.Line, name: name, names: names}
}

type pathValue struct {
	pflag.Value
	line  *CommandLine
	name  string
	names []string // other names of "-"
	isSet bool
}

func (v *pathValue) Set(path string) error {
	if slices.Contains(v.names, path) {
		path = "-"
	}
	if first := v.String(); v.isSet && first != path {
		v.line.Problem("--"+v.name, "it takes one path, and %s and %s are given; leave one out", first, path)
	}
	v.isSet = true
	return v.Value.Set(path)
}

// AddSideOutput declares the flag of a file in addition to the output of a command. It cannot be stdout.
func (f *FlagSet) AddSideOutput(p *string, name, usage string, formats []string) {
	f.AddOutput(p, name, "", usage, formats)
	mark(f.Lookup(name), sideFile, nil)
}

// Marks of flags: inputFile for a file that the command reads, with the words that the flag also accepts;
// OutputFile for a file that the command writes, with the accepted endings; sideFile for a further output;
// readingGroup for a flag about reading graph files, which has a separate page.
const (
	inputFile    = "heatwalk input"
	OutputFile   = "heatwalk output"
	sideFile     = "heatwalk side file"
	readingGroup = "heatwalk reading"
)

func mark(f *pflag.Flag, name string, accepted []string) {
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[name] = accepted
}

// AddCheck adds a check of flags that runs when all of them have been parsed.
func (f *FlagSet) AddCheck(check func(line *CommandLine, args []string)) {
	f.checks = append(f.checks, check)
}

// value is a flag parsed by set. It collects mistakes, so that the mistakes of all flags are reported
// together.
type value struct {
	line *CommandLine
	name string
	kind string
	text string
	set  func(string) error
}

func (v *value) Set(s string) error {
	v.text = s
	if err := v.set(s); err != nil {
		v.line.Problem("--"+v.name, "%v", err)
	}
	return nil
}

func (v *value) String() string { return v.text }

func (v *value) Type() string {
	if v.isLong() {
		return "WORD"
	}
	return v.kind
}

func (v *value) isLong() bool {
	return len(v.kind) > len("auto|honest|plain")
}

func (v *value) words() []string {
	if !strings.Contains(v.kind, "|") {
		return nil
	}
	return strings.Split(v.kind, "|")
}

// WordsOf returns the words that a flag accepts, or nil if it accepts other words too.
func WordsOf(f *pflag.Flag) []string {
	if v, ok := f.Value.(*value); ok {
		return v.words()
	}
	return nil
}

// Problem records a problem in the form PROBLEM; REMEDY.
func (line *CommandLine) Problem(place, format string, args ...any) {
	line.problems = append(line.problems,
		Problem{Place: place, What: fmt.Sprintf(format, args...)})
}

func (line *CommandLine) HasProblem(place string) bool {
	return slices.ContainsFunc(line.problems,
		func(p Problem) bool { return p.Place == place })
}

// AddValue declares a flag whose text is parsed by set. text is the default. kind is the placeholder of the
// value in the help, or the accepted words between bars.
func (f *FlagSet) AddValue(name, kind, text, usage string,
	set func(string) error) {
	v := &value{line: f.Line, name: name, kind: kind, text: text, set: set}
	if v.isLong() {
		usage += "; one of " + strings.Join(v.words(), ", ")
	}
	f.Var(v, name, usage)
}

type numeric interface{ int | int64 | float64 }

// NumberVar declares a flag with a number in a range. symbol stands for the number in messages.
func NumberVar[T numeric](flags *FlagSet, p *T, name string, initial T,
	interval param.Range, symbol, usage string) {
	*p = initial
	kind := "N"
	if _, real := any(initial).(float64); real {
		kind = "X"
	}
	flags.AddValue(name, kind, fmt.Sprint(initial), usage, func(s string) error {
		x, err := ParseNumber[T](s, interval, symbol)
		if err == nil {
			*p = x
		}
		return err
	})
}

func ParseNumber[T numeric](s string, interval param.Range,
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
		return 0, fmt.Errorf("%s is not %s; give %s", Quote(s), what,
			interval.Text(symbol))
	case err != nil || !interval.Contains(float64(x)):
		return 0, fmt.Errorf("%s is out of range; give %s", s,
			interval.Text(symbol))
	}
	return x, nil
}

func (f *FlagSet) AddChoice(p *string, name, initial string, choices []string,
	usage string) {
	*p = initial
	enumVar(f, p, name, initial, choices, choices, usage)
}

func (f *FlagSet) AddDtype(p *string, initial, usage string) {
	f.AddChoice(p, "dtype", initial, []string{"float32", "float64"}, usage)
}

func enumVar[C any](flags *FlagSet, p *C, name, initial string, choices []string,
	values []C, usage string) {
	flags.AddValue(name, strings.Join(choices, "|"), initial, usage, func(s string) error {
		if i := slices.Index(choices, s); i >= 0 {
			*p = values[i]
			return nil
		}
		if suggestion := words.Nearest(s, choices); suggestion != "" {
			return fmt.Errorf("%s is none of %s; did you mean %s?", Quote(s),
				strings.Join(choices, ", "), suggestion)
		}
		return fmt.Errorf("%s is none of its values; give %s", Quote(s),
			strings.Join(choices, ", "))
	})
}

func (f *FlagSet) addSize(p *int64, name, usage string) {
	f.AddValue(name, "SIZE", "", usage, func(s string) (err error) {
		*p, err = ParseSize(s)
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

// ParseSize reads a number of bytes such as 4GiB, 1.5 GB, 4G (which is 4 GB) or
// 1048576.
func ParseSize(s string) (int64, error) {
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
	return 0, fmt.Errorf("%s is not a size; give bytes, or K M G T (powers of 1000) or KiB MiB GiB TiB as in 4GiB", Quote(s))
}

// Quote returns s in quotes, cut to a length that fits a line.
func Quote(s string) string {
	const most = 64
	if len(s) > most {
		return strconv.Quote(s[:most]) + "…"
	}
	return strconv.Quote(s)
}

// Refuse records a problem for each flag that the user gave, if hasNoEffect is true. flags contains names
// separated by blanks. message has the form PROBLEM; REMEDY.
func (line *CommandLine) Refuse(hasNoEffect bool, flags, message string) {
	for _, name := range strings.Fields(flags) {
		if f := line.Command.Flags().Lookup(name); hasNoEffect && f != nil && f.Changed && !line.HasProblem("--"+name) {
			line.Problem("--"+name, "%s", message)
		}
	}
}

// Require records required flags that are missing.
func (line *CommandLine) Require(names ...string) {
	for _, name := range names {
		f := line.Command.Flags().Lookup(name)
		_, want := pflag.UnquoteUsage(f)
		want = "a " + strings.TrimRight(want[:strings.IndexAny(want+":",
			":;(")], " ")
		if list := WordsOf(f); list != nil {
			want = "one of " + strings.Join(list, ", ")
		}
		if !f.Changed {
			line.Problem("--"+name, "it is missing; give %s", want)
		}
	}
}

// arguments returns the check for the arguments in the use of a command: NAME, NAME... for one or more, and
// [NAME] for an optional argument.
func (line *CommandLine) arguments(use string) cobra.PositionalArgs {
	words := strings.Fields(use)
	if len(words) < 2 || words[1][0] == '-' {
		return line.Arguments("", 0, 0)
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
		name += " or " + second
		lo = 2
		hi = -1
	}
	return line.Arguments(name, lo, hi)
}

// Arguments returns a check that a command has between lo and hi arguments
// called name; hi < 0 means any number.
func (line *CommandLine) Arguments(name string, lo, hi int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < lo:
			line.Problem(cmd.Name(), "%s is missing; usage: %s", name, Synopsis(cmd))
		case hi == 0 && len(args) > 0:
			line.Problem(cmd.Name(), "takes no argument, got %s; usage: %s",
				Quote(args[0]), Synopsis(cmd))
		case hi >= 0 && len(args) > hi:
			line.Problem(cmd.Name(), "%d arguments (%s is one too many); usage: %s",
				len(args), Quote(args[hi]), Synopsis(cmd))
		case slices.Contains(args, ""):
			line.Problem(cmd.Name(), "%s is empty; usage: %s", name, Synopsis(cmd))
		}
		return nil
	}
}

func (line *CommandLine) MissingValue(f *pflag.Flag) {
	kind, _ := pflag.UnquoteUsage(f)
	line.Problem("--"+f.Name, "its value is missing; write --%s=%s", f.Name, kind)
}

var OpenUnit = param.Range{Most: 1, AboveLeast: true, BelowMost: true}

// AddLetter declares a flag as [NumberVar] does, with the first letter of the name as its short form.
func (f *FlagSet) AddLetter(p *int, name string, initial int,
	interval param.Range, usage string) {
	local := NewFlagSet(f.Line)
	NumberVar(local, p, name, initial, interval, "N", usage)
	local.Lookup(name).Shorthand = name[:1]
	f.AddFlagSet(local.FlagSet)
}

// ParseList parses the parts of s between commas with the function one. A repeated value is an error.
func ParseList[T comparable](list *[]T, s string,
	one func(text string) (T, error)) error {
	var values []T
	for _, text := range strings.Split(s, ",") {
		v, err := one(strings.TrimSpace(text))
		if err != nil {
			return err
		}
		if slices.Contains(values, v) {
			return fmt.Errorf("%v is named twice; leave one out", v)
		}
		values = append(values, v)
	}
	*list = values
	return nil
}

// Synopsis returns the synopsis of a command, including its parent commands.
func Synopsis(cmd *cobra.Command) string {
	return strings.TrimSuffix(cmd.UseLine(), " [flags]")
}

func (f *FlagSet) AddCoverage(p *float64, name, usage string) {
	NumberVar(f, p, name, 0, OpenUnit, "X", usage)
}

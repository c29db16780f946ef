package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/internal/nearest"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// value is a flag whose mistakes are collected instead of ending the parsing,
// so that all of them are reported together.
type value struct {
	in   *invocation
	name string
	kind string
	text string
	set  func(string) error
}

// Set implements pflag.Value.
func (v *value) Set(s string) error {
	v.text = s
	if err := v.set(s); err != nil {
		v.in.problem("--"+v.name, "%v", err)
	}
	return nil
}

// String implements pflag.Value.
func (v *value) String() string { return v.text }

// Type implements pflag.Value; it is what the help text shows.
func (v *value) Type() string {
	if v.isLong() {
		return "WORD"
	}
	return v.kind
}

// isLong reports whether the help text of a flag lists its words instead of
// showing them in place of its value.
func (v *value) isLong() bool { return len(v.kind) > len("auto|honest|plain") }

// words returns what may be written for a flag whose help text lists it.
func (v *value) words() []string {
	if !strings.Contains(v.kind, "|") {
		return nil
	}
	return strings.Split(v.kind, "|")
}

// problem notes what is wrong with a flag or argument: WHAT; WHAT TO DO.
func (in *invocation) problem(place, format string, args ...any) {
	in.problems = append(in.problems, fault.Problem{Place: place, What: fmt.Sprintf(format, args...)})
}

// noted reports whether something is wrong with a flag or argument already.
func (in *invocation) noted(place string) bool {
	return slices.ContainsFunc(in.problems, func(p fault.Problem) bool { return p.Place == place })
}

func (in *invocation) variable(flags *pflag.FlagSet, name, kind, text, usage string, set func(string) error) {
	v := &value{in: in, name: name, kind: kind, text: text, set: set}
	if v.isLong() {
		usage += "; one of " + strings.Join(v.words(), ", ")
	}
	flags.Var(v, name, usage)
}

func (in *invocation) intVar(flags *pflag.FlagSet, p *int, name string, initial, lo, hi int, usage string) {
	var wide int64
	*p = initial
	in.variable(flags, name, "N", strconv.Itoa(initial), usage, func(s string) error {
		if err := parseInt(&wide, s, int64(lo), int64(hi)); err != nil {
			return err
		}
		*p = int(wide)
		return nil
	})
}

func (in *invocation) int64Var(flags *pflag.FlagSet, p *int64, name string, initial, lo, hi int64, usage string) {
	*p = initial
	in.variable(flags, name, "N", strconv.FormatInt(initial, 10), usage, func(s string) error {
		return parseInt(p, s, lo, hi)
	})
}

func parseInt(p *int64, s string, lo, hi int64) error {
	n, err := strconv.ParseInt(s, 10, 64)
	want := fmt.Sprintf("give %d to %d", lo, hi)
	if hi == math.MaxInt {
		want = fmt.Sprintf("give at least %d", lo)
	}
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%s is not a whole number; %s", quoted(s), want)
	case err != nil || n < lo || n > hi:
		return fmt.Errorf("%s is out of range; %s", s, want)
	}
	*p = n
	return nil
}

// bounds are the numbers a flag takes.
type bounds struct {
	lo, hi float64
	loOpen bool // lo itself is refused
	hiOpen bool // hi itself is refused
	symbol string
}

// String returns what a flag within the bounds may be.
func (b bounds) String() string {
	below, above := "≤", "≤"
	if b.loOpen {
		below = "<"
	}
	if b.hiOpen {
		above = "<"
	}
	switch {
	case math.IsInf(b.lo, -1):
		return b.symbol + " to be finite"
	case math.IsInf(b.hi, 1):
		return fmt.Sprintf("%s > %g", b.symbol, b.lo)
	}
	return fmt.Sprintf("%g %s %s %s %g", b.lo, below, b.symbol, above, b.hi)
}

func (b bounds) parse(s string) (float64, error) {
	x, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil || math.IsNaN(x):
		return 0, fmt.Errorf("%s is not a number; want %v", quoted(s), b)
	case x < b.lo || x > b.hi || b.loOpen && x == b.lo || b.hiOpen && x == b.hi || math.IsInf(x, 0):
		return 0, fmt.Errorf("%s is out of range; want %v", s, b)
	}
	return x, nil
}

func (in *invocation) floatVar(flags *pflag.FlagSet, p *float64, name string, initial float64, b bounds, usage string) {
	*p = initial
	text := strconv.FormatFloat(initial, 'g', -1, 64)
	if math.IsNaN(initial) {
		text = ""
	}
	in.variable(flags, name, "X", text, usage, func(s string) (err error) {
		var x float64
		if x, err = b.parse(s); err == nil {
			*p = x
		}
		return err
	})
}

func (in *invocation) choiceVar(flags *pflag.FlagSet, p *string, name, initial string, choices []string, usage string) {
	*p = initial
	enumVar(in, flags, p, name, initial, choices, choices, usage)
}

// enumVar declares a flag each of whose words stands for one of values.
func enumVar[C any](in *invocation, flags *pflag.FlagSet, p *C, name, initial string, words []string, values []C, usage string) {
	in.variable(flags, name, strings.Join(words, "|"), initial, usage, func(s string) error {
		if i := slices.Index(words, s); i >= 0 {
			*p = values[i]
			return nil
		}
		if near := nearest.Of(s, words); near != "" {
			return fmt.Errorf("%s is none of %s; did you mean %s?", quoted(s), strings.Join(words, ", "), near)
		}
		return fmt.Errorf("%s is not one of its values; give %s", quoted(s), strings.Join(words, ", "))
	})
}

func (in *invocation) sizeVar(flags *pflag.FlagSet, p *int64, name, usage string) {
	in.variable(flags, name, "SIZE", "", usage, func(s string) (err error) {
		*p, err = parseSize(s)
		return err
	})
}

var sizeUnits = []struct {
	suffix string
	bytes  float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
	{"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"", 1},
}

// parseSize reads a number of bytes such as 4GiB, 1.5 GB, 4G (which is 4 GB) or
// 1048576.
func parseSize(s string) (int64, error) {
	for _, u := range sizeUnits {
		number, found := cutSuffixFold(s, u.suffix)
		if !found {
			continue
		}
		x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(x > 0) || x*u.bytes > math.MaxInt64/2 || x*u.bytes < 1 {
			break
		}
		return int64(x * u.bytes), nil
	}
	return 0, fmt.Errorf("%s is not a size; give bytes, or K M G T (powers of 1000) or KiB MiB GiB TiB as in 4GiB", quoted(s))
}

func cutSuffixFold(s, suffix string) (string, bool) {
	cut := len(s) - len(suffix)
	if cut < 0 || !strings.EqualFold(s[cut:], suffix) {
		return s, false
	}
	return s[:cut], true
}

// quoted returns s in quotes, cut to a length that fits a line.
func quoted(s string) string {
	const most = 64
	if len(s) > most {
		return strconv.Quote(s[:most]) + "…"
	}
	return strconv.Quote(s)
}

// arguments returns a check that a command has between lo and hi arguments
// called name; hi < 0 means any number.
func (in *invocation) arguments(name string, lo, hi int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < lo:
			in.problem(cmd.Name(), "%s is missing; usage: %s", name, synopsis(cmd))
		case hi == 0 && len(args) > 0:
			in.problem(cmd.Name(), "takes no argument, got %s; usage: %s", quoted(args[0]), synopsis(cmd))
		case hi >= 0 && len(args) > hi:
			in.problem(cmd.Name(), "%d arguments (%s is one too many); usage: %s", len(args), quoted(args[hi]), synopsis(cmd))
		case slices.Contains(args, ""):
			in.problem(cmd.Name(), "%s is empty; usage: %s", name, synopsis(cmd))
		}
		return nil
	}
}

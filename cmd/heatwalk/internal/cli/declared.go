package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/kernel/closed"
	"github.com/heatwalk/heatwalk/kernel/graphs"
	"github.com/heatwalk/heatwalk/spec"
)

// declaredParam is a parameter that some declarations share: its name, what it means,
// and what counts without it.
type declaredParam struct {
	*spec.Param
	of        []string // whose it is
	otherwise []string
}

// declaredParams are the parameters of declarations, in their order.
type declaredParams []declaredParam

// add adds a parameter of the declaration called of. otherwise says what counts without
// it, "" for nothing.
func (l *declaredParams) add(p *spec.Param, of, otherwise string) {
	i := slices.IndexFunc(*l, func(d declaredParam) bool {
		return d.Name == p.Name && d.Meaning == p.Meaning && d.Range == p.Range && (d.otherwise[0] == otherwise || p.Otherwise != "")
	})
	if i < 0 {
		*l = append(*l, declaredParam{p, []string{of}, []string{otherwise}})
		return
	}
	d := &(*l)[i]
	if !slices.Contains(d.of, of) {
		d.of = append(d.of, of)
	}
	if !slices.Contains(d.otherwise, otherwise) {
		d.otherwise = append(d.otherwise, otherwise)
	}
}

// addAll adds those parameters of a declaration that are taken.
func (l *declaredParams) addAll(s *spec.Spec, taken []string, otherwise func(p *spec.Param) string) {
	for i := range s.Params {
		if p := &s.Params[i]; slices.Contains(taken, p.Name) {
			l.add(p, s.Name, otherwise(p))
		}
	}
}

// specs are declarations.
type specs []*spec.Spec

// Lists of declarations, of which the first is the default: of kernels between nodes that of
// walks, which start from labels.
func learners() specs     { return classify.Learners().Specs() }
func nodeKernels() specs  { return append(specs{&cwk.Spec}, kernel.Families().Specs()...) }
func tableKernels() specs { return closed.Kernels().Specs() }
func graphKernels() specs { return graphs.Kernels().Specs() }

// names returns what they are called.
func (l specs) names() (names []string) {
	for _, s := range l {
		names = append(names, s.Name)
	}
	return names
}

// params returns the parameters of all.
func (l specs) params(otherwise func(p *spec.Param) string) (list declaredParams) {
	for _, s := range l {
		list.addAll(s, s.Takes(), otherwise)
	}
	return list
}

// flags declares a flag for each parameter, or adds to the help of a flag that there
// is; when says in which case it counts, "" in all.
func (l declaredParams) flags(in *invocation, flags *pflag.FlagSet, when string) {
	for _, p := range l {
		usage := when + p.usage()
		if f := flags.Lookup(p.Name); f != nil {
			f.Usage += "; " + usage
			continue
		}
		switch p.Kind {
		case spec.Switch:
			flags.Bool(p.Name, false, usage)
		case spec.Choice:
			in.variable(flags, p.Name, strings.Join(l.words(p.Name), "|"), "", usage, noCheck)
		case spec.Whole:
			in.variable(flags, p.Name, "N", "", usage, noCheck)
		default:
			in.variable(flags, p.Name, "X", "", usage, noCheck)
		}
	}
}

// names returns the names of the parameters.
func (l declaredParams) names() (names []string) {
	for _, p := range l {
		names = append(names, p.Name)
	}
	return names
}

// words returns what a choice may be in any of the declarations.
func (l declaredParams) words(name string) (words []string) {
	for _, p := range l {
		for _, w := range p.Words {
			if p.Name == name && !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
	}
	return words
}

// usage is the help of a parameter.
func (p *declaredParam) usage() string {
	text := p.Meaning
	if number := p.Kind == spec.Real || p.Kind == spec.Whole; number && p.Range != (spec.Range{}) {
		text += ", " + p.Range.Text(p.Symbol)
	}
	if len(p.of) <= 4 && p.of[0] != "" {
		text = "of " + strings.Join(p.of, ", ") + ": " + text
		if p.Kind == spec.Real && p.Symbol != "" && len([]rune(p.Symbol)) <= 2 {
			text = p.Symbol + " " + text
		}
	}
	if p.otherwise[0] != "" {
		text += " (" + strings.Join(p.otherwise, "; ") + ")"
	}
	return text
}

// byDefault says what counts where nothing is said.
func byDefault(p *spec.Param) string {
	switch {
	case p.Instead != "":
		return "in place of --" + p.Instead
	case p.Kind == spec.Switch:
		return ""
	case p.Otherwise != "":
		return p.Otherwise
	case p.On != nil:
		return "default: by the graph"
	}
	return fmt.Sprintf("default %v", p.Default)
}

// chosenByDefault is byDefault where what has a grid is chosen from it.
func chosenByDefault(p *spec.Param) string {
	if len(p.Grid) > 1 {
		return "default: by cross-validation"
	}
	return byDefault(p)
}

// chosenUnlessGram is chosenByDefault where learners on values in a file choose nothing.
func chosenUnlessGram(p *spec.Param) string {
	text := chosenByDefault(p)
	for _, l := range learners() {
		if own := l.Param(p.Name); len(p.Grid) > 1 && own != nil && own.Meaning == p.Meaning {
			return fmt.Sprintf("%s; %v with --gram", text, own.Default)
		}
	}
	return text
}

// noCheck takes the text of a flag that its declaration checks later.
func noCheck(string) error { return nil }

// stated returns the values of the flags that are parameters of declarations, and notes what
// is wrong with them.
func (in *invocation) stated(flags *pflag.FlagSet, declared specs) spec.Values {
	all := spec.Values{}
	for _, s := range declared {
		given, _ := in.given(flags, s)
		maps.Copy(all, given)
	}
	return all
}

// given returns the values of the flags that are parameters of a declaration, and what
// they make together with the defaults, and notes what is wrong with them.
func (in *invocation) given(flags *pflag.FlagSet, s *spec.Spec) (given, complete spec.Values) {
	noted := func(name string) bool { return in.noted("--" + name) }
	given = spec.Values{}
	for i := range s.Params {
		p := &s.Params[i]
		if flag := flags.Lookup(p.Name); flag == nil || !flag.Changed || noted(p.Name) {
			continue
		}
		v, err := p.Parse(flags.Lookup(p.Name).Value.String())
		if err != nil {
			in.problem("--"+p.Name, "%v", err)
			continue
		}
		given[p.Name] = v
	}
	rest := maps.Clone(given)
	for {
		complete, err := s.Resolve(rest, nil)
		wrong := new(spec.ParameterError)
		if !errors.As(err, &wrong) {
			return given, complete
		}
		if !noted(wrong.Parameter) {
			in.problem("--"+wrong.Parameter, "%s", wrong.What)
		}
		if !rest.Has(wrong.Parameter) {
			return given, nil
		}
		delete(rest, wrong.Parameter)
	}
}

package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/items"
	"github.com/heatwalk/heatwalk/method/regress"
	"github.com/heatwalk/heatwalk/param"
)

func newMethods(run *session) *cobra.Command {
	cmd, _, _ := newCommand(run, "methods [NAME]",
		"What can be named in --method, --kernel and --learner", nil, runMethods)
	return cmd
}

// declaration describes a kernel, learner or method in JSON, with a flag that accepts it.
type declaration struct {
	Name       string          `json:"name"`
	Flag       string          `json:"flag"` // a flag that accepts the name
	Command    string          `json:"command"`
	Formula    string          `json:"formula"`
	Source     string          `json:"source,omitempty"`
	Inputs     []string        `json:"inputs,omitempty"`
	Parameters []parameterInfo `json:"parameters,omitempty"`

	prefix string // a kernel and +, if the name follows one
}

// parameterInfo describes a parameter.
type parameterInfo struct {
	Name    string        `json:"name"`
	Symbol  string        `json:"symbol,omitempty"`
	Meaning string        `json:"meaning"`
	Words   []string      `json:"words,omitempty"`
	Range   string        `json:"range,omitempty"`
	Default string        `json:"default"`
	Grid    []param.Value `json:"grid,omitempty"`
}

// methodsDocument is the JSON document of methods.
type methodsDocument struct {
	Methods []declaration `json:"methods"`
	Closing
}

// declarations lists all kernels, learners and methods.
func declarations() (list []declaration) {
	add := func(flag, command string, specList specs) {
		for _, s := range specList {
			list = append(list, declarationOf(s, flag, command))
		}
	}
	var spreading specs
	for _, m := range method.All() {
		if specList := m.Declarations(); len(specList) == 1 &&
			specList[0].Name == m.Name() &&
			!slices.Contains(namesIn(nodeKernels()), m.Name()) {
			spreading = append(spreading, specList[0])
		}
	}
	add("--method", "classify", spreading)
	for _, m := range method.All() {
		if len(m.Declarations()) == 0 ||
			m.Declarations()[0].Name != m.Name() &&
				!strings.Contains(m.Name(), "+") {
			if d, isOther := otherMethods[m.Name()]; isOther {
				d.Name = m.Name()
				d.Flag = "--method"
				d.Command = "classify"
				list = append(list, d)
			}
		}
	}
	for _, m := range regress.Models() {
		d := declarationOf(&m.Spec, "--method", "regress")
		if m.OnKernel() {
			d.prefix = nodeKernels()[1].Name + "+"
		}
		list = append(list, d)
	}
	add("--kernel", "kernel", nodeKernels())
	for _, kind := range slices.Backward(items.Kinds()) {
		if kind.Kernels == nil { // its input has the values of any kernel
			add("--learner", kind.Name+" classify", learners())
		} else {
			add("--kernel", kind.Name+" kernel", kind.Kernels())
		}
	}
	return list
}

// otherMethods describes the methods without parameters, which have no declaration.
var otherMethods = map[string]declaration{
	"majority": {Formula: "the largest class for every node"},
}

func declarationOf(s *param.Spec, flag, command string) declaration {
	d := declaration{Name: s.Name, Flag: flag, Command: command, Formula: s.Title,
		Source: s.Source}
	for _, input := range []struct {
		works uint
		name  string
	}{{param.Undirected, "undirected graphs"}, {param.Directed,
		"directed graphs"}, {param.Vectors, "tables"}, {param.Graphs,
		"collections of graphs"}, {param.Signed, "signed graphs"}} {
		if s.Works&input.works != 0 {
			d.Inputs = append(d.Inputs, input.name)
			if input.works == param.Directed && s.Arcs != "" {
				d.Inputs[len(d.Inputs)-1] += " (" + s.Arcs + ")"
			}
		}
	}
	for i := range s.Params {
		p := &s.Params[i]
		info := parameterInfo{Name: p.Name, Symbol: p.Symbol, Meaning: p.Meaning,
			Words: p.Words, Default: p.Default.String(), Grid: p.Grid}
		if p.Range != (param.Range{}) {
			info.Range = p.Range.Text(p.Symbol)
		}
		switch {
		case p.Instead != "":
			info.Default = "in place of " + p.Instead
		case p.Otherwise != "":
			info.Default = p.Otherwise
		case p.On != nil:
			info.Default = "depends on the graph"
		}
		d.Parameters = append(d.Parameters, info)
	}
	return d
}

// runMethods prints all names, or the description of one.
func runMethods(run *session, _ *struct{}, name string) error {
	list := declarations()
	if name != "" {
		named := slices.DeleteFunc(slices.Clone(list),
			func(d declaration) bool { return d.Name != name })
		if len(named) == 0 {
			var names []string
			for _, d := range list {
				names = append(names, d.Name)
			}
			if suggestion := words.Nearest(name, names); suggestion != "" {
				return fault.Usage(name, "does not exist; did you mean %s?",
					suggestion)
			}
			return fault.Usage(name,
				"does not exist; heatwalk methods lists all names")
		}
		return run.console.printResult(&methodsDocument{Methods: named}, func(io.Writer) {
			for _, d := range named {
				d.print(run.console.stdout)
			}
		})
	}
	return run.console.printResult(&methodsDocument{Methods: list}, func(io.Writer) {
		group := ""
		for _, d := range list {
			if heading := d.Flag + " of " + d.Command; heading != group {
				if group != "" {
					fmt.Fprintln(run.console.stdout)
				}
				group = heading
				fmt.Fprintln(run.console.stdout,
					strings.Replace(heading, " of ", ", as in heatwalk ", 1)+":")
			}
			fmt.Fprintf(run.console.stdout, "  %-24s %s\n", d.Name, d.Formula)
		}
		fmt.Fprintln(run.console.stdout, `
A kernel of a graph with a learner is a method: diffusion:beta=2+rls:lambda=0.1.
+cs behind a method adds Correct & Smooth. Details of one: heatwalk methods NAME`)
	})
}

// print writes the description of a declaration.
func (d *declaration) print(w io.Writer) {
	fmt.Fprintf(w, "%s: %s\n", d.Name, d.Formula)
	if d.Source != "" {
		fmt.Fprintf(w, "  source: %s\n", d.Source)
	}
	if d.Inputs != nil {
		fmt.Fprintf(w, "  for %s\n", strings.Join(d.Inputs, ", "))
	}
	for _, p := range d.Parameters {
		text := p.Meaning
		if p.Symbol != "" && p.Symbol != p.Name {
			text = p.Symbol + ", " + text
		}
		if p.Range != "" {
			text += ", " + p.Range
		}
		if p.Words != nil {
			text += ": " + strings.Join(p.Words, ", ")
		}
		if p.Default != "" {
			text += "; default " + p.Default
		}
		if len(p.Grid) > 1 {
			text += "; grid " + strings.Trim(fmt.Sprint(p.Grid), "[]")
		}
		fmt.Fprintf(w, "  %-14s %s\n", p.Name, text)
	}
	value := ""
	if len(d.Parameters) > 0 && d.Parameters[0].Default != "" &&
		!strings.Contains(d.Parameters[0].Default, " ") {
		value = ":" + d.Parameters[0].Name + "=" + d.Parameters[0].Default
	}
	fmt.Fprintf(w, "Example: heatwalk %s … %s %s%s%s\n", d.Command, d.Flag,
		d.prefix, d.Name, value)
}

// specs are declarations.
type specs = param.List[*param.Spec]

// Lists of declarations; the first one is the default. For kernels between nodes it is cwk.
func learners() specs { return classify.Learners().Specs() }

func nodeKernels() specs {
	return append(specs{&cwk.Spec}, kernel.Families().Specs()...)
}

// namesIn returns the names of declarations.
func namesIn(list []*param.Spec) (names []string) {
	for _, s := range list {
		names = append(names, s.Name)
	}
	return names
}

// parseNamed parses the value NAME:PARAMETER=VALUE of a flag, with a declared name. It records an
// error and then returns nil.
func parseNamed(line *commandLine, flag, text string,
	list specs) (*param.Spec, param.Named) {
	n, err := param.ParseNamed(text)
	if wrong := new(param.ParameterError); errors.As(err, &wrong) {
		line.problem(flag, "%s", wrong.Error())
		return nil, n
	}
	s := list.Named(n.Name)
	if s == nil {
		line.problem(flag, "%s", unknownName(n.Name, namesIn(list)))
	}
	return s, n
}

// unknownName returns the message about an unknown name.
func unknownName(name string, names []string) string {
	if name == "" {
		return "it is missing; give one of " + strings.Join(names, ", ")
	}
	if suggestion := words.Nearest(name, names); suggestion != "" {
		return quote(name) + " does not exist; did you mean " + suggestion + "?"
	}
	return quote(name) + " does not exist; give one of " + strings.Join(names, ", ")
}

// parseGiven returns the given values of the parameters of a declaration, and the same completed by
// the defaults of the others. It records errors about the flag, or for "" about the flags with the
// names of the parameters.
func parseGiven(line *commandLine, flag string, text map[string]string,
	s *param.Spec) (values, complete param.Values) {
	values = param.Values{}
	wrongs := map[string]bool{}
	note := func(parameter, what string) {
		switch {
		case wrongs[parameter]:
		case flag == "":
			line.problem("--"+parameter, "%s", what)
		case parameter == s.Name:
			line.problem(flag, "%s: %s", s.Name, what)
		default:
			line.problem(flag, "%s: %s: %s", s.Name, parameter, what)
		}
		wrongs[parameter] = true
	}
	for i := range s.Params {
		p := &s.Params[i]
		if t, ok := text[p.Name]; ok {
			v, err := p.Parse(t)
			if err != nil {
				note(p.Name, err.Error())
				continue
			}
			values[p.Name] = v
		}
	}
	for _, name := range slices.Sorted(maps.Keys(text)) {
		if s.Param(name) == nil {
			note(name, "there is no such parameter; "+itTakes(s.Takes()))
		}
	}
	remainder := maps.Clone(values)
	for {
		complete, err := s.Resolve(remainder, nil)
		wrong := new(param.ParameterError)
		if !errors.As(err, &wrong) {
			return values, complete
		}
		note(wrong.Parameter, wrong.What)
		if !remainder.Has(wrong.Parameter) {
			return values, nil
		}
		delete(remainder, wrong.Parameter)
	}
}

// itTakes lists the parameters for a message.
func itTakes(names []string) string {
	if len(names) == 0 {
		return "it takes none"
	}
	return "it takes " + strings.Join(names, ", ")
}

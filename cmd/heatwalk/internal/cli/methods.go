package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/items"
	"github.com/heatwalk/heatwalk/param"
)

func newMethods(run *shell.Session) *cobra.Command {
	cmd, _, _ := shell.NewCommand(run, "methods [NAME]",
		"What can be named in --method, --kernel and --learner", refuseDryRun, runMethods)
	return cmd
}

func refuseDryRun(line *shell.CommandLine, _ *struct{}, _ []string) {
	line.Refuse(true, "dry-run", "there is nothing to plan; leave it out")
}

// declaration is a name that a flag accepts, as heatwalk methods lists it.
type declaration struct {
	Name       string                `json:"name"`
	Flag       string                `json:"flag"` // a flag that accepts the name
	Command    string                `json:"command"`
	Formula    string                `json:"formula"`
	Source     string                `json:"source,omitempty"`
	Inputs     []string              `json:"inputs,omitempty"`
	Parameters []shell.ParameterInfo `json:"parameters,omitempty"`

	prefix string // a kernel and +, if Name follows a kernel in the value of the flag
}

type methodsDocument struct {
	Methods []declaration `json:"methods"`
	shell.Closing
}

// declarations lists all kernels, learners and methods.
func declarations() (list []declaration) {
	add := func(flag, command string, specList shell.Specs) {
		for _, s := range specList {
			list = append(list, declarationOf(s, flag, command))
		}
	}
	var spreading shell.Specs
	for _, m := range method.All() {
		if specList := m.Specs; len(specList) == 1 &&
			specList[0].Name == m.Name &&
			!slices.Contains(shell.NodeKernels().Names(), m.Name) {
			spreading = append(spreading, specList[0])
		}
	}
	add("--method", "classify", spreading)
	for _, m := range method.All() {
		if len(m.Specs) == 0 ||
			m.Specs[0].Name != m.Name &&
				!strings.Contains(m.Name, "+") {
			if d, isOther := otherMethods[m.Name]; isOther {
				d.Name = m.Name
				d.Flag = "--method"
				d.Command = "classify"
				list = append(list, d)
			}
		}
	}
	isListed := false
	for _, m := range method.Regressions() {
		learner := m.Specs[len(m.Specs)-1]
		isBehindKernel := len(m.Specs) > 1
		if spreading.Named(m.Name) != nil || isBehindKernel && isListed { // it predicts classes too
			continue
		}
		d := declarationOf(learner, "--method", "regress")
		if isBehindKernel {
			isListed = true
			d.prefix = shell.NodeKernels()[1].Name + "+"
		}
		list = append(list, d)
	}
	add("--kernel", "kernel", shell.NodeKernels())
	add("--kernel", "rank", shell.Specs{kernel.PersonalizedPageRank})
	for _, kind := range slices.Backward(items.Kinds()) {
		if kind.Kernels == nil { // the input has the values of any kernel
			add("--learner", kind.Name+" classify", shell.Learners())
		} else {
			add("--kernel", kind.Name+" kernel", kind.Kernels())
		}
	}
	return list
}

// otherMethods describes the methods without a [param.Spec].
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
		d.Parameters = append(d.Parameters, shell.DescribeParameter(&s.Params[i]))
	}
	return d
}

func runMethods(run *shell.Session, _ *struct{}, name string) error {
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
				return shell.UsageError(name, "does not exist; did you mean %s?",
					suggestion)
			}
			return shell.UsageError(name,
				"does not exist; heatwalk methods lists all names")
		}
		return run.Console.PrintResult(&methodsDocument{Methods: named}, func(io.Writer) {
			for _, d := range named {
				d.print(run.Console.Stdout)
			}
		})
	}
	return run.Console.PrintResult(&methodsDocument{Methods: list}, func(io.Writer) {
		group := ""
		for _, d := range list {
			if heading := d.Flag + " of " + d.Command; heading != group {
				if group != "" {
					fmt.Fprintln(run.Console.Stdout)
				}
				group = heading
				fmt.Fprintln(run.Console.Stdout,
					strings.Replace(heading, " of ", ", as in heatwalk ", 1)+":")
			}
			fmt.Fprintf(run.Console.Stdout, "  %-24s %s\n", d.Name, d.Formula)
		}
		fmt.Fprintln(run.Console.Stdout, `
A kernel of a graph with a learner is a method: diffusion:beta=2+rls:lambda=0.1.
Details of one: heatwalk methods NAME`)
	})
}

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

package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/kernel/closed"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/spec"
)

// vectorFlags are the flags of a table of attributes in place of a graph.
type vectorFlags struct {
	file   string
	config nodefile.AttributeConfig
	kernel *closed.Kernel
	stated spec.Values // its parameters that were given
	values spec.Values // all of them
}

// columnFlags are those that only have a meaning with a table.
var columnFlags = []string{"attributes", "id", "class", "unknown-values"}

// vectorKernels returns the names of the kernels of tables.
func vectorKernels() (names []string) {
	for _, k := range closed.Kernels() {
		names = append(names, k.Name)
	}
	return names
}

// graphOrTable returns a check that a command has a GRAPH unless there is a table or
// another file in its place.
func (in *invocation) graphOrTable(file string) cobra.PositionalArgs {
	n := 1
	if file != "" {
		n = 0
	}
	return in.arguments("GRAPH", n, n)
}

// nodeParameters returns the flags that kernels of nodes take.
func nodeParameters() []string {
	names := walkFlagNames()
	for _, f := range kernel.Families() {
		names = append(names, f.Takes()...)
	}
	return names
}

// vectorParameters returns the names of their parameters, each once.
func vectorParameters() (names []string) {
	for _, k := range closed.Kernels() {
		names = append(names, k.Takes()...)
	}
	return sortedOnce(names)
}

// vectorFlags declares the flags of f, and of the parameters of its kernels those that
// there are not yet.
func (in *invocation) vectorFlags(flags *pflag.FlagSet, f *vectorFlags) {
	flags.StringVar(&f.file, "vectors", "", "`TABLE` of attributes in place of a graph: a record on each line")
	in.variable(flags, "attributes", "COLUMNS", "", "with --vectors: columns of the attributes, numbers or titles (default: all but id and class)", func(s string) (err error) {
		return parseFields(&f.config.Columns, s, 1, 1<<17, "2,3,4 or colour,shape")
	})
	flags.StringVar(&f.config.ID, "id", "", "with --vectors: `COLUMN` of the ids (default: by its title, or the records are numbered from 1)")
	flags.StringVar(&f.config.Class, "class", "", "with --vectors: `COLUMN` of the classes, which is no attribute (default: by its title)")
	var list declaredParams
	for _, k := range closed.Kernels() {
		list.addAll(&k.Spec, k.Takes(), byDefault)
	}
	list.flags(in, flags, "with --vectors, ")
}

// checkNoVectors notes flags that only have a meaning with --vectors, and a kernel of
// tables.
func (in *invocation) checkNoVectors(flags *pflag.FlagSet, name string, others []string) {
	if closed.KernelOf(name) != nil {
		in.problem("--kernel", "%s compares the records of a table; give --vectors TABLE in place of a graph", name)
	}
	for _, flag := range append(columnFlags, vectorParameters()...) {
		if flags.Changed(flag) && !slices.Contains(others, flag) {
			in.problem("--"+flag, "makes a difference with --vectors TABLE only; leave it out")
		}
	}
}

// checkVectors finds the kernel and its parameters, and notes what is wrong with the
// flags of f: of all that were given, those not in takes and no parameters.
func (in *invocation) checkVectors(cmd *cobra.Command, f *vectorFlags, name string, takes []string) {
	if !cmd.Flags().Changed("kernel") {
		name = closed.Kernels()[0].Name
	}
	if f.kernel = closed.KernelOf(name); f.kernel == nil {
		if !in.noted("--kernel") {
			in.problem("--kernel", "%s compares the nodes of a graph; with --vectors give one of %s", name, strings.Join(vectorKernels(), ", "))
		}
		return
	}
	f.stated, f.values = in.given(cmd.Flags(), &f.kernel.Spec)
	takes = slices.Concat(takes, columnFlags, []string{"vectors", "header", "missing", "kernel", "output", "dtype"})
	in.notTaken(cmd, append(takes, f.kernel.Takes()...), func(flag string) string {
		if slices.Contains(vectorParameters(), flag) {
			return name + " has no such parameter; " + itTakes(f.kernel.Takes(), "it takes none")
		}
		return "makes no difference with --vectors; leave it out"
	})
}

// readVectors reads the table.
func (in *invocation) readVectors(f *vectorFlags, header nodefile.Header) (*nodefile.Attributes, error) {
	c := f.config
	c.Header, c.Missing, c.Stdin, c.Memory = header, in.labelling.Missing, in.stdin, in.dataLimit()
	c.Warn = func(text string) { in.warn("%s", text) }
	return nodefile.ReadAttributes(in.ctx, f.file, &c)
}

// warnNumbers warns of attributes with so many values that they are no categories.
func (in *invocation) warnNumbers(f *vectorFlags, a *nodefile.Attributes) {
	for _, c := range a.Columns {
		if n := len(c.Values); !f.kernel.Texts && n > 20 && n > a.Len()/2 {
			in.warn("%s: %s has %s in %s; if it is a number or a name, leave it out with --attributes", a.File, c.Name,
				words.Counted(int64(n), "value"), words.Counted(int64(a.Len()), "record"))
		}
	}
}

// recordError names the place in a table in an error about its attributes.
func recordError(err error, a *nodefile.Attributes) error {
	wrong := new(closed.AttributeError)
	if !errors.As(err, &wrong) {
		return err
	}
	place, what := a.File, wrong.What
	if wrong.Record >= 0 {
		place = fmt.Sprintf("%s:%d", a.File, a.Line[wrong.Record])
	}
	if wrong.Attribute != "" {
		what = wrong.Attribute + ": " + what
	}
	return fault.Data(place, "%s", what)
}

package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/graphfile"
	"github.com/heatwalk/heatwalk/kernel/graphs"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/tablefile"
)

// collectionFlags say how a collection of graphs is read and compared.
type collectionFlags struct {
	directed bool
	vertices string // what labels them
	measure  string
	base     string
	values   string // raw or cosine
}

func newGraphs(in *invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "graphs",
		Short: "Kernels between many small graphs, and their classes",
		Args:  in.noSuchCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newGraphsKernel(in), newGraphsClassify(in), newGraphsEvaluate(in))
	return cmd
}

// collectionFlags declares the flags of f and those of all kernels between graphs.
func (in *invocation) collectionFlags(flags *pflag.FlagSet, f *collectionFlags, values string) {
	in.choiceVar(flags, &f.values, "values", values, []string{"raw", "cosine"}, "of the kernel: as they are, or divided by the norms of both graphs")
	flags.BoolVar(&f.directed, "directed", false, "edges have a direction: of the line u, v from u to v")
	in.choiceVar(flags, &f.vertices, "vertices", "", []string{"labels", "degree", "ids", "none"}, "what labels vertices (default: their labels, or else degree)")
	flags.StringVar(&f.measure, "measure", "", "`FILE` of element<TAB>number: the measure of the elements of sets (default: 1 each)")
	flags.StringVar(&f.base, "base", "", "`FILE` with the kernel between the elements of sets for cross: .npy with ids beside it, .npz (default: 1 for equal ones)")
	ofGraphKernels().flags(in, flags, "")
}

// ofGraphKernels returns the parameters of all kernels between graphs.
func ofGraphKernels() (list declaredParams) {
	for _, k := range graphs.Kernels() {
		list.addAll(&k.Spec, k.Takes(), byDefault)
	}
	return list
}

// graphKernels returns the kernels that a list names, and notes those there are not.
func (in *invocation) graphKernels(list string) (kernels []*graphs.Kernel) {
	var names []string
	for _, k := range graphs.Kernels() {
		names = append(names, k.Name)
	}
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		k := graphs.Of(name)
		near := spec.Nearest(name, names)
		switch {
		case k == nil && name == "":
			in.problem("--kernel", "is missing; give one of %s", strings.Join(names, ", "))
		case k == nil && near != "":
			in.problem("--kernel", "there is no kernel %s between graphs; did you mean %s?", quoted(name), near)
		case k == nil:
			in.problem("--kernel", "there is no kernel %s between graphs; give one of %s", quoted(name), strings.Join(names, ", "))
		default:
			kernels = append(kernels, k)
		}
	}
	return kernels
}

// checkCollection notes flags that make no difference to any of the declarations, and
// values out of range; it returns those that were given.
func (in *invocation) checkCollection(flags *pflag.FlagSet, f *collectionFlags, declared []*spec.Spec) spec.Values {
	all := spec.Values{}
	takes := func(name string) bool {
		return slices.ContainsFunc(declared, func(s *spec.Spec) bool { return s.Param(name) != nil })
	}
	for _, s := range declared {
		given, _ := in.given(flags, s)
		for name, v := range given {
			all[name] = v
		}
	}
	for _, p := range append(ofMethods(), ofGraphKernels()...) {
		name := p.Name
		if flags.Changed(name) && !takes(name) && !in.noted("--"+name) {
			in.problem("--"+name, "%s has no such parameter; leave it out", declared[0].Name)
		}
	}
	if f.measure != "" && !takes("parts") {
		in.problem("--measure", "is of the elements of sets, and %s has none; leave it out", declared[0].Name)
	}
	if f.base != "" && !slices.ContainsFunc(declared, func(s *spec.Spec) bool { return s.Name == "cross" }) {
		in.problem("--base", "is for --kernel cross; leave it out")
	}
	return all
}

// collectionRun is a run on a collection.
type collectionRun struct {
	in        *invocation
	name      string
	c         *graphfile.Collection // nil: it has not been read yet
	shape     *graphfile.Shape      // of c, or a bound
	readBytes int64                 // of data while it is read
	set       *graphs.Settings
	takes     []spec.Bytes // beside the collection
}

// listing returns what a run takes beside a collection, as far as that is known.
type listing func(r *collectionRun) ([]spec.Bytes, error)

// readCollection reads INPUT. Where the layout tells what reading takes and that is too much,
// nothing is read, and the error says what is enough for all that list tells.
func (in *invocation) readCollection(name string, f *collectionFlags, beside string, list listing) (*collectionRun, error) {
	r := &collectionRun{in: in, name: name, set: &graphs.Settings{Workers: in.threads, RNGSeed: uint64(in.seed), Cosine: f.values == "cosine"}}
	in.progress.Begin("reading "+name, 0, "graph")
	var temp *tempDir
	defer func() { temp.end() }()
	var err error
	r.c, err = graphs.Read(in.ctx, name, &graphs.ReadOptions{
		Directed: f.directed, Vertices: f.vertices, Memory: in.dataLimit(), Workers: in.threads,
		Temp: func() (_ string, err error) {
			if temp, err = in.makeTemp(beside); err != nil {
				return "", err
			}
			return temp.Path, nil
		},
		Fits: func(shape *graphfile.Shape, reading int64) (err error) {
			r.shape, r.readBytes = shape, reading
			if r.takes, err = list(r); err == nil {
				if _, err = r.begin(); err != nil {
					err = &overError{err, in.enough(func() (*needs, error) { return r.plan(nil) })}
				}
			}
			return err
		},
	})
	if err != nil {
		return nil, r.explain(err)
	}
	if temp != nil {
		r.readBytes = in.measuredBytes()
	}
	r.shape = r.c.Shape()
	return r, nil
}

// begin returns the needs of a run, so far those of the collection.
func (r *collectionRun) begin() (*needs, error) {
	const reading = "graphs while they are read"
	n := new(needs)
	n.Limit = r.in.dataLimit()
	if err := n.Reserve(r.readBytes, reading); err != nil {
		return n, err
	}
	n.Release(reading)
	return n, n.Reserve(r.shape.Bytes(), "graphs")
}

// plan returns what a run takes: the collection, what is listed, and the rest, if there
// is more.
func (r *collectionRun) plan(rest func(n *needs) error) (*needs, error) {
	n, err := r.begin()
	if err == nil {
		err = n.reserveList(r.takes)
	}
	if err == nil && rest != nil {
		err = rest(n)
	}
	return n, err
}

// fit plans a run with all that list and rest tell. Where it does
// not fit, the error says what is enough.
func (r *collectionRun) fit(list listing, rest func(n *needs) error) (n *needs, err error) {
	if r.takes, err = list(r); err != nil {
		return nil, r.explain(err)
	}
	plan := func() (*needs, error) { return r.plan(rest) }
	if n, err = plan(); fault.Code(err) == fault.OverLimit {
		err = &overError{err, r.in.enough(plan)}
	}
	return n, r.explain(err)
}

// explain names files and flags in errors about a collection.
func (r *collectionRun) explain(err error) error {
	var (
		file  *graphfile.Error
		graph *graphs.GraphError
		wrong *spec.ParameterError
		line  *nodefile.ParseError
	)
	switch {
	case errors.As(err, &line): // of a file with a graph
		line.Fix = strings.TrimRight(strings.TrimSuffix(line.Fix, "or pass Config.SkipBadLines"), ", ")
		return line
	case errors.As(err, &file):
		return &nodefile.ParseError{File: file.File, Line: file.Line, Msg: file.What, Fix: file.Fix, Err: file.Err}
	case errors.As(err, &graph):
		return fault.Data(r.name, "%s", strings.ReplaceAll(graph.Error(), "the parameter cycles", "--cycles"))
	case errors.As(err, &wrong):
		return fault.Usage("--"+wrong.Parameter, "%s", wrong.What)
	}
	return err
}

// axis is that of the graphs.
func (r *collectionRun) axis() axis { return tablefile.AxisOf(r.c.IDs) }

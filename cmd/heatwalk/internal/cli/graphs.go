package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/graphfile"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/kernel/graphs"
	"github.com/heatwalk/heatwalk/sparse"
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
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		k := graphs.Of(name)
		near := nearest(name, graphs.Names())
		switch {
		case k == nil && name == "":
			in.problem("--kernel", "is missing; give one of %s", strings.Join(graphs.Names(), ", "))
		case k == nil && near != "":
			in.problem("--kernel", "there is no kernel %s between graphs; did you mean %s?", quoted(name), near)
		case k == nil:
			in.problem("--kernel", "there is no kernel %s between graphs; give one of %s", quoted(name), strings.Join(graphs.Names(), ", "))
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
		if flags.Changed(name) && !takes(name) && !slices.ContainsFunc(in.problems, func(p problem) bool { return p.place == "--"+name }) {
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
	f         *collectionFlags
	c         *graphfile.Collection // nil: it has not been read yet
	shape     *graphfile.Shape      // of c, or a bound
	readBytes int64                 // of data while it is read
	set       *graphs.Settings
	listed    map[string][]spec.Bytes // what kernels take on c, by their names and values
}

// readCollection reads INPUT. Where the layout tells what reading takes and that is too much,
// nothing is read, and the error says what is enough for all of plan.
func (in *invocation) readCollection(name string, f *collectionFlags, beside string, plan func(r *collectionRun) (*needs, error)) (*collectionRun, error) {
	r := &collectionRun{in: in, name: name, f: f, set: &graphs.Settings{Workers: in.threads, RNGSeed: uint64(in.seed)}, listed: map[string][]spec.Bytes{}}
	in.progress.begin("reading "+name, 0, "graph")
	var err error
	if prefix, ok := graphfile.FindTU(name); ok {
		err = r.readTU(prefix, plan)
	} else if isDir(name) {
		r.c, err = r.readFiles(beside)
		r.readBytes = in.measuredBytes()
	} else if _, err := os.Stat(name); err != nil {
		return nil, err
	} else {
		return nil, &dataError{name, "is no collection of graphs; give DIR/DS of files DS_A.txt and DS_graph_indicator.txt, or a directory with a graph in each file"}
	}
	if err != nil {
		return nil, r.explain(err)
	}
	if r.f.vertices == "labels" && r.c.Labels == nil {
		return nil, usageOf("--vertices", "the vertices of %s have no labels; give degree, ids or none", name)
	}
	if by := r.labelledBy(len(r.c.Labels)); by != "labels" {
		err = graphs.Relabel(r.c, by)
	}
	r.shape = r.c.Shape()
	return r, r.explain(err)
}

// labelledBy returns what labels vertices of which so many labels are given.
func (r *collectionRun) labelledBy(labels int) string {
	switch {
	case r.f.vertices != "":
		return r.f.vertices
	case labels == 0:
		return "degree"
	}
	return "labels"
}

// readTU reads a collection in the TU layout.
func (r *collectionRun) readTU(prefix string, plan func(r *collectionRun) (*needs, error)) error {
	t, err := graphfile.ScanTU(r.in.ctx, prefix, r.f.directed)
	if err != nil {
		return err
	}
	r.shape, r.readBytes = t.Shape, t.ReadBytes()
	if by := r.labelledBy(t.Shape.Labels); by != "labels" {
		relabelled := graphs.Relabelled(*t.Shape, by)
		r.shape = &relabelled
	}
	if _, err := r.begin(); err != nil {
		return &overError{err, r.in.enough(func() (*needs, error) { return plan(r) })}
	}
	r.c, err = t.Read(r.in.ctx)
	return err
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

// fit returns the plan of a run. Where it does not fit, the error says what is enough.
func (r *collectionRun) fit(plan func(r *collectionRun) (*needs, error)) (*needs, error) {
	n, err := plan(r)
	if exitCode(err) == exitLimit {
		err = &overError{err, r.in.enough(func() (*needs, error) { return plan(r) })}
	}
	return n, r.explain(err)
}

// readFiles reads the graphs of the files of a directory, in the order of their names.
func (r *collectionRun) readFiles(beside string) (*graphfile.Collection, error) {
	list, err := os.ReadDir(r.name)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, e := range list {
		if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !strings.HasSuffix(e.Name(), ".run.json") {
			paths = append(paths, filepath.Join(r.name, e.Name()))
		}
	}
	if len(paths) == 0 {
		return nil, &dataError{r.name, "holds no file; give a collection in the TU layout, or a directory with a graph in each file"}
	}
	temp, err := r.in.makeTemp(beside)
	if err != nil {
		return nil, err
	}
	defer temp.end()
	return graphs.ReadFiles(r.in.ctx, paths, temp.Path, ingest.Config{Directed: r.f.directed, Memory: r.in.dataLimit(), Workers: r.in.threads})
}

// elements reads the measure and the base kernel for a kernel with the given parameters.
func (r *collectionRun) elements(k *graphs.Kernel, given spec.Values) error {
	if r.f.measure == "" && r.f.base == "" || k.Param("parts") == nil {
		return nil
	}
	v, err := k.Resolve(given, nil)
	if err != nil {
		return err
	}
	names, err := graphs.Elements(r.in.ctx, r.c, v.Word("parts"))
	if err == nil && r.f.measure != "" {
		r.set.Measure, err = graphs.ReadMeasure(r.in.ctx, r.f.measure, names)
	}
	if err == nil && r.f.base != "" {
		r.set.Base, err = r.readBase(names)
	}
	return r.explain(err)
}

// readBase reads the kernel between the given elements.
func (r *collectionRun) readBase(names []string) (*sparse.Block[float64], error) {
	file, err := tablefile.Inspect(r.in.ctx, r.f.base, &tablefile.Options{Name: r.f.base})
	if err != nil {
		return nil, err
	}
	var place [2][]int // of each row and column of the file among the elements, −1: none
	for side, which := range []string{"rows", "cols"} {
		n := []int{file.Rows, file.Cols}[side]
		ids, err := file.Axis(r.in.ctx, which)
		if err != nil {
			return nil, err
		}
		known := make([]bool, len(names))
		for i := range n {
			at, found := slices.BinarySearch(names, ids.ID(i))
			if !found {
				at = -1
			} else {
				known[at] = true
			}
			place[side] = append(place[side], at)
		}
		if at := slices.Index(known, false); at >= 0 {
			return nil, &dataError{r.f.base, fmt.Sprintf("%s is none of its %s; give a kernel between all elements of the graphs", quoted(names[at]), which)}
		}
	}
	base, i := sparse.NewBlock[float64](len(names), len(names)), 0
	return base, tablefile.Read(r.in.ctx, file, func(_ []byte, values []float64) error {
		if at := place[0][i]; at >= 0 {
			for j, x := range values {
				if to := place[1][j]; to >= 0 {
					base.Row(at)[to] = x
				}
			}
		}
		i++
		return nil
	})
}

// explain names files and flags in errors about a collection.
func (r *collectionRun) explain(err error) error {
	var (
		file   *graphfile.Error
		graph  *graphs.GraphError
		wrong  *spec.ParameterError
		limit  *graphs.DivergenceError
		line   *ingest.ParseError
		broken = err
	)
	switch {
	case errors.As(err, &line): // of a file with a graph
		line.Fix = strings.TrimRight(strings.TrimSuffix(line.Fix, "or pass --skip-bad-lines"), ", ")
		return line
	case errors.As(err, &file):
		return &ingest.ParseError{File: file.File, Line: file.Line, Msg: file.What, Fix: file.Fix, Err: file.Err}
	case errors.As(err, &graph):
		return &dataError{r.name, strings.ReplaceAll(graph.Error(), "the parameter cycles", "--cycles")}
	case errors.As(err, &limit):
		return usageOf("--decay", "%v", limit)
	case errors.As(err, &wrong):
		return usageOf("--"+wrong.Parameter, "%s", wrong.What)
	}
	return broken
}

// kernelBytes lists what a kernel takes on the collection with given values.
func (r *collectionRun) kernelBytes(k *graphs.Kernel, v spec.Values) (list []spec.Bytes, err error) {
	if r.c == nil {
		return k.Memory(r.shape, v, r.in.threads), nil
	}
	key := k.Name + " " + k.Text(v)
	list, known := r.listed[key]
	if known {
		return list, nil
	}
	if list, err = k.MemoryOn(r.in.ctx, r.c, v, r.in.threads); err == nil {
		r.listed[key] = list
	}
	return list, err
}

// givenOf returns the values of parameters that a declaration has.
func givenOf(s *spec.Spec, given spec.Values) spec.Values {
	own := spec.Values{}
	for name, v := range given {
		if s.Param(name) != nil {
			own[name] = v
		}
	}
	return own
}

// axis is that of the graphs.
func (r *collectionRun) axis() axis { return tablefile.AxisOf(r.c.IDs) }

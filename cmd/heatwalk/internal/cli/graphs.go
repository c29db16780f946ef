package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/graphfile"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/nearest"
	"github.com/heatwalk/heatwalk/kernel/graphs"
	"github.com/heatwalk/heatwalk/method/ongraphs"
	"github.com/heatwalk/heatwalk/nodefile"
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
	var names []string
	for _, k := range graphs.Kernels() {
		names = append(names, k.Name)
	}
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if k := graphs.Of(name); k != nil {
			kernels = append(kernels, k)
		} else if near := nearest.Of(name, names); near != "" && name != "" {
			in.problem("--kernel", "there is no kernel %s between graphs; did you mean %s?", quoted(name), near)
		} else if all := strings.Join(names, ", "); name == "" {
			in.problem("--kernel", "is missing; give one of %s", all)
		} else {
			in.problem("--kernel", "there is no kernel %s between graphs; give one of %s", quoted(name), all)
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
		maps.Copy(all, given)
	}
	for _, p := range append(ofMethods(), ofGraphKernels()...) {
		in.refuse(flags, rule{!takes(p.Name), p.Name, declared[0].Name + " has no such parameter; leave it out"})
	}
	in.refuse(flags,
		rule{!takes("parts"), "measure", "is of the elements of sets, and " + declared[0].Name + " has none; leave it out"},
		rule{!slices.ContainsFunc(declared, func(s *spec.Spec) bool { return s.Name == "cross" }), "base", "is for --kernel cross; leave it out"},
	)
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
					err = &overError{err, in.enough(func() (*budget.Needs, error) { return r.plan(func(*budget.Needs) error { return nil }) })}
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
func (r *collectionRun) begin() (*budget.Needs, error) {
	const reading = "graphs while they are read"
	n := new(budget.Needs)
	n.Limit = r.in.dataLimit()
	if err := n.Reserve(r.readBytes, reading); err != nil {
		return n, err
	}
	n.Release(reading)
	return n, n.Reserve(r.shape.Bytes(), "graphs")
}

// keep plans a run with all that list and rest tell, and keeps it to that.
func (r *collectionRun) keep(list listing, rest func(n *budget.Needs) error) (err error) {
	if r.takes, err = list(r); err == nil {
		err = r.in.keepWithin(func() (*budget.Needs, error) { return r.plan(rest) })
	}
	return r.explain(err)
}

// plan returns what a run takes: the collection, what is listed, and the rest.
func (r *collectionRun) plan(rest func(n *budget.Needs) error) (*budget.Needs, error) {
	n, err := r.begin()
	if err == nil {
		err = n.ReserveList(r.takes)
	}
	if err == nil {
		err = rest(n)
	}
	return n, err
}

// explain names files and flags in errors about a collection.
func (r *collectionRun) explain(err error) error {
	var (
		graph *graphs.GraphError
		wrong *spec.ParameterError
		line  *nodefile.ParseError
	)
	switch {
	case errors.As(err, &line): // of a file with a graph
		line.Fix = strings.TrimRight(strings.TrimSuffix(line.Fix, "or pass Config.SkipBadLines"), ", ")
		return line
	case errors.As(err, &graph):
		return fault.Data(r.name, "%s", strings.ReplaceAll(graph.Error(), "the parameter cycles", "--cycles"))
	case errors.As(err, &wrong):
		return fault.Usage("--"+wrong.Parameter, "%s", wrong.What)
	}
	return learnError(err, r.name)
}

// axis is that of the graphs.
func (r *collectionRun) axis() axis { return tablefile.AxisOf(r.c.IDs) }

// graphsKernelFlags are the flags of graphs kernel.
type graphsKernelFlags struct {
	collectionFlags
	out, name, dtype string
	kernel           *graphs.Kernel
	given            spec.Values
}

// graphsKernelDocument is the JSON document of graphs kernel.
type graphsKernelDocument struct {
	matrixDocument
	Graphs int    `json:"graphs"`
	Nodes  int    `json:"nodes"`
	Values string `json:"values"`
}

func newGraphsKernel(in *invocation) *cobra.Command {
	var f graphsKernelFlags
	cmd := &cobra.Command{
		Use:   "kernel INPUT --kernel NAME -o K.npy",
		Short: "Kernel values between all graphs of a collection",
		Args:  in.arguments("INPUT", 1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.checkOutput("-o", f.out, denseFormats, append(args, f.measure, f.base)...)
			if kernels := in.graphKernels(f.name); len(kernels) == 1 {
				f.kernel = kernels[0]
				f.given = in.checkCollection(cmd.Flags(), &f.collectionFlags, []*spec.Spec{&f.kernel.Spec})
			} else if len(kernels) > 1 {
				in.problem("--kernel", "%s are several; graphs kernel takes one", f.name)
			}
			return in.then(func() error { return in.runGraphsKernel(args[0], &f) })
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "output", "o", "", "`FILE` of the values: .npy, .npz, .svm or .libsvm")
	flags.StringVar(&f.name, "kernel", "", "`NAME` of the kernel")
	in.choiceVar(flags, &f.dtype, "dtype", "float32", []string{"float32", "float64"}, "precision of the file; values are computed in float64")
	in.collectionFlags(flags, &f.collectionFlags, "raw")
	in.tempFlag(flags)
	flags.SortFlags = false
	return cmd
}

// runGraphsKernel writes the kernel that f describes, in groups of rows that fit.
func (in *invocation) runGraphsKernel(name string, f *graphsKernelFlags) error {
	o, err := in.beginProduct(f.out, denseFormatOf(f.out))
	if err != nil {
		return err
	}
	r, err := in.readCollection(name, &f.collectionFlags, f.out, f.listed)
	if err != nil {
		return err
	}
	if err := r.set.ReadElements(in.ctx, r.c, f.kernel, f.given, f.measure, f.base); err != nil {
		return r.explain(err)
	}
	n, ids := len(r.c.Graphs), r.axis()
	files, err := o.checkMatrix(ids, ids, f.dtype, "take another disk")
	if err != nil {
		return err
	}
	group, err := f.plan(r, files)
	if err != nil {
		return err
	}
	gram, err := f.kernel.Prepare(in.ctx, r.c, f.given, r.set)
	if err != nil {
		return r.explain(err)
	}
	stage := in.progress.Begin("comparing", int64(n), "graph")
	r.set.Progress = func(rows int) { stage.Set(int64(rows), int64(n)) }
	var rows *sparse.Block[float64] // of the group that is written
	err = o.fill(f.dtype, &tablefile.Matrix{Rows: ids, Cols: ids, Kernel: true, Label: classNumbers(ongraphs.Labels(r.c, name), n)}, func(i int, row []float64) error {
		if i%group == 0 {
			rows = sparse.NewBlock[float64](min(group, n-i), n)
			if err := gram.RowsTo(in.ctx, rows, i); err != nil {
				return r.explain(err)
			}
		}
		copy(row, rows.Row(i%group))
		return nil
	})
	if err != nil {
		return err
	}
	d := &graphsKernelDocument{
		matrixDocument: matrixDocument{Output: f.out, Rows: n, Cols: n, Dtype: f.dtype, Kernel: f.kernel.Name, Parameters: gram.Values},
		Graphs:         n, Values: f.values,
	}
	for i := range r.c.Graphs {
		d.Nodes += r.c.Graphs[i].Len()
	}
	return o.finish(d, nil, gram.Values, fmt.Sprintf("%s between %s of %s%s\n%s", d.Kernel, words.Counted(int64(n), "graph"),
		words.Counted(int64(d.Nodes), "node"), taken(&f.kernel.Spec, gram.Values), shapeOf(n, n, f.dtype)))
}

// plan keeps a run that writes files of so many bytes to what it takes, and returns how many
// rows are computed at a time.
func (f *graphsKernelFlags) plan(r *collectionRun, files int64) (group int, err error) {
	n := len(r.c.Graphs)
	err = r.keep(f.listed, func(need *budget.Needs) error {
		need.Disk, group = files, n
		if left, limited := need.Left(); limited {
			group = int(min(int64(n), max(1, left/rowBytes(n))))
		}
		return need.Reserve(int64(group)*rowBytes(n), "rows of values")
	})
	return group, err
}

// rowBytes is what a row of values between n graphs takes, and what is written of it.
func rowBytes(n int) int64 { return sparse.BlockBytes[float64](1, n) + 4*int64(n) }

// listed lists what the kernel takes on a collection. Before that has been read, a row of
// values is among it.
func (f *graphsKernelFlags) listed(r *collectionRun) ([]spec.Bytes, error) {
	v, err := f.kernel.Resolve(f.given, nil)
	if err != nil {
		return nil, err
	}
	list, err := f.kernel.Memory(r.in.ctx, r.shape, r.c, v, r.in.threads)
	if r.c == nil {
		list = append(list, spec.Bytes{What: "rows of values", Bytes: rowBytes(r.shape.Graphs)})
	}
	return list, err
}

package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/progress"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/graphfile"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/pages"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/kernel/graphs"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/ongram"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/tablefile"
)

// graphsFlags are the flags of the commands on a collection of graphs.
type graphsFlags struct {
	directed bool
	vertices string // what labels them
	measure  string
	base     string
	values   string // raw or cosine

	kernelNames, learnerNames string // lists, with parameters
	kernels                   []*graphs.Kernel
	learners                  []*classify.Learner // none for the values of a kernel
	given                     spec.Values

	labels, out, dtype string
	splitting
}

func newGraphs(in *invocation) *cobra.Command {
	return in.newGroup("graphs", "Kernels between many small graphs, and their classes", newGraphsKernel(in), newGraphsClassify(in), newGraphsEvaluate(in))
}

// newOnCollection returns a command on a collection, which check looks at the flags of,
// given all inputs, and do runs.
func (in *invocation) newOnCollection(use, short string, f *graphsFlags, check func(flags *pflag.FlagSet, inputs []string), do func(name string, f *graphsFlags) error) *cobra.Command {
	return in.newCommand(use, in.arguments("INPUT", 1, 1), short, func(cmd *cobra.Command, args []string) {
		in.checkGraphs(cmd.Flags(), f)
		check(cmd.Flags(), append(args, f.labels, f.measure, f.base))
	}, func(args []string) error { return do(args[0], f) })
}

// collectionFlags declares the flags of f that say how a collection is read and compared.
func (in *invocation) collectionFlags(flags *pflag.FlagSet, f *graphsFlags, values string) {
	in.choiceVar(flags, &f.values, "values", values, []string{"raw", "cosine"}, "of the kernel: as they are, or divided by the norms of both graphs")
	flags.BoolVar(&f.directed, "directed", false, "edges have a direction: of the line u, v from u to v")
	in.choiceVar(flags, &f.vertices, "vertices", "", []string{"labels", "degree", "ids", "none"}, "what labels vertices (default: their labels, or else degree)")
	flags.StringVar(&f.measure, "measure", "", "`FILE` of element<TAB>number: the measure of the elements of sets (default: 1 each)")
	flags.StringVar(&f.base, "base", "", "`FILE` with the kernel between the elements of sets for "+kernelsOfPairs()+": .npy with ids beside it, .npz (default: 1 for equal ones)")
}

// graphsLearnFlags declares the flags of f that say what is learned with.
func (in *invocation) graphsLearnFlags(flags *pflag.FlagSet, f *graphsFlags, several string) {
	flags.StringVar(&f.kernelNames, "kernel", "propagation", "`SPEC` of the kernel, as in label-pair:steps=3"+several)
	flags.StringVar(&f.learnerNames, "learner", learners()[0].Name, "`SPEC` of the learner, as in svm:cost=10"+several)
	in.collectionFlags(flags, f, "cosine")
	in.tempFlag(flags)
	flags.SortFlags = false
}

// namedList reads a list of names with parameters, and collects the parameters that are
// given: of several names a parameter has the same value.
func (in *invocation) namedList(flag, list string, of specs, given spec.Values) (found specs) {
	for text := range strings.SplitSeq(list, ",") {
		s, n := in.parseNamed(flag, text, of)
		if s == nil {
			continue
		}
		own, _ := in.given(flag, n.Given, s)
		for name, v := range own {
			if other, is := given[name]; is && other != v {
				in.problem(flag, "%s: %s has another value before; give all the same, or compare them in two runs", s.Name, name)
			}
			given[name] = v
		}
		found = append(found, s)
	}
	return found
}

// checkGraphs finds kernels, learners and their parameters, and notes errors about them, and
// flags that make no difference to any.
func (in *invocation) checkGraphs(flags *pflag.FlagSet, f *graphsFlags) {
	f.given = spec.Values{}
	declared := in.namedList("--kernel", f.kernelNames, graphKernels(), f.given)
	for _, s := range declared {
		f.kernels = append(f.kernels, graphs.Kernels().Named(s.Name))
	}
	if f.learnerNames != "" {
		for _, s := range in.namedList("--learner", f.learnerNames, learners(), f.given) {
			f.learners = append(f.learners, classify.Learners().Named(s.Name))
			declared = append(declared, s)
		}
	}
	if len(f.kernels) == 0 || in.noted("--learner") {
		return
	}
	takes := func(name string) bool {
		return slices.ContainsFunc(declared, func(s *spec.Spec) bool { return s.Param(name) != nil })
	}
	in.refuse(flags,
		rule{!takes("parts"), "measure", "is of the elements of sets, and " + declared[0].Name + " has none; leave it out"},
		rule{!slices.ContainsFunc(f.kernels, ofPairs), "base", "is for --kernel " + kernelsOfPairs() + "; leave it out"},
	)
}

// ofPairs reports whether --base makes a difference to a kernel.
func ofPairs(k *graphs.Kernel) bool { return k.Pairs }

// kernelsOfPairs names the kernels that take --base.
func kernelsOfPairs() string {
	var list specs
	for _, k := range graphs.Kernels() {
		if ofPairs(k) {
			list = append(list, &k.Spec)
		}
	}
	return strings.Join(list.names(), " or ")
}

// collectionRun is a run on a collection.
type collectionRun struct {
	*product
	name      string
	f         *graphsFlags
	c         *graphfile.Collection // nil: it has not been read yet
	shape     *graphfile.Shape      // of c, or a bound
	readBytes int64                 // of data while it is read
	set       *graphs.Settings
	bytes     int64 // of kernels and learners, in addition to the collection

	// Of a run that learns.
	l          *nodefile.Labels
	collection *ongram.Collection
	problem    *method.Problem
	methods    []method.Entry
	with       *method.Settings
}

// readCollection begins the output and reads INPUT. Where the layout tells what reading takes
// and that is too much, nothing is read, and the error says what is enough for all of the run.
func (in *invocation) readCollection(name, out string, format *tablefile.Format, f *graphsFlags) (*collectionRun, error) {
	o, err := in.beginProduct(out, format)
	if err != nil {
		return nil, err
	}
	r := &collectionRun{product: o, name: name, f: f}
	r.set = &graphs.Settings{Workers: in.threads, RNGSeed: uint64(in.seed), Cosine: f.values == "cosine"}
	in.progress.Begin("reading "+name, 0, "graph")
	var temp *tempDir
	defer func() { temp.end() }()
	r.c, err = graphs.Read(in.ctx, name, &graphs.ReadOptions{
		Directed: f.directed, Vertices: f.vertices, Memory: in.dataLimit(), Workers: in.threads,
		Temp: func() (_ string, err error) {
			if temp, err = in.makeTemp(out); err != nil {
				return "", err
			}
			return temp.Path, nil
		},
		Fits: func(shape *graphfile.Shape, reading int64) (err error) {
			r.shape, r.readBytes = shape, reading
			n, over := r.plan(nil)
			if over == nil {
				pages.Within(budget.HeapLimit(n.peak()), budget.HeapLimit(n.peak()))
				return nil
			}
			// The refusal names the memory of the whole run, not that of reading alone.
			if r.bytes, err = r.computationBytes(); err != nil {
				return err
			}
			if _, whole := r.plan(nil); whole != nil {
				return whole
			}
			return over
		},
	})
	if err != nil {
		return nil, r.explain(err)
	}
	if temp != nil {
		r.readBytes = in.measuredBytes()
	}
	r.shape = r.c.Shape()
	for _, k := range f.kernels {
		if err := r.set.ReadElements(in.ctx, r.c, k, f.given, f.measure, f.base); err != nil {
			return nil, r.explain(err)
		}
	}
	return r, nil
}

// plan returns what a run takes: the collection, what is listed, and the rest, if any.
func (r *collectionRun) plan(rest func(n *requirements) error) (*requirements, error) {
	n := r.in.needs()
	n.Earlier = budget.Item{What: "graphs while they are read", Bytes: r.readBytes}
	_ = n.Reserve(r.shape.Bytes(), "graphs")
	err := n.Reserve(r.bytes, "kernels and learners")
	if err == nil && rest != nil {
		err = rest(n)
	}
	if n.Limit > 0 && n.Earlier.Bytes > n.Limit && n.Earlier.Bytes > n.Total() {
		err = &budget.Error{Need: n.Earlier.Bytes, Limit: n.Limit, Largest: n.Earlier}
	}
	return n, err
}

// keep plans a run with all that is listed and rest tells, and keeps it to that.
func (r *collectionRun) keep(rest func(n *requirements) error) (err error) {
	if r.bytes, err = r.computationBytes(); err == nil {
		err = r.in.take(nil, func() (*requirements, error) { return r.plan(rest) })
	}
	return r.explain(err)
}

// computationBytes returns the memory of kernels and learners. Before the collection has been read
// it includes a row of values of a kernel.
func (r *collectionRun) computationBytes() (int64, error) {
	in, f := r.in, r.f
	if len(f.learners) == 0 {
		v, err := f.kernels[0].Resolve(f.given, nil)
		if err != nil {
			return 0, err
		}
		bytes, err := f.kernels[0].Bytes(in.ctx, r.shape, r.c, v, in.threads)
		if r.c == nil {
			bytes += valuesBytes(r.shape.Graphs)
		}
		return bytes, err
	}
	classes := r.shape.Classes
	if r.l != nil {
		classes = len(r.l.Names)
	}
	bytes, err := ongram.CollectionBytes(in.ctx, r.shape, r.c, f.kernels, f.learners, f.given, classes, in.threads)
	return bytes + learnerBytes, err
}

// explain names files and flags in errors about a collection.
func (r *collectionRun) explain(err error) error {
	var (
		graph *graphs.GraphError
		line  *nodefile.ParseError
	)
	switch {
	case errors.As(err, &line): // of a file with a graph
		line.Fix = strings.TrimRight(strings.TrimSuffix(line.Fix, "or pass {skip-bad-lines}"), ", ")
		return line
	case errors.As(err, &graph):
		return fault.Data(r.name, "%s", strings.ReplaceAll(graph.Error(), "the parameter cycles", "cycles"))
	}
	return learnError(err, r.name)
}

// axis is that of the graphs.
func (r *collectionRun) axis() axis { return tablefile.AxisOf(r.c.IDs) }

// nodes returns the graphs as nodes, for readers of files.
func (r *collectionRun) nodes() (*shard.Nodes, error) {
	return shard.StringNodes(slices.Values(r.c.IDs))
}

// graphsKernelDocument is the JSON document of graphs kernel.
type graphsKernelDocument struct {
	matrixDocument
	Graphs int    `json:"graphs"`
	Nodes  int    `json:"nodes"`
	Values string `json:"values"`
}

func newGraphsKernel(in *invocation) *cobra.Command {
	var f graphsFlags
	cmd := in.newOnCollection("kernel INPUT --kernel SPEC -o K.npy",
		"Kernel values between all graphs of a collection", &f, func(_ *pflag.FlagSet, inputs []string) {
			in.checkOutput("-o", f.out, denseFormats, inputs...)
			if len(f.kernels) > 1 {
				in.problem("--kernel", "%s are several; graphs kernel takes one", f.kernelNames)
			}
		}, in.runGraphsKernel)
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "output", "o", "", "`FILE` of the values: .npy, .npz, .svm or .libsvm")
	flags.StringVar(&f.kernelNames, "kernel", "", "`SPEC` of the kernel, as in label-pair:steps=3")
	in.choiceVar(flags, &f.dtype, "dtype", "float32", []string{"float32", "float64"}, "precision of the file; values are computed in float64")
	in.collectionFlags(flags, &f, "raw")
	in.tempFlag(flags)
	flags.SortFlags = false
	return cmd
}

// valuesBytes is what a row of values between so many graphs takes, and what is written of it.
func valuesBytes(graphs int) int64 {
	return tall.BlockBytes[float64](1, graphs) + 4*int64(graphs)
}

// runGraphsKernel writes the kernel that f describes, in groups of rows that fit.
func (in *invocation) runGraphsKernel(name string, f *graphsFlags) error {
	r, err := in.readCollection(name, f.out, matrixFormatOf(f.out, denseFormats), f)
	if err != nil {
		return err
	}
	kernel, n, ids := f.kernels[0], len(r.c.Graphs), r.axis()
	files, err := r.checkMatrix(ids, ids, f.dtype, "take another disk")
	if err != nil {
		return err
	}
	var group int // how many rows are computed at a time
	err = r.keep(func(need *requirements) (err error) {
		need.Disk = files
		row := valuesBytes(n)
		group = budget.Fitting(need.Limit, need.Total(), row, n)
		return need.Reserve(int64(group)*row, "rows of values")
	})
	if err != nil {
		return err
	}
	gram, err := kernel.Prepare(in.ctx, r.c, f.given, r.set)
	if err != nil {
		return r.explain(err)
	}
	stage := in.progress.Begin("comparing", int64(n), "graph")
	r.set.Progress = func(rows int) { stage.Set(int64(rows), int64(n)) }
	room := sparse.NewBlock[float64](group, n)
	values := *room // of a group
	labels := classNumbers((&ongram.Collection{Graphs: r.c}).Labels(name), n)
	err = r.fill(f.dtype, &tablefile.Matrix{Rows: ids, Cols: ids, Kernel: true, Label: labels}, func(i int, row []float64) error {
		if i%group == 0 {
			values.Rows = min(group, n-i)
			values.Data = room.Data[:values.Rows*values.Stride]
			if err := gram.RowsTo(in.ctx, &values, i); err != nil {
				return r.explain(err)
			}
		}
		copy(row, values.Row(i%group))
		return nil
	})
	if err != nil {
		return err
	}
	d := &graphsKernelDocument{
		matrixDocument: matrixDocument{Output: f.out, Rows: n, Cols: n, Dtype: f.dtype, Kernel: kernel.Name, Parameters: gram.Values},
		Graphs:         n, Values: f.values,
	}
	for i := range r.c.Graphs {
		d.Nodes += r.c.Graphs[i].Len()
	}
	return r.finish(d, nil, gram.Values, fmt.Sprintf("%s between %s of %s%s\n%s", d.Kernel, words.Counted(n, "graph"),
		words.Counted(d.Nodes, "node"), taken(&kernel.Spec, gram.Values), shapeOf(n, n, f.dtype)))
}

// beginGraphs begins a run that learns: it reads a collection and its labels and plans the run,
// which writes files of so many bytes.
func (in *invocation) beginGraphs(name, out string, f *graphsFlags, files func(r *collectionRun) int64) (*collectionRun, error) {
	r, err := in.readCollection(name, out, nil, f)
	if err != nil {
		return nil, err
	}
	if f.labels != "" {
		r.l, err = r.readClasses(f.labels)
	} else if r.l = (&ongram.Collection{Graphs: r.c}).Labels(name); r.l == nil {
		err = fault.Usage("--labels", "%s says no class of its graphs; write --labels FILE with graph<TAB>class lines", name)
	}
	if err == nil {
		err = r.l.Trainable()
	}
	if err != nil {
		return nil, err
	}
	r.collection = &ongram.Collection{Graphs: r.c, Kernel: r.set}
	if r.problem, err = r.collection.Problem(r.l.Row, r.l.Class, r.l.Names); err != nil {
		return nil, err
	}
	for _, k := range f.kernels {
		for _, l := range f.learners {
			r.methods = append(r.methods, method.Entry{Method: r.collection.Method(k, l)})
		}
	}
	r.with = &method.Settings{Given: f.given, RNGSeed: uint64(in.seed), Workers: in.threads}
	return r, r.keep(func(n *requirements) error {
		n.Disk = files(r)
		return nil
	})
}

// readClasses reads the classes of graphs. One that is called -1 is a class, as in many
// published collections.
func (r *collectionRun) readClasses(path string) (*nodefile.Labels, error) {
	nodes, err := r.nodes()
	if err != nil {
		return nil, err
	}
	return nodefile.ReadLabels(r.in.ctx, path, nodes, &nodefile.LabelConfig{
		Missing: nodefile.MissingLabels[1:], Fix: "remove such lines", Stdin: r.in.stdin, Warn: r.in.warnOf,
	})
}

// graphsClassified is the JSON document of graphs classify.
type graphsClassified struct {
	learned
	Graphs     int                `json:"graphs"`
	Method     string             `json:"method"`
	Parameters *method.Parameters `json:"parameters"`
	Settings   int                `json:"settings"`
}

func newGraphsClassify(in *invocation) *cobra.Command {
	var f graphsFlags
	cmd := in.newOnCollection("classify INPUT --labels L.tsv -o OUT.tsv",
		"A class and scores for every graph of a collection", &f, func(flags *pflag.FlagSet, inputs []string) {
			in.checkOutput("-o", f.out, tablefile.PredictionEndings, inputs...)
			if len(f.kernels) > 1 || len(f.learners) > 1 {
				in.problem("--kernel", "classify takes one kernel and one learner; evaluate compares them")
			}
			in.require(flags, "labels")
		}, in.runGraphsClassify)
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "output", "o", "-", "`FILE` of predictions: .tsv, .csv, .jsonl or .parquet; - is stdout")
	flags.StringVar(&f.labels, "labels", "", "`FILE` of graph<TAB>class lines")
	in.graphsLearnFlags(flags, &f, "")
	return cmd
}

func (in *invocation) runGraphsClassify(name string, f *graphsFlags) error {
	r, err := in.beginGraphs(name, f.out, f, func(r *collectionRun) int64 {
		return r.predictionBytes(tablefile.Columns{Classes: r.l.Names}, r.axis())
	})
	if err != nil {
		return err
	}
	in.progress.Begin("learning", progress.Whole, progress.Shares)
	p, err := r.methods[0].Method.Predict(in.ctx, r.problem, nil, r.with)
	if err != nil {
		return r.explain(err)
	}
	items := &found{ids: r.axis(), line: func(i int, line *tablefile.Prediction) {
		line.Label, line.Reached = r.l.Names[p.Class[i]], true
		simd.ConvertTo(line.Scores, p.Scores.Row(i))
	}}
	if err := r.write(items, tablefile.Columns{Classes: r.l.Names}, false, ""); err != nil {
		return err
	}
	d := &graphsClassified{
		learned: r.learned(r.l), Graphs: len(r.c.IDs), Method: r.methods[0].Method.Name(), Parameters: &p.Parameters, Settings: p.Settings,
	}
	d.estimate(p.Accuracy, p.Stderr, p.Tested)
	if known := (&ongram.Collection{Graphs: r.c}).Labels(name); known != nil {
		d.Truth = evaluate.Compare(p.Class, p.Reached, r.l, known)
	}
	text := words.Counted(d.Graphs-d.Labelled, "graph") + " classified by " + d.Method
	if estimated := d.estimated(); estimated != "" {
		text += " · " + estimated
	}
	return r.finish(d, nil, &p.Parameters, text, chosen(p.Parameters, p.Settings), d.compared("the classes of the collection", "graph"))
}

func newGraphsEvaluate(in *invocation) *cobra.Command {
	f := graphsFlags{splitting: splitting{noun: "graph", splits: 10}}
	cmd := in.newOnCollection("evaluate INPUT [--kernel A,B …]",
		"Kernels between graphs side by side on random splits of a collection", &f, func(flags *pflag.FlagSet, inputs []string) {
			in.checkStdin(f.labels, f.split)
			in.checkSplits(flags, &f.splitting, inputs...)
		}, in.runGraphsEvaluate)
	flags := cmd.Flags()
	flags.StringVar(&f.labels, "labels", "", "`FILE` of graph<TAB>class lines (default: what the collection says)")
	in.splitFlags(flags, &f.splitting)
	in.graphsLearnFlags(flags, &f, ", or several joined by commas")
	return cmd
}

func (in *invocation) runGraphsEvaluate(name string, f *graphsFlags) error {
	r, err := in.beginGraphs(name, f.report, f, func(*collectionRun) int64 { return runFileBytes })
	if err != nil {
		return err
	}
	plan := &evaluate.Plan{Methods: r.methods, Settings: r.with, Data: r.collection.Sum(), Progress: ofAllMethods(in.progress.Showing("evaluating", "split"))}
	nodes, err := r.nodes()
	if err == nil {
		err = in.planTo(plan, &f.splitting, nodes, r.l)
	}
	if err != nil {
		return err
	}
	report, err := r.runPlan(r.problem, plan)
	if err != nil {
		return r.explain(f.splitting.explain(err, nodes, r.l))
	}
	return r.publishPlanned(&evaluated{Report: report, Graph: name, Skipped: skippedOf(r.l)}, nil)
}

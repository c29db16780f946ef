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
	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/kernel/graphs"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/ongram"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// graphsOptions are the options of the commands on a collection of graphs.
type graphsOptions struct {
	tables   inputs
	directed bool
	vertices string // labels of vertices without a label
	measure  string
	base     string
	values   string // raw or cosine

	kernelNames, learnerNames string // lists, with parameters
	kernels                   []*graphs.Kernel
	learners                  []*classify.Learner // none for the values of a kernel
	userValues                param.Values

	labels, out, dtype string
	splitting          splitFlags
}

func newGraphs(run *session) *cobra.Command {
	return newGroup(run, "graphs", "Kernels between many small graphs, and their classes", newGraphsKernel(run), newGraphsClassify(run), newGraphsEvaluate(run))
}

// graphsFlags declares the flags for reading and comparing a collection, whose check parses kernels and learners.
func graphsFlags(run *session, c *graphsOptions, flags *pflag.FlagSet, values string) {
	choiceVar(run, flags, &c.values, "values", values, []string{"raw", "cosine"}, "of the kernel: as they are, or divided by the norms of both graphs")
	flags.BoolVar(&c.directed, "directed", false, "edges have a direction: of the line u, v from u to v")
	choiceVar(run, flags, &c.vertices, "vertices", "", []string{"labels", "degree", "ids", "none"}, "labels of vertices (default: those of the input, or else the degrees)")
	flags.StringVar(&c.measure, "measure", "", "`FILE` of element<TAB>number: the measure of the elements of sets (default: 1 each)")
	flags.StringVar(&c.base, "base", "", "`FILE` with the kernel between the elements of sets for "+kernelsOfPairs()+": .npy with a file of ids, .npz (default: 1 for equal ones)")
	tempFlag(&c.tables, flags)
	flags.SortFlags = false
	addCheck(run, flags, func(*cobra.Command, []string) { checkGraphs(run, c, flags) })
}

// graphsLearningFlags declares the flags for labels, learners and their choice.
func graphsLearningFlags(run *session, c *graphsOptions, flags *pflag.FlagSet, several string) {
	flags.StringVar(&c.kernelNames, "kernel", "propagation", "`SPEC` of the kernel, as in label-pair:steps=3"+several)
	flags.StringVar(&c.learnerNames, "learner", learners()[0].Name, "`SPEC` of the learner, as in svm:cost=10"+several)
	graphsFlags(run, c, flags, "cosine")
}

// namedList parses a list of names with parameters and adds the values to given. A parameter has the
// same value for all names.
func namedList[D any](run *session, flag, list string, choices declared[D], values param.Values) (result []D) {
	for text := range strings.SplitSeq(list, ",") {
		s, n := parseNamed(run, flag, text, choices.Specs())
		if s == nil {
			continue
		}
		terms, _ := parseGiven(run, flag, n.Given, s)
		for name, v := range terms {
			if previous, isGiven := values[name]; isGiven && previous != v {
				run.problem(flag, "%s: %s has another value before; give all the same, or compare them in two runs", s.Name, name)
			}
			values[name] = v
		}
		result = append(result, choices.Named(s.Name))
	}
	return result
}

// declared is a [param.List].
type declared[D any] interface {
	Specs() []*param.Spec
	Named(name string) D
}

func checkGraphs(run *session, c *graphsOptions, flags *pflag.FlagSet) {
	c.userValues = param.Values{}
	c.kernels = namedList(run, "--kernel", c.kernelNames, graphs.Kernels(), c.userValues)
	if c.learnerNames != "" {
		c.learners = namedList(run, "--learner", c.learnerNames, classify.Learners(), c.userValues)
	}
	if len(c.kernels) == 0 || run.noted("--learner") {
		return
	}
	run.refuse(flags,
		rule{!slices.ContainsFunc(c.kernels, func(k *graphs.Kernel) bool { return k.Param("parts") != nil }), "measure", "is of the elements of sets, and " + c.kernels[0].Name + " has none; leave it out"},
		rule{!slices.ContainsFunc(c.kernels, func(k *graphs.Kernel) bool { return k.Pairs }), "base", "is for --kernel " + kernelsOfPairs() + "; leave it out"},
	)
}

// kernelsOfPairs returns the names of the kernels with --base.
func kernelsOfPairs() string {
	var names []string
	for _, k := range graphs.Kernels() {
		if k.Pairs {
			names = append(names, k.Name)
		}
	}
	return strings.Join(names, " or ")
}

// collectionRun is a run on a collection.
type collectionRun struct {
	out       *outputs
	name      string
	f         *graphsOptions
	c         *graphfile.Collection // nil before it is read
	shape     *graphfile.Shape      // sizes of c, or upper bounds
	readBytes int64                 // memory of reading
	set       *graphs.Settings
	bytes     int64 // of kernels and learners, in addition to the collection

	// Of a run that learns.
	l          *nodefile.Labels
	collection *ongram.Collection
	problem    *method.Problem
	methods    []method.Entry
	options    *method.Settings
}

// readCollection begins the output and reads INPUT. If the layout shows that reading exceeds the memory limit,
// nothing is read, and the error has a sufficient limit for the whole run.
func readCollection(run *session, c *graphsOptions, name, out string, format *tablefile.Format) (*collectionRun, error) {
	o, err := beginOutputs(run, out, format)
	if err != nil {
		return nil, err
	}
	r := &collectionRun{out: o, name: name, f: c}
	isUnpacked := false
	r.set = &graphs.Settings{Workers: run.threads, RNGSeed: uint64(run.seed), Cosine: c.values == "cosine"}
	run.progress.Begin("reading "+name, 0, "graph")
	r.c, err = graphs.Read(run.ctx, name, &graphs.ReadOptions{
		Directed: c.directed, Vertices: c.vertices, Memory: run.dataLimit(), Workers: run.threads,
		Temp: func() (string, error) {
			temp, err := makeTemp(run, &c.tables, out)
			if err != nil {
				return "", err
			}
			isUnpacked = true
			return temp.Path, nil
		},
		Fits: func(shape *graphfile.Shape, reading int64) (err error) {
			r.shape, r.readBytes = shape, reading
			p, over := r.plan(nil)
			if over == nil {
				limitHeap(max(reading, p.Total()))
				return nil
			}
			// The refusal names the memory of the whole run, not that of reading alone.
			if r.bytes, err = r.computationBytes(); err != nil {
				return err
			}
			if _, overLimit := r.plan(nil); overLimit != nil {
				return overLimit
			}
			return over
		},
	})
	if err != nil {
		return nil, r.explain(err)
	}
	if isUnpacked {
		r.readBytes = measuredBytes(run)
	}
	r.shape = r.c.Shape()
	for _, k := range c.kernels {
		if err := r.set.ReadElements(run.ctx, r.c, k, c.userValues, c.measure, c.base); err != nil {
			return nil, r.explain(err)
		}
	}
	return r, nil
}

// plan returns the memory of a run: the collection, kernels and learners, and the items of rest, if any.
func (r *collectionRun) plan(reserve func(p *budget.Plan) error) (*budget.Plan, error) {
	p := r.out.run.newPlan()
	_ = p.Reserve(r.shape.Bytes(), "graphs")
	err := p.Reserve(r.bytes, "kernels and learners")
	if err == nil && reserve != nil {
		err = reserve(p)
	}
	if r.readBytes > p.Total() {
		if over := budget.Check(p.Limit, r.readBytes, readingGraphs); over != nil {
			err = over
		}
	}
	return p, err
}

const readingGraphs = "graphs while they are read"

// keep plans a run, with the items of rest, and limits its memory to the plan.
func (r *collectionRun) keep(reserve func(p *budget.Plan) error) (err error) {
	if r.bytes, err = r.computationBytes(); err != nil {
		return r.explain(err)
	}
	p, err := r.plan(reserve)
	if err == nil {
		r.out.run.reading = budget.Item{What: readingGraphs, Bytes: r.readBytes}
		err = r.out.run.begin(p)
	}
	return r.explain(err)
}

// computationBytes returns the memory of kernels and learners. Before the collection has been read
// it includes a row of values of a kernel.
func (r *collectionRun) computationBytes() (int64, error) {
	run, f := r.out.run, r.f
	if len(f.learners) == 0 {
		v, err := f.kernels[0].Resolve(f.userValues, nil)
		if err != nil {
			return 0, err
		}
		bytes, err := f.kernels[0].Bytes(run.ctx, r.shape, r.c, v, run.threads)
		if r.c == nil {
			bytes += valuesBytes(r.shape.Graphs)
		}
		return bytes, err
	}
	classes := r.shape.Classes
	if r.l != nil {
		classes = len(r.l.Names)
	}
	bytes, err := ongram.CollectionBytes(run.ctx, r.shape, r.c, f.kernels, f.learners, f.userValues, classes, run.threads)
	return bytes + learnerBytes, err
}

// explain adds files and flags to errors about a collection.
func (r *collectionRun) explain(err error) error {
	var (
		graph *graphs.GraphError
		line  *nodefile.ParseError
	)
	switch {
	case errors.As(err, &line): // of a file with a graph
		line.Otherwise = "" // its lines are not skipped
		return line
	case errors.As(err, &graph):
		return fault.Data(r.name, "%s", graph.Error())
	}
	return learnError(err, r.name)
}

// axis returns the ids of the graphs.
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
	Closing
}

func newGraphsKernel(run *session) *cobra.Command {
	cmd, c := newCommand(run, "kernel INPUT --kernel SPEC -o K.npy", "Kernel values between all graphs of a collection", checkGraphsKernel, runGraphsKernel)
	flags := cmd.Flags()
	outputFlag(flags, &c.out, "output", "", "`FILE` of the values: .npy, .npz, .svm or .libsvm", denseFormats)
	flags.StringVar(&c.kernelNames, "kernel", "", "`SPEC` of the kernel, as in label-pair:steps=3")
	choiceVar(run, flags, &c.dtype, "dtype", "float32", []string{"float32", "float64"}, "precision of the file; values are computed in float64")
	graphsFlags(run, c, flags, "raw")
	return cmd
}

func checkGraphsKernel(run *session, c *graphsOptions, _ *cobra.Command, _ []string) {
	if len(c.kernels) > 1 {
		run.problem("--kernel", "%s are several; graphs kernel takes one", c.kernelNames)
	}
}

// valuesBytes returns the memory of a row of values between the given number of graphs, and of its
// copy for the output.
func valuesBytes(graphs int) int64 {
	return blocks.BlockBytes[float64](1, graphs) + 4*int64(graphs)
}

// runGraphsKernel writes the kernel that f describes, in groups of rows that fit.
func runGraphsKernel(run *session, c *graphsOptions, name string) error {
	r, err := readCollection(run, c, name, c.out, matrixFormatOf(c.out, denseFormats))
	if err != nil {
		return err
	}
	kernel, n, ids := c.kernels[0], len(r.c.Graphs), r.axis()
	files, err := checkMatrix(r.out, ids, ids, c.dtype, "take another disk")
	if err != nil {
		return err
	}
	var group int // how many rows are computed at a time
	run.disk = files
	err = r.keep(func(p *budget.Plan) error {
		row := valuesBytes(n)
		group = budget.Fitting(p.Limit, p.Total(), row, n)
		return p.Reserve(int64(group)*row, "rows of values")
	})
	if err != nil {
		return err
	}
	gram, err := kernel.Prepare(run.ctx, r.c, c.userValues, r.set)
	if err != nil {
		return r.explain(err)
	}
	stage := run.progress.Begin("comparing", int64(n), "graph")
	r.set.Progress = func(_ string, done, total int64) { stage.Set(done, total) }
	room := sparse.NewBlock[float64](group, n)
	values := *room // of a group
	labels := classNumbers((&ongram.Collection{Graphs: r.c}).Labels(name), n)
	err = fillMatrix(r.out, c.dtype, &tablefile.Matrix{Rows: ids, Cols: ids, Kernel: true, Label: labels}, func(i int, row []float64) error {
		if i%group == 0 {
			values.Rows = min(group, n-i)
			values.Data = room.Data[:values.Rows*values.Stride]
			if err := gram.RowsTo(run.ctx, &values, i); err != nil {
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
		matrixDocument: matrixDocument{Output: c.out, Rows: n, Cols: n, Dtype: c.dtype, Kernel: kernel.Name, Parameters: gram.Values},
		Graphs:         n, Values: c.values,
	}
	for i := range r.c.Graphs {
		d.Nodes += r.c.Graphs[i].Len()
	}
	return r.out.finish(d, nil, gram.Values, fmt.Sprintf("%s between %s of %s%s\n%s", d.Kernel, words.Counted(n, "graph"),
		words.Counted(d.Nodes, "node"), parameterText(&kernel.Spec, gram.Values), shapeOf(n, n, c.dtype)))
}

// beginCollection begins a run that learns: it reads a collection and its labels and plans the run; files
// returns the size of its output files.
func beginCollection(run *session, c *graphsOptions, name, out string, files func(r *collectionRun) int64) (*collectionRun, error) {
	r, err := readCollection(run, c, name, out, nil)
	if err != nil {
		return nil, err
	}
	if c.labels != "" {
		r.l, err = r.readClasses(c.labels)
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
	r.problem = &method.Problem{Items: len(r.c.Graphs), Row: r.l.Row, Class: r.l.Class, Names: r.l.Names}
	for _, k := range c.kernels {
		for _, l := range c.learners {
			r.methods = append(r.methods, method.Entry{Method: r.collection.Method(k, l)})
		}
	}
	r.options = &method.Settings{Given: c.userValues, RNGSeed: uint64(run.seed), Workers: run.threads}
	run.disk = files(r)
	return r, r.keep(nil)
}

// readClasses reads the classes of graphs. -1 is a class, because many published collections use it.
func (r *collectionRun) readClasses(path string) (*nodefile.Labels, error) {
	nodes, err := r.nodes()
	if err != nil {
		return nil, err
	}
	l, err := nodefile.ReadLabels(r.out.run.ctx, path, nodes, &nodefile.LabelConfig{
		Missing: nodefile.MissingLabels[1:], Fix: "remove such lines", Stdin: r.out.run.stdin, Warn: r.out.run.warnOf,
	})
	if err == nil {
		noteClasses(r.out.run, path, l)
	}
	return l, err
}

// graphsClassifyDocument is the JSON document of graphs classify.
type graphsClassifyDocument struct {
	labelsDocument
	Graphs     int                `json:"graphs"`
	Method     string             `json:"method"`
	Parameters *method.Parameters `json:"parameters"`
	Settings   int                `json:"settings"`
	Closing
}

func newGraphsClassify(run *session) *cobra.Command {
	cmd, c := newCommand(run, "classify INPUT --labels L.tsv -o OUT.tsv", "A class and scores for every graph of a collection", checkGraphsClassify, runGraphsClassify)
	flags := cmd.Flags()
	outputFlag(flags, &c.out, "output", "-", "`FILE` of predictions: .tsv, .csv, .jsonl or .parquet; - is stdout", tablefile.PredictionEndings)
	flags.StringVar(&c.labels, "labels", "", "`FILE` of graph<TAB>class lines")
	graphsLearningFlags(run, c, flags, "")
	return cmd
}

func checkGraphsClassify(run *session, c *graphsOptions, cmd *cobra.Command, _ []string) {
	if len(c.kernels) > 1 || len(c.learners) > 1 {
		run.problem("--kernel", "classify takes one kernel and one learner; evaluate compares them")
	}
	run.require(cmd.Flags(), "labels")
}

func runGraphsClassify(run *session, c *graphsOptions, name string) error {
	r, err := beginCollection(run, c, name, c.out, func(r *collectionRun) int64 {
		return predictionBytes(r.out, tablefile.Columns{Classes: r.l.Names}, r.axis())
	})
	if err != nil {
		return err
	}
	run.progress.Begin("learning", progress.Whole, progress.Shares)
	p, err := r.methods[0].Method.Predict(run.ctx, r.problem, nil, r.options)
	if err != nil {
		return r.explain(err)
	}
	isKnown := labelled(r.l, len(r.c.IDs))
	items := &predictionRows{ids: r.axis(), line: func(i int, line *tablefile.Prediction) {
		line.Label, line.Reached, line.Known = r.l.Names[p.Class[i]], true, isKnown[i]
		simd.ConvertTo(line.Scores, p.Scores.Row(i))
	}}
	if err := writePredictions(r.out, items, tablefile.Columns{Classes: r.l.Names}, false, ""); err != nil {
		return err
	}
	d := &graphsClassifyDocument{
		labelsDocument: learnedFrom(r.out, r.l), Graphs: len(r.c.IDs), Method: r.methods[0].Method.Name(), Parameters: &p.Parameters, Settings: p.Settings,
	}
	d.estimate(p.Accuracy, p.Stderr, p.Tested)
	if truth := (&ongram.Collection{Graphs: r.c}).Labels(name); truth != nil {
		d.Truth = evaluate.Compare(p.Class, p.Reached, r.l, truth)
	}
	text := words.Counted(d.Graphs-d.Labelled, "graph") + " classified by " + d.Method
	if estimated := d.estimated(); estimated != "" {
		text += " · " + estimated
	}
	return r.out.finish(d, nil, &p.Parameters, text, chosen(p.Parameters, p.Settings), d.compared("the classes of the collection", "graph"))
}

func newGraphsEvaluate(run *session) *cobra.Command {
	cmd, c := newCommand(run, "evaluate INPUT [--kernel A,B …]", "Kernels between graphs side by side on random splits of a collection", nil, runGraphsEvaluate)
	c.splitting = splitFlags{noun: "graph", splits: 10}
	flags := cmd.Flags()
	flags.StringVar(&c.labels, "labels", "", "`FILE` of graph<TAB>class lines (default: the classes in the collection)")
	c.splitting.declare(run, flags)
	graphsLearningFlags(run, c, flags, ", or several joined by commas")
	return cmd
}

func runGraphsEvaluate(run *session, c *graphsOptions, name string) error {
	r, err := beginCollection(run, c, name, c.splitting.report, func(*collectionRun) int64 { return runFileBytes })
	if err != nil {
		return err
	}
	plan := &evaluate.Plan{Methods: r.methods, Settings: r.options, Data: r.collection.Sum(), Progress: run.progress.Showing("evaluating", "split")}
	nodes, err := r.nodes()
	if err != nil {
		return err
	}
	report, err := runPlan(run, r.out, &c.splitting, &c.tables, plan, nodes, r.l, func() (*evaluate.Report, error) { return evaluate.Run(run.ctx, r.problem, plan) })
	if err != nil {
		return r.explain(err)
	}
	return publishPlanned(r.out, &evaluateDocument{Report: report, Graph: name, Skipped: skippedOf(r.l)}, nil)
}

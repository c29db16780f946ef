package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/papers/graphs"
	"github.com/heatwalk/heatwalk/papers/ongram"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// graphsOptions are the options of the commands on a collection of graphs.
type graphsOptions struct {
	items    itemFlags
	directed bool
	vertices string // labels of vertices without a label
	measure  string
	base     string
	values   string // raw or cosine
}

// kernelsOf returns the kernels between graphs.
func (c *graphsOptions) kernels() (list []*graphs.Kernel) {
	for _, s := range c.items.kernels {
		list = append(list, graphs.Kernels().Named(s.Name))
	}
	return list
}

func newGraphs(run *session) *cobra.Command {
	return newGroup(run, "graphs",
		"Kernels between many small graphs, and their classes",
		newGraphsKernel(run), newGraphsClassify(run), newGraphsEvaluate(run))
}

// graphsFlags declares the flags for reading and comparing a collection, and the kernel and, if a command learns, the learner.
func graphsFlags(c *graphsOptions, flags *flagSet, kernel, values string) {
	c.items.declare(flags, graphKernels(), kernel, "label-pair:steps=3",
		values == "cosine")
	choiceVar(flags, &c.values, "values", values, []string{"raw", "cosine"},
		"of the kernel: as they are, or divided by the norms of both graphs")
	flags.BoolVar(&c.directed, "directed", false,
		"edges have a direction: of the line u, v from u to v")
	choiceVar(flags, &c.vertices, "vertices", "",
		[]string{"labels", "degree", "ids", "none"},
		"labels of vertices (default: those of the input, or else the degrees)")
	flags.addText(&c.measure, "measure", "`FILE` of element<TAB>number: the measure of the elements of sets (default: 1 each)")
	flags.addText(&c.base, "base", "`FILE` with the kernel between the elements of sets for cross: .npy with a file of ids, .npz (default: 1 for equal ones)")
	tempFlag(&c.items.tables, flags)
	flags.SortFlags = false
	flags.addCheck(func(line *commandLine, _ []string) {
		hasParts := slices.ContainsFunc(c.items.kernels,
			func(s *param.Spec) bool { return s.Param("parts") != nil })
		line.refuse(rule{len(c.items.kernels) > 0 && !hasParts, "measure base",
			"is about the elements of sets, which no kernel here has; leave it out"})
	})
}

// collectionRun is a run on a collection.
type collectionRun struct {
	itemRun
	options   *graphsOptions
	c         *graphfile.Collection // nil before it is read
	shape     *graphfile.Shape      // sizes of c, or upper bounds
	readBytes int64                 // memory of reading
	set       *graphs.Settings
	bytes     int64 // of kernels and learners, in addition to the collection
}

// readCollection begins the output and reads INPUT. If the layout shows that reading exceeds the memory limit,
// nothing is read, and the error has a sufficient limit for the whole run.
func readCollection(run *session, c *graphsOptions, name, out string,
	formats []string) (*collectionRun, error) {
	o, err := beginOutputs(run, out, formats)
	if err != nil {
		return nil, err
	}
	r := &collectionRun{itemRun: itemRun{out: o, f: &c.items, name: name,
		noun: "graph"}, options: c}
	isUnpacked := false
	r.set = &graphs.Settings{Workers: run.threads, RNGSeed: uint64(run.seed),
		Cosine: c.values == "cosine"}
	run.progress.Begin("reading "+name, 0, "graph")
	r.c, err = graphs.Read(run.ctx, name, &graphs.ReadOptions{
		Directed: c.directed, Vertices: c.vertices, Memory: run.costs.dataLimit(),
		Workers: run.threads,
		Temp: func() (string, error) {
			temp, err := makeTemp(run, &c.items.tables, out)
			if err != nil {
				return "", err
			}
			isUnpacked = true
			return temp.Path, nil
		},
		Fits: func(shape *graphfile.Shape, reading int64) (err error) {
			r.shape = shape
			r.readBytes = reading
			p, over := r.plan(nil)
			if over == nil {
				limitHeap(p.Total())
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
		return nil, r.explainError(err)
	}
	if isUnpacked {
		r.readBytes = measuredBytes(run.costs)
	}
	r.shape = r.c.Shape()
	r.ids = r.c.IDs
	r.explain = r.explainError
	for _, k := range c.kernels() {
		if err := r.set.ReadElements(run.ctx, r.c, k, c.items.userValues, c.measure,
			c.base); err != nil {
			return nil, r.explainError(err)
		}
	}
	return r, nil
}

// plan returns the memory of a run: the collection, also while it is read, kernels and learners, and what reserve adds.
func (r *collectionRun) plan(reserve func(p *budget.Plan) error) (*budget.Plan, error) {
	p := r.out.run.costs.newPlan()
	_ = p.Reserve(max(r.shape.Bytes(), r.readBytes), "graphs")
	err := p.Reserve(r.bytes, "kernels and learners")
	if err == nil && reserve != nil {
		err = reserve(p)
	}
	return p, err
}

// keep plans a run, with the items of rest, and limits its memory to the plan.
func (r *collectionRun) keep(reserve func(p *budget.Plan) error) (err error) {
	if r.bytes, err = r.computationBytes(); err != nil {
		return r.explainError(err)
	}
	p, err := r.plan(reserve)
	if err == nil {
		err = r.out.run.costs.begin(p)
	}
	return r.explainError(err)
}

// computationBytes returns the memory of kernels and learners. Before the collection has been read
// it includes a row of values of a kernel.
func (r *collectionRun) computationBytes() (int64, error) {
	run := r.out.run
	f := r.f
	if len(f.learners) == 0 {
		kernel := r.options.kernels()[0]
		v, err := kernel.Resolve(f.userValues, nil)
		if err != nil {
			return 0, err
		}
		bytes, err := kernel.Bytes(run.ctx, r.shape, r.c, v, run.threads)
		if r.c == nil {
			bytes += valuesBytes(r.shape.Graphs)
		}
		return bytes, err
	}
	classes := r.shape.Classes
	if r.l != nil {
		classes = len(r.l.Names)
	}
	bytes, err := ongram.CollectionBytes(run.ctx, r.shape, r.c, r.options.kernels(),
		f.learners, f.userValues, classes, run.threads)
	return bytes + budget.LearnerBytes, err
}

// explainError adds files and flags to errors about a collection.
func (r *collectionRun) explainError(err error) error {
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

// graphsKernelDocument is the JSON document of graphs kernel.
type graphsKernelDocument struct {
	matrixDocument
	Graphs int    `json:"graphs"`
	Nodes  int    `json:"nodes"`
	Values string `json:"values"`
	Closing
}

func newGraphsKernel(run *session) *cobra.Command {
	cmd, c, flags := newCommand(run, "kernel INPUT --kernel SPEC -o K.npy",
		"Kernel values between all graphs of a collection", nil, runGraphsKernel)
	outputFlag(flags, &c.items.out, "output", "", "`FILE` of the values: .npy, .npz, .svm or .libsvm", denseFormats)
	dtypeFlag(flags, &c.items.dtype, "float32",
		"precision of the file; values are computed in float64")
	graphsFlags(c, flags, "", "raw")
	return cmd
}

// valuesBytes returns the memory of a row of values between the given number of graphs, and of its
// copy for the output.
func valuesBytes(graphs int) int64 {
	return blocks.BlockBytes[float64](1, graphs) + 4*int64(graphs)
}

// runGraphsKernel writes the kernel that f describes, in groups of rows that fit.
func runGraphsKernel(run *session, c *graphsOptions, name string) error {
	r, err := readCollection(run, c, name, c.items.out, denseFormats)
	if err != nil {
		return err
	}
	kernel := c.kernels()[0]
	n := len(r.ids)
	ids := tablefile.AxisOf(r.ids)
	files, err := checkMatrix(r.out, ids, ids, c.items.dtype, "take another disk")
	if err != nil {
		return err
	}
	var group int // how many rows are computed at a time
	run.costs.disk = files
	err = r.keep(func(p *budget.Plan) error {
		row := valuesBytes(n)
		group = budget.FitColumns(p.Limit, p.Total(), row, n)
		return p.Reserve(int64(group)*row, "rows of values")
	})
	if err != nil {
		return err
	}
	gram, err := kernel.Prepare(run.ctx, r.c, c.items.userValues, r.set)
	if err != nil {
		return r.explainError(err)
	}
	stage := run.progress.Begin("comparing", int64(n), "graph")
	r.set.Progress = func(_ string, done, total int64) { stage.Set(done, total) }
	room := sparse.NewBlock[float64](group, n)
	values := *room // of a group
	labels := classNumbers((&ongram.Collection{Graphs: r.c}).Labels(name), n)
	err = fillMatrix(r.out, c.items.dtype, &tablefile.Matrix{Rows: ids, Cols: ids, Kernel: true, Label: labels}, func(i int, row []float64) error {
		if i%group == 0 {
			values.Rows = min(group, n-i)
			values.Data = room.Data[:values.Rows*values.Stride]
			if err := gram.RowsTo(run.ctx, &values, i); err != nil {
				return r.explainError(err)
			}
		}
		copy(row, values.Row(i%group))
		return nil
	})
	if err != nil {
		return err
	}
	d := &graphsKernelDocument{
		matrixDocument: matrixDocument{Output: c.items.out, Rows: n, Cols: n,
			Dtype: c.items.dtype, Kernel: kernel.Name, Parameters: gram.Values},
		Graphs: n, Values: c.values,
	}
	for i := range r.c.Graphs {
		d.Nodes += r.c.Graphs[i].Len()
	}
	return r.out.finish(d, gram.Values, fmt.Sprintf("%s between %s of %s%s\n%s", d.Kernel, words.Counted(n, "graph"),
		words.Counted(d.Nodes, "node"), parameterText(&kernel.Spec, gram.Values),
		shapeOf(n, n, c.items.dtype)))
}

// beginCollection begins a run that learns: it reads a collection and its labels and plans the run; files
// returns the size of its output files.
func beginCollection(run *session, c *graphsOptions, name, out string,
	files func(r *collectionRun) int64) (*collectionRun, error) {
	r, err := readCollection(run, c, name, out, nil)
	if err != nil {
		return nil, err
	}
	collection := &ongram.Collection{Graphs: r.c, Kernel: r.set}
	if c.items.labels != "" {
		r.l, err = r.readClasses(c.items.labels)
	} else if r.l = collection.Labels(name); r.l == nil {
		err = fault.Usage("--labels",
			"%s says no class of its graphs; write --labels FILE with graph<TAB>class lines", name)
	}
	if err == nil {
		err = r.l.Trainable()
	}
	if err != nil {
		return nil, err
	}
	r.document.Graphs = len(r.ids)
	for _, k := range c.kernels() {
		for _, l := range c.items.learners {
			r.sources = append(r.sources, collection.Source(k, l))
		}
	}
	run.costs.disk = files(r)
	return r, r.keep(nil)
}

// readClasses reads the classes of graphs. -1 is a class, because many published collections use it.
func (r *collectionRun) readClasses(path string) (*nodefile.Labels, error) {
	nodes, err := shard.StringNodes(slices.Values(r.ids))
	if err != nil {
		return nil, err
	}
	l, err := nodefile.ReadLabels(r.out.run.ctx, path, nodes, &nodefile.LabelConfig{
		Missing: nodefile.MissingLabels[1:], Fix: "remove such lines",
		Stdin: r.out.run.console.stdin, Warn: r.out.run.console.warnOf,
	})
	if err == nil {
		noteClasses(r.out.run.console, path, l)
	}
	return l, err
}

func newGraphsClassify(run *session) *cobra.Command {
	cmd, c, flags := newCommand(run, "classify INPUT --labels L.tsv -o OUT.tsv",
		"A class and scores for every graph of a collection", checkGraphsClassify,
		runGraphsClassify)
	outputFlag(flags, &c.items.out, "output", "-", "`FILE` of predictions: .tsv, .csv, .jsonl or .parquet; - is stdout", tablefile.PredictionEndings)
	flags.addText(&c.items.labels, "labels", "`FILE` of graph<TAB>class lines")
	graphsFlags(c, flags, "propagation", "cosine")
	return cmd
}

func checkGraphsClassify(line *commandLine, _ *graphsOptions, _ []string) {
	line.require("labels")
}

func runGraphsClassify(run *session, c *graphsOptions, name string) error {
	r, err := beginCollection(run, c, name, c.items.out, func(r *collectionRun) int64 {
		return predictionBytes(r.out, tablefile.Columns{Classes: r.l.Names},
			tablefile.AxisOf(r.ids))
	})
	if err != nil {
		return err
	}
	return r.classify(scoreFlags{kind: "probability"},
		(&ongram.Collection{Graphs: r.c}).Labels(name),
		"the classes of the collection")
}

func newGraphsEvaluate(run *session) *cobra.Command {
	cmd, c, flags := newCommand(run, "evaluate INPUT [--kernel A,B …]",
		"Kernels between graphs side by side on random splits of a collection", nil,
		runGraphsEvaluate)
	c.items.splitting = splitFlags{noun: "graph", splits: 10}
	flags.addText(&c.items.labels, "labels", "`FILE` of graph<TAB>class lines (default: the classes in the collection)")
	c.items.splitting.declare(flags)
	graphsFlags(c, flags, "propagation", "cosine")
	return cmd
}

func runGraphsEvaluate(run *session, c *graphsOptions, name string) error {
	r, err := beginCollection(run, c, name, c.items.splitting.report,
		func(*collectionRun) int64 { return runFileBytes })
	if err != nil {
		return err
	}
	return r.evaluate()
}

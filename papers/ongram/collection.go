package ongram

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/items"
	"github.com/heatwalk/heatwalk/papers/graphs"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

var collections = items.Kind{
	Name: "graphs", Noun: "graph", Title: "Kernels between many small graphs, and their classes",
	Example: "label-pair:decay=0.1", Help: helpTexts,
	Kernels: func() []*param.Spec { return graphs.Kernels().Specs() },
	Commands: []items.Command{{
		Use:   "kernel INPUT --kernel SPEC -o K.npy",
		Title: "Kernel values between all graphs of a collection",
		Flags: slices.Concat([]items.Flag{
			{Name: "output", Usage: "of the values: .npy, .npz, .svm, .libsvm, .csv or .mtx",
				Words: tablefile.MatrixEndings},
			{Name: "dtype", Usage: "precision of the file; values are computed in float64"},
			{Name: "kernel"}}, collectionFlags("raw")),
	}, {
		Use:   "classify INPUT --labels L.tsv -o OUT.tsv",
		Title: "A class and scores for every graph of a collection",
		Flags: slices.Concat([]items.Flag{
			{Name: "output", Initial: "-", Words: tablefile.PredictionEndings,
				Usage: "of predictions: .tsv, .csv, .jsonl or .parquet; - is stdout"},
			{Name: "sets"},
			{Name: "labels", Usage: "of graph<TAB>class lines", Required: true}},
			learnedFlags()),
	}, {
		Use:   "evaluate INPUT [--kernel A,B …]",
		Title: "Kernels between graphs side by side on random splits of a collection",
		Flags: slices.Concat([]items.Flag{{Name: "labels",
			Usage: "of graph<TAB>class lines (default: the classes in the collection)"},
			{Name: "splits"}}, learnedFlags()),
	}},
	Calibrated: true,
	MinusOne:   true, // usual in published collections
	Check: func(in *items.Input, report func(place, problem string)) {
		hasParts := slices.ContainsFunc(in.Kernels,
			func(s *param.Spec) bool { return s.Param("parts") != nil })
		for _, name := range []string{"measure", "base"} {
			if len(in.Kernels) > 0 && !hasParts && in.Flags[name] != "" {
				report("--"+name,
					"is about the elements of sets, which no kernel here has; leave it out")
			}
		}
	},
	Open: func(ctx context.Context, in *items.Input) (*items.Collection, error) {
		c := &collection{in: in, name: in.Paths[0]}
		opened, err := c.open(ctx)
		return opened, c.explain(err)
	},
}

func learnedFlags() []items.Flag {
	return slices.Concat([]items.Flag{{Name: "kernel", Initial: "label-pair"},
		{Name: "learner", Initial: classify.Learners()[0].Name}}, collectionFlags("cosine"),
		[]items.Flag{{Name: "label-fields"}, {Name: "unknown-ids"}})
}

func collectionFlags(values string) []items.Flag {
	return []items.Flag{
		{Name: "values", Initial: values, Words: []string{"raw", "cosine"},
			Usage: "of the kernel: as they are, or divided by the norms of both graphs"},
		{Name: "directed", Switch: true,
			Usage: "edges have a direction: of the line u, v from u to v"},
		{Name: "vertices", Words: []string{"labels", "degree", "ids", "none"},
			Usage: "labels of vertices (default: from the input, or else degrees)"},
		{Name: "measure", File: true,
			Usage: "of element<TAB>number: the measure of the elements of sets (default: 1 each)"},
		{Name: "base", File: true,
			Usage: "with the kernel between the elements of sets for cross: .npy with a file of ids, .npz (default: 1 for equal elements, else 0)"},
		{Name: "temp-dir"},
	}
}

type collection struct {
	in        *items.Input
	name      string
	graphs    *graphfile.Collection
	shape     *graphfile.Shape
	readBytes int64
	set       *graphs.Settings

	making sync.Mutex
	cache  map[string]*kernelValues // values by kernel and given parameters
}

type kernelValues struct {
	gram   *sparse.Block[float64]
	values param.Values // complete
}

func (c *collection) open(ctx context.Context) (_ *items.Collection, err error) {
	in := c.in
	isUnpacked := false
	c.set = &graphs.Settings{Workers: in.Workers,
		Cosine: in.Flags["values"] == "cosine"}
	in.Progress("reading "+c.name, 0, 0)
	c.shape, c.readBytes, err = graphfile.CountTU(ctx, c.name)
	if err == nil {
		err = c.checkMemory(ctx)
	}
	if err != nil && !errors.Is(err, graphfile.ErrNotTU) {
		return nil, err
	}
	c.graphs, err = graphs.Read(ctx, c.name, &graphs.ReadOptions{
		Directed: in.Flags["directed"] == "true", Vertices: in.Flags["vertices"],
		Memory: in.Memory, Workers: in.Workers,
		Temp: func() (string, error) {
			isUnpacked = true
			return in.Temp()
		},
	})
	if err != nil {
		return nil, err
	}
	if isUnpacked {
		peak := system.PeakMemory()
		c.readBytes = max(0, budget.Data(peak+peak/8))
		if in.Memory > 0 {
			c.readBytes = min(c.readBytes, in.Memory)
		}
	}
	c.shape = c.graphs.Shape()
	c.readBytes = max(c.readBytes, c.shape.Bytes())
	for _, k := range c.kernels() {
		if err := c.set.ReadElements(ctx, c.graphs, k, in.Values, in.Flags["measure"],
			in.Flags["base"]); err != nil {
			return nil, err
		}
	}
	return c.items(ctx)
}

func (c *collection) items(ctx context.Context) (*items.Collection, error) {
	n := len(c.graphs.IDs)
	r := &items.Collection{
		File: c.name, IDs: tablefile.AxisOf(c.graphs.IDs),
		Labels:     nodefile.LabelsOf(c.name, c.graphs.Class),
		Truth:      nodefile.LabelsOf(c.name, c.graphs.Class),
		TruthName:  "the classes of the collection",
		Unlabelled: c.name + " says no class of its graphs; write --labels FILE with graph<TAB>class lines",
		Parts:      c.parts, Gram: c.gram, Rows: c.rows,
		Units: func(kernel *param.Spec) param.Graph {
			return kernelNamed(kernel).On(ctx, c.graphs, c.set)
		},
	}
	if c.in.Command != "kernel" {
		r.Facts = &struct {
			Graphs int `json:"graphs"`
		}{n}
		nodes, err := shard.StringNodes(slices.Values(c.graphs.IDs))
		r.Lookup = nodes
		return r, err
	}
	vertices := 0
	for i := range c.graphs.Graphs {
		vertices += c.graphs.Graphs[i].Len()
	}
	r.Summary = "between " + c.in.Count(n, "graph") + " of " + c.in.Count(vertices, "node")
	r.Facts = &struct {
		Graphs int    `json:"graphs"`
		Nodes  int    `json:"nodes"`
		Values string `json:"values"`
	}{n, vertices, c.in.Flags["values"]}
	return r, nil
}

func (c *collection) kernels() (list []*graphs.Kernel) {
	for _, s := range c.in.Kernels {
		list = append(list, kernelNamed(s))
	}
	return list
}

func kernelNamed(s *param.Spec) *graphs.Kernel {
	return graphs.Kernels().Named(s.Name)
}

// explain names the collection in errors about one of its graphs.
func (c *collection) explain(err error) error {
	var (
		graph *graphs.GraphError
		line  *nodefile.ParseError
	)
	switch {
	case errors.As(err, &line): // about the file of a graph
		line.Otherwise = "" // lines of graph files are never skipped
		return line
	case errors.As(err, &graph):
		return &nodefile.ParseError{File: c.name, Msg: graph.Error()}
	}
	return err
}

func (c *collection) rows(ctx context.Context, kernel *param.Spec,
	v param.Values) (items.Rows, param.Values, error) {
	gram, err := kernelNamed(kernel).Prepare(ctx, c.graphs, v, c.set)
	if err != nil {
		return nil, nil, c.explain(err)
	}
	c.in.Progress("comparing", 0, int64(len(c.graphs.IDs)))
	c.set.Progress = c.in.Progress
	return func(ctx context.Context, dst *sparse.Block[float64], rows, _ []int) error {
		return c.explain(gram.RowsTo(ctx, dst, rows[0]))
	}, gram.Values, nil
}

// gram returns the kernel values between all graphs, and the complete parameters. It caches both for every kernel and setting.
func (c *collection) gram(ctx context.Context, kernel *param.Spec, v param.Values,
	_ []int) (classify.Gram, param.Values, error) {
	text := kernel.Name + " " + kernel.Text(v)
	c.making.Lock()
	defer c.making.Unlock()
	k := c.cache[text]
	if k == nil {
		n := len(c.graphs.IDs)
		prepared, err := kernelNamed(kernel).Prepare(ctx, c.graphs, v, c.set)
		if err != nil {
			return nil, nil, c.explain(err)
		}
		k = &kernelValues{sparse.BlockOf(n, n, make([]float64, n*n)), prepared.Values}
		if err := prepared.RowsTo(ctx, k.gram, 0); err != nil {
			return nil, nil, c.explain(err)
		}
		if c.cache == nil {
			c.cache = map[string]*kernelValues{}
		}
		c.cache[text] = k
	}
	return classify.DenseGram(k.gram), k.values, nil
}

func (c *collection) parts(_ context.Context, l *nodefile.Labels, _ int) ([]items.Part, error) {
	var (
		bytes int64
		err   error
	)
	if c.in.Command == "kernel" {
		var v param.Values
		kernel := c.kernels()[0]
		if v, err = kernel.Resolve(c.in.Values, nil); err == nil {
			bytes = kernel.Memory(c.shape, v, sched.Workers(c.in.Workers))
		}
	} else {
		classes := c.shape.Classes
		if l != nil {
			classes = len(l.Names)
		}
		bytes, err = c.learningBytes(classes)
	}
	return []items.Part{items.Part{What: "graphs", Bytes: c.readBytes}, {What: "kernels and learners", Bytes: bytes}}, c.explain(err)
}

func (c *collection) checkMemory(ctx context.Context) error {
	parts, err := c.parts(ctx, nil, 0)
	plan := budget.Plan{Limit: c.in.Memory}
	for _, part := range parts {
		err = plan.Reserve(part.Bytes, part.What)
	}
	return err
}

// learningBytes returns the memory of every kernel with every learner: n² values for each setting, and the largest computation
// of values or of a fit.
func (c *collection) learningBytes(classes int) (bytes int64, err error) {
	n := c.shape.Graphs
	largest := items.Workspace(c.in.Learners, cmp.Or(c.in.Trained, n), classes).Required(0)
	for _, k := range c.kernels() {
		settings, err := choose.Combinations(&k.Spec, k.Own(c.in.Values), nil)
		if err != nil {
			return 0, err
		}
		bytes += 8 * int64(n) * int64(n) * int64(len(settings))
		for _, v := range settings {
			largest = max(largest, k.Memory(c.shape, v, sched.Workers(c.in.Workers)))
		}
	}
	return bytes + largest + items.PredictionBytes(n, classes) + budget.LearnerBytes, nil
}

package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/bench"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// benchDocument is the JSON document of bench and bench krylov.
type benchDocument struct {
	Workload string `json:"workload"`
	Graph    string `json:"graph,omitempty"`
	Order    string `json:"order,omitempty"`
	IDs      string `json:"ids,omitempty"`
	Tiled    bool   `json:"tiled,omitempty"`
	Source   string `json:"source,omitempty"`
	Threads  int    `json:"threads"`

	*bench.Report
	Closing
}

// scalingDocument is the JSON document of bench scaling.
type scalingDocument struct {
	Output string   `json:"output,omitempty"`
	Graphs []string `json:"graphs,omitempty"`
	bench.Scaling
	Jobs []bench.Job `json:"jobs,omitempty"` // over edges
	Closing
}

// benchFlags are the flags of bench and of the commands below it.
type benchCommand struct {
	graphInputs
	bench.Settings
	dtype, ids, source string
	combinatorial      bool
	eigen              eigenParameters
	over, out          string
	minScale, maxScale int
}

// declare declares the flags of all that multiply a block.
func (c *benchCommand) declare(flags *pflag.FlagSet, columns, repeat int, meaning string) {
	numberVar(c.session, flags, &c.Columns, "columns", columns, param.Range{Least: 1, Most: 4096}, "N", meaning)
	numberVar(c.session, flags, &c.Repeat, "repeat", repeat, param.Range{Least: 1, Most: 1_000_000}, "N", "repetitions that count, after one that does not")
	c.graphInputs.declare(flags)
}

// settings completes the settings when the flags have been parsed.
func (c *benchCommand) settings() *bench.Settings {
	c.Double, c.Workers, c.RNGSeed = c.dtype == "float64", c.session.threads, uint64(c.session.seed)
	c.Normalized, c.Problem = !c.combinatorial, *c.eigen.eigenproblem()
	return &c.Settings
}

func newBench(run *session) *cobra.Command {
	f := &benchCommand{graphInputs: newGraphInputs(run)}
	cmd := f.measures("bench %s GRAPH", arguments(run, "WORKLOAD GRAPH", 2, 2), "Measure products, walks and decoding", false)
	flags := cmd.Flags()
	f.declare(flags, 8, 10, "columns of the block")
	choiceVar(run, flags, &f.dtype, "dtype", "float32", []string{"float32", "float64"}, "numbers of the block")
	choiceVar(run, flags, &f.ids, "ids", "auto", []string{"auto", "raw", "coded"},
		"column ids of a copy in memory, or coded as in the store (auto: a copy where --max-memory allows)")
	choiceVar(run, flags, &f.source, "source", "auto", []string{"auto", "memory", "disk"},
		"where coded ids are read from in every sweep (auto: memory where --max-memory allows)")
	cmd.AddCommand(newScaling(run), newKrylovBench(run))
	return cmd
}

// measures returns a command for the workloads of Krylov methods, or for the others.
func (c *benchCommand) measures(use string, takes cobra.PositionalArgs, short string, krylov bool) *cobra.Command {
	list := slices.DeleteFunc(slices.Clone(bench.Workloads), func(w *bench.Workload) bool { return w.Krylov != krylov })
	use = fmt.Sprintf(use, strings.Join(specs(list.Specs()).names(), "|"))
	return c.session.newCommand(use, takes, short, func(cmd *cobra.Command, args []string) {
		if len(args) > 0 {
			c.check(cmd, args, list)
		}
	}, func(args []string) error { return c.measure(bench.Workloads.Named(args[0]), args[1]) })
}

// check validates the flags for the workloads and records problems.
func (c *benchCommand) check(cmd *cobra.Command, args []string, workloads param.List[*bench.Workload]) {
	w, wrong := workloads.Named(args[0]), new(param.ParameterError)
	switch {
	case w == nil:
		names := specs(workloads.Specs()).names()
		last := len(names) - 1
		c.session.problem(cmd.Name(), "%s is no workload; give %s or %s", quoted(args[0]), strings.Join(names[:last], ", "), names[last])
	case w.Check != nil && errors.As(w.Check(&c.Settings), &wrong):
		c.session.problem("--"+wrong.Parameter, "%s", wrong.What)
	}
	if c.source == "disk" && c.ids == "raw" {
		c.session.problem("--ids", "raw ids lie in memory; leave out --source disk")
	}
	c.graphInputs.streamed = c.source == "disk"
	c.graphInputs.check(cmd, args[1:])
}

// measure measures a workload on a graph and prints the result.
func (c *benchCommand) measure(w *bench.Workload, graph string) error {
	s, v := c.settings(), &benchDocument{Workload: w.Name, Graph: graph, Threads: runtime.GOMAXPROCS(0)}
	t, err := c.open(w, v)
	if err != nil {
		return err
	}
	if v.Report, err = w.Run(c.session.ctx, t, s); err != nil {
		return err
	}
	return c.session.printResult(v, func(io.Writer) { v.print(c.session.stdout, c.session.cost()) })
}

// open opens the graph of a workload in the form that the flags select, and sets the fields of v.
func (c *benchCommand) open(w *bench.Workload, v *benchDocument) (*bench.Target, error) {
	copied := w.Krylov || c.ids == "raw" || c.ids == "auto" && c.source != "disk" && !w.Coded
	g, t, err := c.openSwept(v.Graph, "", copied, w, &c.Settings)
	if err != nil {
		return nil, err
	}
	if w.Krylov {
		c.Limit = heatwalk.Room(g.Graph)
		if g.Store.Manifest.Directed && w.Works&param.Directed == 0 {
			return nil, fault.Usage(v.Graph, "%s", asymmetric("bench krylov", ""))
		}
		if n := len(g.Degrees); w.Pairs && c.Columns > n {
			return nil, fault.Usage("--columns", "%d is more than %s has nodes; give 1 to %d", c.Columns, v.Graph, n)
		}
		return t, nil
	}
	v.Order, v.IDs, v.Source = orderOf(g.Store.Manifest), "coded", c.source
	if g.Store.Copy != nil {
		v.IDs, v.Tiled = "raw", g.Store.Copy.Tiled
	} else if c.ids == "raw" {
		return nil, fault.Limit("--ids", "raw ids and the benchmark exceed the memory limit; allow more with --max-memory, or give --ids auto")
	}
	if v.Source == "auto" {
		v.Source = "memory"
		if g.Store.Copy == nil && !g.Store.Resident() {
			v.Source = "disk"
		}
	}
	return t, nil
}

// checkMemory returns an error if the memory of a benchmark exceeds the limit.
func (c *benchCommand) checkMemory(bytes int64) error {
	return c.session.newPlan().Reserve(bytes, "the benchmark")
}

// print writes the result of a workload.
func (v *benchDocument) print(w io.Writer, cost string) {
	took := fmt.Sprintf("%.2f ms, median %.2f, %d threads", v.SecondsMin*1e3, v.SecondsMedian*1e3, v.Threads)
	checksum, ids := "", v.IDs
	if v.Tiled {
		ids += " tiled"
	}
	if v.Values == nil && v.Checksum != nil {
		checksum = fmt.Sprint(*v.Checksum)
	}
	switch {
	case v.Bound != nil:
		sheet(w, 12, [][2]string{
			{v.Workload, fmt.Sprintf("%s, %s, %s of %d columns", took, v.Method, words.Counted(v.Sweeps, "sweep"), v.Columns)},
			{"bound", fmt.Sprintf("%.2g, asked for %.2g", *v.Bound, v.Tolerance)}, {"checksum", checksum},
		})
	default:
		sheet(w, 20, [][2]string{
			{v.Workload, fmt.Sprintf("%s, %s ids from %s, order %s", took, ids, v.Source, v.Order)},
			{"each entry, column", fmt.Sprintf("%.4f ns (%s entries, %d columns of %s)", v.NsPerEntryColumn, words.Count(v.Entries), v.Columns, v.DType)},
			{"bandwidth", fmt.Sprintf("%.1f GB/s", v.BytesPerSecond/1e9)}, {"checksum", checksum}, {"took", cost},
		})
	}
}

func newKrylovBench(run *session) *cobra.Command {
	f := &benchCommand{graphInputs: newGraphInputs(run)}
	cmd := f.measures("krylov %s GRAPH", arguments(run, "WORKLOAD GRAPH", 2, 2), "Measure exponentials, solves and eigenpairs", true)
	flags := cmd.Flags()
	f.declare(flags, 16, 3, "columns of B, or eigenpairs")
	numberVar(run, flags, &f.Tolerance, "tolerance", 1e-8, param.Range{Most: 1, AboveLeast: true, BelowMost: true}, "tolerance", "relative error of a result, or residual")
	f.Betas = []float64{10}
	variable(run, flags, "beta", "X[,X…]", "10", "β of exponential; several are computed at once", func(s string) error {
		err := parseList(&f.Betas, s, func(text string) (float64, error) { return parseNumber[float64](text, param.Above(0), "β") })
		slices.Sort(f.Betas)
		return err
	})
	flags.BoolVar(&f.combinatorial, "combinatorial", false, "L = D − A in place of L̃")
	choiceVar(run, flags, &f.System, "system", bench.Systems[0], bench.Systems, "M of solve")
	numberVar(run, flags, &f.Alpha, "alpha", 0.9, param.Above(0), "α", "α of solve")
	choiceVar(run, flags, &f.eigen.Matrix, "matrix", string(sparse.NormalizedAdjacency), matrixNames(), "matrix of eigen")
	choiceVar(run, flags, &f.eigen.Which, "which", spectrumParts[0], spectrumParts[:2], "end of the spectrum of eigen")
	return cmd
}

// openSwept opens a graph for many sweeps, as a store or as a copy in memory. It is streamed if it
// does not fit into memory together with the workload.
func (c *benchCommand) openSwept(name, output string, copied bool, w *bench.Workload, s *bench.Settings) (g *openGraph, t *bench.Target, err error) {
	c.session.timed = true
	if g, err = c.openWith(name, output, !copied); err != nil {
		return nil, nil, err
	}
	components := 0
	if w.Pairs && s.Problem.Splits() {
		parts, err := sparse.FindComponents(c.session.ctx, g.A, c.session.threads)
		if err != nil {
			return nil, nil, err
		}
		components = len(parts.Sizes)
	}
	err = heatwalk.Begin(c.session.ctx, g.Graph, func(p *heatwalk.Plan) error {
		t = &bench.Target{A: g.A, Degrees: g.Degrees, Order: g.Nodes.Order, Components: components}
		p.RowBytes = w.RowBytes(s)
		bytes, err := w.Bytes(t, s)
		if err != nil {
			return err
		}
		return p.Reserve(bytes, "the benchmark")
	})
	if err == nil {
		t.A = g.A
	}
	return g, t, err
}

func newScaling(run *session) *cobra.Command {
	f := &benchCommand{graphInputs: newGraphInputs(run)}
	cmd := run.newCommand("scaling [GRAPH...] --over columns|threads|nodes|edges [-o PLOT.svg]", arguments(run, "GRAPH", 0, -1),
		"Time of a product by columns, threads or nodes, and of whole jobs by edges",
		func(cmd *cobra.Command, args []string) { f.checkScaling(cmd, args) },
		func(args []string) error { return f.scale(args) })
	flags := cmd.Flags()
	f.declare(flags, 8, 10, "columns of the block, where they do not change")
	choiceVar(run, flags, &f.over, "over", "columns", []string{"columns", "threads", "nodes", "edges"}, "what changes; edges run ingest and classify on block models")
	flags.StringVarP(&f.out, "output", "o", "", "`FILE` for the plot, an SVG")
	numberVar(run, flags, &f.minScale, "least", 14, param.Range{Least: 1, Most: 32}, "N", "smallest scale of nodes or edges: 2^N")
	numberVar(run, flags, &f.maxScale, "most", 0, param.Range{Least: 1, Most: 4096}, "N", "last value of the axis (default: 64 columns, 2 threads, scale 18 of nodes or edges)")
	choiceVar(run, flags, &f.dtype, "dtype", "float32", []string{"float32", "float64"}, "numbers of the block")
	return cmd
}

func (c *benchCommand) checkScaling(cmd *cobra.Command, args []string) {
	if c.maxScale == 0 {
		c.maxScale = map[string]int{"columns": 64, "threads": 2, "nodes": 18, "edges": 18}[c.over]
	}
	switch {
	case c.over == "edges" && len(args) > 0:
		c.session.problem("scaling", "the graphs of --over edges are made; leave out %s", quoted(args[0]))
	case c.over == "nodes" && len(args) > 0:
		c.session.refuse(cmd.Flags(), rule{true, "least most", "the graphs are given; leave it out"})
	case c.over != "nodes" && c.over != "edges" && len(args) == 0:
		c.session.problem("scaling", "GRAPH is missing; usage: %s", synopsis(cmd))
	case c.over != "nodes" && len(args) > 1:
		c.session.problem("scaling", "%s change on one GRAPH; leave out %s", c.over, quoted(args[1]))
	case (c.over == "nodes" || c.over == "edges") && (c.maxScale > 32 || c.maxScale < c.minScale):
		c.session.problem("--most", "%d is no scale from %d on; give %d to 32", c.maxScale, c.minScale, c.minScale)
	}
	checkOutput(c.session, "--output", c.out, nil, args...)
	c.graphInputs.check(cmd, args)
}

// scale measures a workload for several sizes, draws a chart and prints the points.
func (c *benchCommand) scale(args []string) error {
	v := &scalingDocument{Output: c.out, Graphs: args, Scaling: bench.Scaling{Over: c.over}}
	if err := c.measureScaling(v); err != nil {
		return err
	}
	if c.out != "" {
		o := newOutputs(c.session, c.out)
		w, err := o.begin(c.out)
		if err != nil {
			return err
		}
		title := "Y = D⁻¹A·X, " + c.dtype
		if c.over != "columns" {
			title += fmt.Sprintf(", %d columns", c.Columns)
		}
		draw := func() error { return v.SVG(w, title) }
		if c.over == "edges" {
			draw = func() error { return bench.JobsSVG(w, v.Jobs) }
		}
		if err := draw(); err != nil {
			return err
		}
		if err := o.commit(nil); err != nil {
			return err
		}
	}
	return c.session.printResult(v, func(w io.Writer) {
		if c.over == "edges" {
			fmt.Fprintf(w, "%12s %-8s %10s %10s %10s %9s\n", "edges", "job", "seconds", "CPU s", "GB", "accuracy")
			for _, j := range v.Jobs {
				fmt.Fprintf(w, "%12d %-8s %10.1f %10.1f %10.2f %8.1f%%\n", j.Edges, j.Name, j.Seconds, j.CPUSeconds, float64(j.PeakBytes)/1e9, 100*j.Accuracy)
			}
			return
		}
		fmt.Fprintf(w, "%10s %12s %12s %18s\n", v.Over, "entries", "ms", "ns/entry·column")
		for _, p := range v.Points {
			fmt.Fprintf(w, "%10d %12d %12.3f %18.4f\n", p.X, p.Entries, p.SecondsMin*1e3, p.NsPerEntryColumn)
		}
	}, c.out)
}

// measureScaling measures generated graphs, given graphs, or one graph with different columns or
// threads.
func (c *benchCommand) measureScaling(v *scalingDocument) error {
	s := c.settings()
	if len(v.Graphs) == 0 {
		dir, err := c.makeTempContent(c.out)
		if err != nil {
			return err
		}
		if c.over == "edges" {
			memory := ""
			if c.session.maxMemory > 0 {
				memory = fmt.Sprint(c.session.maxMemory)
			}
			return bench.Jobs(c.session.ctx, os.Args[0], dir, memory, c.minScale, c.maxScale, func(j bench.Job) { v.Jobs = append(v.Jobs, j) })
		}
		return v.AddRMAT(c.session.ctx, dir, c.minScale, c.maxScale, s, c.checkMemory)
	}
	widest := *s
	if c.over == "columns" {
		widest.Columns = c.maxScale
	}
	for _, name := range v.Graphs {
		g, t, err := c.openSwept(name, c.out, true, bench.Product, &widest)
		if err != nil {
			return err
		}
		err = v.Add(c.session.ctx, t, s, c.maxScale)
		if g.close(); err != nil {
			return err
		}
	}
	return nil
}

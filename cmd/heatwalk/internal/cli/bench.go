package cli

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/bench"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/spectral"
)

// benchmark is the JSON document of bench and bench krylov.
type benchmark struct {
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

// scaling is the JSON document of bench scaling.
type scaling struct {
	Output string   `json:"output,omitempty"`
	Graphs []string `json:"graphs,omitempty"`
	bench.Scaling
	Closing
}

// benchFlags are the flags of bench and of the commands below it.
type benchFlags struct {
	reading
	bench.Settings
	dtype, ids, source string
	combinatorial      bool
	eigen              eigenParameters
	over, out          string
	least, most        int
}

// blockFlags declares the flags of all that multiply a block.
func (in *invocation) blockFlags(flags *pflag.FlagSet, f *benchFlags, columns, repeat int, of string) {
	numberVar(in, flags, &f.Columns, "columns", columns, spec.Range{Least: 1, Most: 4096}, "N", of)
	numberVar(in, flags, &f.Repeat, "repeat", repeat, spec.Range{Least: 1, Most: 1_000_000}, "N", "repetitions that count, after one that does not")
	in.readingFlags(flags, &f.reading)
}

// settings completes the settings when the flags have been parsed.
func (in *invocation) benchSettings(f *benchFlags) *bench.Settings {
	f.Double, f.Workers, f.RNGSeed = f.dtype == "float64", in.threads, uint64(in.seed)
	f.Normalized, f.Problem = !f.combinatorial, *f.eigen.problem()
	return &f.Settings
}

func newBench(in *invocation) *cobra.Command {
	f := new(benchFlags)
	cmd := in.measures("bench %s [GRAPH]", in.arguments("WORKLOAD", 1, 2), "Measure products, walks and decoding beside the limits of this machine", f, false)
	flags := cmd.Flags()
	in.blockFlags(flags, f, 8, 10, "columns of the block")
	numberVar(in, flags, &f.Rows, "rows", 1<<20, spec.Range{Least: 1, Most: 1 << 31}, "N", "rows of the block of gather")
	in.choiceVar(flags, &f.dtype, "dtype", "float32", []string{"float32", "float64"}, "numbers of the block")
	in.choiceVar(flags, &f.ids, "ids", "auto", []string{"auto", "raw", "coded"},
		"column ids of a copy in memory, or coded as in the store (auto: a copy where --max-memory allows)")
	in.choiceVar(flags, &f.source, "source", "auto", []string{"auto", "memory", "disk"},
		"where coded ids are read from in every sweep (auto: memory where --max-memory allows)")
	cmd.AddCommand(newScaling(in), newKrylovBench(in))
	return cmd
}

// measures returns a command that measures some workloads, whose names stand in its use: Krylov
// methods, or the others.
func (in *invocation) measures(use string, takes cobra.PositionalArgs, short string, f *benchFlags, krylov bool) *cobra.Command {
	list := slices.DeleteFunc(slices.Clone(bench.Workloads), func(w *bench.Workload) bool { return w.Krylov != krylov })
	use = fmt.Sprintf(use, strings.Join(specs(list.Specs()).names(), "|"))
	return in.newCommand(use, takes, short, func(cmd *cobra.Command, args []string) {
		if len(args) > 0 {
			in.checkBench(cmd, args, f, list)
		}
	}, func(args []string) error { return in.bench(bench.Workloads.Named(args[0]), args[1:], f) })
}

// checkBench notes what is wrong with the flags of f together, for one of the workloads.
func (in *invocation) checkBench(cmd *cobra.Command, args []string, f *benchFlags, workloads spec.List[*bench.Workload]) {
	w, wrong := workloads.Named(args[0]), new(spec.ParameterError)
	switch {
	case w == nil:
		names := specs(workloads.Specs()).names()
		last := len(names) - 1
		in.problem(cmd.Name(), "%s is no workload; give %s or %s", quoted(args[0]), strings.Join(names[:last], ", "), names[last])
	case w.Works != 0 && len(args) < 2 && !w.Krylov:
		in.problem("bench", "%s needs a GRAPH; usage: %s", args[0], synopsis(cmd))
	case w.Works == 0 && len(args) > 1:
		in.problem("bench", "%s takes no GRAPH; leave out %s", args[0], quoted(args[1]))
	case w.Check != nil && errors.As(w.Check(&f.Settings), &wrong):
		in.problem("--"+wrong.Parameter, "%s", wrong.What)
	}
	if f.source == "disk" && f.ids == "raw" {
		in.problem("--ids", "raw ids lie in memory; leave out --source disk")
	}
	f.reading.streamed = f.source == "disk"
	in.checkGraph(cmd, args[1:], &f.reading)
}

// bench measures a workload, on a graph if one is given, and tells what it took.
func (in *invocation) bench(w *bench.Workload, graph []string, f *benchFlags) error {
	s, v := in.benchSettings(f), &benchmark{Workload: w.Name, Threads: runtime.GOMAXPROCS(0)}
	var t *bench.Target
	if w.Works != 0 {
		v.Graph = graph[0]
		var err error
		if t, err = in.openBench(w, v, f); err != nil {
			return err
		}
	} else if bytes, err := w.Bytes(nil, s); err != nil {
		return err
	} else if err := in.checkMemory(bytes); err != nil {
		return err
	}
	var err error
	if v.Report, err = w.Run(in.ctx, t, s); err != nil {
		return err
	}
	return in.tell(v, func(io.Writer) { v.print(in.stdout, in.cost()) })
}

// openBench opens the graph that a workload sweeps as the flags say, and notes how.
func (in *invocation) openBench(w *bench.Workload, v *benchmark, f *benchFlags) (*bench.Target, error) {
	copied := w.Krylov || f.ids == "raw" || f.ids == "auto" && f.source != "disk" && !w.Coded
	g, t, err := in.openSwept(v.Graph, "", copied, w, f, &f.Settings)
	if err != nil {
		return nil, err
	}
	if w.Krylov {
		f.Limit = g.memory()
		if g.Manifest.Directed && w.Works&spec.Directed == 0 {
			return nil, fault.Usage(v.Graph, "%s", asymmetric("bench krylov", ""))
		}
		if n := len(g.Degrees); w.Pairs && f.Columns > n {
			return nil, fault.Usage("--columns", "%d is more than %s has nodes; give 1 to %d", f.Columns, v.Graph, n)
		}
		return t, nil
	}
	v.Order, v.IDs, v.Source = orderOf(g.Manifest), "coded", f.source
	if g.Copy != nil {
		v.IDs, v.Tiled = "raw", g.Copy.Tiled
	} else if f.ids == "raw" {
		return nil, fault.Limit("--ids", "raw ids and the benchmark exceed the memory limit; allow more with --max-memory, or give --ids auto")
	}
	if v.Source == "auto" {
		v.Source = "memory"
		if g.Copy == nil && !g.Resident() {
			v.Source = "disk"
		}
	}
	// The limits take memory of their own, which a run from disk is to show
	// that it does not need.
	f.Limits = v.Source != "disk" && in.maxMemory == 0
	return t, nil
}

// checkMemory returns an error if the memory of a benchmark exceeds the limit.
func (in *invocation) checkMemory(bytes int64) error {
	return in.needs().Reserve(bytes, "the benchmark")
}

// print writes what a workload took.
func (v *benchmark) print(w io.Writer, cost string) {
	took := fmt.Sprintf("%.2f ms, median %.2f, %d threads", v.SecondsMin*1e3, v.SecondsMedian*1e3, v.Threads)
	bandwidth, row, gathered, checksum, ids := fmt.Sprintf("%.1f GB/s", v.BytesPerSecond/1e9), "", "", "", v.IDs
	if v.Tiled {
		ids += " tiled"
	}
	if v.NsPerRow > 0 {
		row = fmt.Sprintf("%.3f ns", v.NsPerRow)
	}
	if v.StreamBytesPerSecond > 0 {
		bandwidth += fmt.Sprintf("; memory in order gives %.1f", v.StreamBytesPerSecond/1e9)
	}
	if v.GatherShare > 0 {
		gathered = words.Percent(v.GatherShare)
	}
	if v.GatherShare > 1 {
		gathered += ", which gathers in the order of the ids"
	}
	if v.Values == nil && v.Checksum != nil {
		checksum = fmt.Sprint(*v.Checksum)
	}
	switch {
	case v.Graph == "":
		sheet(w, 20, [][2]string{{v.Workload, took}, {"bandwidth", bandwidth}, {"each row", row}})
	case v.Bound != nil:
		sheet(w, 12, [][2]string{
			{v.Workload, fmt.Sprintf("%s, %s, %s of %d columns", took, v.Method, words.Counted(v.Sweeps, "sweep"), v.Columns)},
			{"bound", fmt.Sprintf("%.2g, asked for %.2g", *v.Bound, v.Tolerance)}, {"checksum", checksum},
		})
	default:
		sheet(w, 20, [][2]string{
			{v.Workload, fmt.Sprintf("%s, %s ids from %s, order %s", took, ids, v.Source, v.Order)},
			{"each entry, column", fmt.Sprintf("%.4f ns (%s entries, %d columns of %s)", v.NsPerEntryColumn, words.Count(v.Entries), v.Columns, v.DType)},
			{"bandwidth", bandwidth}, {"of the gather limit", gathered}, {"checksum", checksum}, {"took", cost},
		})
	}
}

func newKrylovBench(in *invocation) *cobra.Command {
	f := new(benchFlags)
	cmd := in.measures("krylov %s GRAPH", in.arguments("WORKLOAD GRAPH", 2, 2), "Measure exponentials, solves and eigenpairs", f, true)
	flags := cmd.Flags()
	in.blockFlags(flags, f, 16, 3, "columns of B, or eigenpairs")
	numberVar(in, flags, &f.Tolerance, "tolerance", 1e-8, spec.Range{Most: 1, AboveLeast: true, BelowMost: true}, "tolerance", "relative error of a result, or residual")
	f.Betas = []float64{10}
	in.variable(flags, "beta", "X[,X…]", "10", "β of exponential; several are computed at once", func(s string) error {
		err := parseList(&f.Betas, s, func(part string) (float64, error) { return parseNumber[float64](part, spec.Above(0), "β") })
		slices.Sort(f.Betas)
		return err
	})
	flags.BoolVar(&f.combinatorial, "combinatorial", false, "L = D − A in place of L̃")
	in.choiceVar(flags, &f.System, "system", bench.Systems[0], bench.Systems, "M of solve")
	numberVar(in, flags, &f.Alpha, "alpha", 0.9, spec.Above(0), "α", "α of solve")
	in.choiceVar(flags, &f.eigen.Matrix, "matrix", string(spectral.AdjacencyNormalized), matrixNames(), "matrix of eigen")
	in.choiceVar(flags, &f.eigen.Which, "which", spectrumParts[0], spectrumParts[:2], "end of the spectrum of eigen")
	return cmd
}

// openSwept opens a graph that a workload sweeps many times, or a copy of it in memory. Without
// room for that beside what the workload takes, it is streamed.
func (in *invocation) openSwept(name, beside string, copied bool, w *bench.Workload, f *benchFlags, s *bench.Settings) (g *openGraph, t *bench.Target, err error) {
	if g, err = in.openFor(name, &f.reading, beside, copied); err != nil {
		return nil, nil, err
	}
	components := 0
	if w.Pairs && s.Problem.Splits() {
		parts, err := sparse.FindComponents(in.ctx, g.Store, in.threads)
		if err != nil {
			return nil, nil, err
		}
		components = len(parts.Sizes)
	}
	_, err = in.fit(g, func() (*requirements, error) {
		n := g.needs()
		n.Sweeps = unknownSweeps
		t = &bench.Target{A: g.A, Degrees: g.Degrees, Order: g.Nodes.Order, Components: components}
		n.RowBytes = w.RowBytes(s)
		bytes, err := w.Bytes(t, s)
		if err != nil {
			return n, err
		}
		return n, n.Reserve(bytes, "the benchmark")
	})
	if err == nil {
		err = g.Load(in.ctx)
		t.A = g.A
	}
	return g, t, err
}

func newScaling(in *invocation) *cobra.Command {
	f := new(benchFlags)
	cmd := in.newCommand("scaling [GRAPH...] --over columns|threads|nodes [-o PLOT.svg]", in.arguments("GRAPH", 0, -1),
		"How the time of a product changes with columns, threads or nodes",
		func(cmd *cobra.Command, args []string) { in.checkScaling(cmd, args, f) },
		func(args []string) error { return in.scale(args, f) })
	flags := cmd.Flags()
	in.blockFlags(flags, f, 8, 10, "columns of the block, where they do not change")
	in.choiceVar(flags, &f.over, "over", "columns", []string{"columns", "threads", "nodes"}, "what changes")
	flags.StringVarP(&f.out, "output", "o", "", "`FILE` for the plot, an SVG")
	numberVar(in, flags, &f.least, "least", 14, spec.Range{Least: 1, Most: 32}, "N", "smallest scale of nodes: 2^N")
	numberVar(in, flags, &f.most, "most", 0, spec.Range{Least: 1, Most: 4096}, "N", "last value of the axis (default: 64 columns, 2 threads, scale 18)")
	in.choiceVar(flags, &f.dtype, "dtype", "float32", []string{"float32", "float64"}, "numbers of the block")
	return cmd
}

func (in *invocation) checkScaling(cmd *cobra.Command, args []string, f *benchFlags) {
	if f.most == 0 {
		f.most = map[string]int{"columns": 64, "threads": 2, "nodes": 18}[f.over]
	}
	switch {
	case f.over == "nodes" && len(args) > 0:
		in.refuse(cmd.Flags(), rule{true, "least most", "the graphs are given; leave it out"})
	case f.over != "nodes" && len(args) == 0:
		in.problem("scaling", "GRAPH is missing; usage: %s", synopsis(cmd))
	case f.over != "nodes" && len(args) > 1:
		in.problem("scaling", "%s change on one GRAPH; leave out %s", f.over, quoted(args[1]))
	case f.over == "nodes" && (f.most > 32 || f.most < f.least):
		in.problem("--most", "%d is no scale from %d on; give %d to 32", f.most, f.least, f.least)
	}
	in.checkOutput("--output", f.out, nil, args...)
	in.checkGraph(cmd, args, &f.reading)
}

// scale measures along an axis, draws it and tells its points.
func (in *invocation) scale(args []string, f *benchFlags) error {
	v := &scaling{Output: f.out, Graphs: args, Scaling: bench.Scaling{Over: f.over}}
	if err := in.measureScaling(v, f); err != nil {
		return err
	}
	if f.out != "" {
		o := in.newProduct(f.out)
		w, err := o.begin(f.out)
		if err != nil {
			return err
		}
		title := "Y = D⁻¹A·X, " + f.dtype
		if f.over != "columns" {
			title += fmt.Sprintf(", %d columns", f.Columns)
		}
		if err := v.SVG(w, title); err != nil {
			return err
		}
		if err := o.commit(nil); err != nil {
			return err
		}
	}
	return in.tell(v, func(w io.Writer) {
		fmt.Fprintf(w, "%10s %12s %12s %18s\n", v.Over, "entries", "ms", "ns/entry·column")
		for _, p := range v.Points {
			fmt.Fprintf(w, "%10d %12d %12.3f %18.4f\n", p.X, p.Entries, p.SecondsMin*1e3, p.NsPerEntryColumn)
		}
	}, f.out)
}

// measureScaling measures on graphs that it makes, on one graph after the other, or on one
// along another axis.
func (in *invocation) measureScaling(v *scaling, f *benchFlags) error {
	s := in.benchSettings(f)
	if len(v.Graphs) == 0 {
		dir, err := in.makeTempContent(f.out)
		if err != nil {
			return err
		}
		return v.AddRMAT(in.ctx, dir, f.least, f.most, s, in.checkMemory)
	}
	widest := *s
	if f.over == "columns" {
		widest.Columns = f.most
	}
	for _, name := range v.Graphs {
		g, t, err := in.openSwept(name, f.out, true, bench.Product, f, &widest)
		if err != nil {
			return err
		}
		err = v.Add(in.ctx, t, s, f.most)
		if g.close(); err != nil {
			return err
		}
	}
	return nil
}

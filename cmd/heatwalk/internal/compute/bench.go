package compute

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/bench"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/lanczos"
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
	shell.Closing
}

// benchOptions are the options of bench and of the commands below it.
type benchOptions struct {
	graph              shell.GraphInputs
	settings           bench.Settings
	dtype, ids, source string
	combinatorial      bool
	eigen              eigenParameters
	args               []string // WORKLOAD GRAPH
}

// benchFlags declares the flags of all that multiply a block.
func (c *benchOptions) benchFlags(flags *shell.FlagSet, columns, repeat int,
	meaning string) {
	shell.NumberVar(flags, &c.settings.Columns, "columns", columns,
		param.Range{Least: 1, Most: 4096}, "N", meaning)
	shell.NumberVar(flags, &c.settings.Repeat, "repeat", repeat,
		param.Range{Least: 1, Most: 1_000_000}, "N",
		"repetitions that count, after one that does not")
	shell.GraphFlags(&c.graph, flags)
}

// benchSettings completes the settings when the flags have been parsed.
func benchSettings(run *shell.Session, c *benchOptions) *bench.Settings {
	c.settings.Double, c.settings.Workers, c.settings.RNGSeed = c.dtype == "float64", run.Threads, uint64(run.Seed)
	c.settings.Normalized, c.settings.Problem = !c.combinatorial,
		*c.eigen.eigenproblem()
	return &c.settings
}

// NewBench returns the command heatwalk bench.
func NewBench(run *shell.Session) *cobra.Command {
	cmd, c, flags := newWorkloads(run, "bench %s GRAPH",
		"Measure products, walks and decoding", false)
	c.benchFlags(flags, 8, 10, "columns of the block")
	flags.AddDtype(&c.dtype, "float32", "numbers of the block")
	flags.AddChoice(&c.ids, "ids", "auto", []string{"auto", "raw", "coded"},
		"column ids of a copy in memory, or coded as in the store (auto: a copy where --max-memory allows)")
	flags.AddChoice(&c.source, "source", "auto", []string{"auto", "memory", "disk"},
		"where coded ids are read from in every sweep (auto: memory where --max-memory allows)")
	cmd.AddCommand(newKrylovBench(run), newScalingBench(run))
	return cmd
}

// newWorkloads returns a command for the workloads of Krylov methods, or for the others.
func newWorkloads(run *shell.Session, use, short string,
	krylov bool) (*cobra.Command, *benchOptions, *shell.FlagSet) {
	list := slices.DeleteFunc(slices.Clone(bench.Workloads),
		func(w *bench.Workload) bool { return w.Krylov != krylov })
	use = fmt.Sprintf(use, strings.Join(shell.NamesIn(list.Specs()), "|"))
	cmd, c, flags := shell.NewCommand(run, use, short, func(line *shell.CommandLine, c *benchOptions,
		args []string) {
		c.args = args
		if len(args) > 0 {
			checkWorkload(line, c, list)
		}
	}, runWorkload)
	cmd.Args = shell.Arguments(run.Line, "WORKLOAD GRAPH", 2, 2)
	return cmd, c, flags
}

// checkWorkload validates the flags for the workloads and records problems.
func checkWorkload(line *shell.CommandLine, c *benchOptions,
	workloads param.List[*bench.Workload]) {
	if workloads.Named(c.args[0]) == nil {
		names := shell.NamesIn(workloads.Specs())
		last := len(names) - 1
		line.Problem(line.Command.Name(), "%s is no workload; give %s or %s",
			shell.Quote(c.args[0]), strings.Join(names[:last], ", "), names[last])
	}
	if c.args[0] == "solve" && c.settings.System == "von-neumann" &&
		c.settings.Alpha >= 1 {
		line.Problem("--alpha", "von-neumann takes 0 < α < 1")
	}
	if c.source == "disk" && c.ids == "raw" {
		line.Problem("--ids", "raw ids lie in memory; leave out --source disk")
	}
	c.graph.Streamed = c.source == "disk"
}

// runWorkload measures a workload on a graph and prints the result.
func runWorkload(run *shell.Session, c *benchOptions, name string) error {
	w := bench.Workloads.Named(name)
	graph := c.args[1]
	s := benchSettings(run, c)
	v := &benchDocument{Workload: w.Name, Graph: graph,
		Threads: runtime.GOMAXPROCS(0)}
	t, err := openTarget(run, c, w, v)
	if err != nil {
		return err
	}
	if v.Report, err = w.Run(run.Context, t, s); err != nil {
		return err
	}
	return run.Console.PrintResult(v, func(io.Writer) {
		v.print(run.Console.Stdout,
			run.Console.Cost())
	})
}

// openTarget opens the graph of a workload in the form that the flags select, and sets the fields of v.
func openTarget(run *shell.Session, c *benchOptions, w *bench.Workload,
	v *benchDocument) (*bench.Target, error) {
	copied := w.Krylov || c.ids == "raw" ||
		c.ids == "auto" && c.source != "disk" && !w.Coded
	g, t, err := openSwept(run, c, v.Graph, copied, w, &c.settings)
	if err != nil {
		return nil, err
	}
	if w.Krylov {
		c.settings.Limit = g.Plan().Room()
		if g.Store.Manifest.Directed && w.Works&param.Directed == 0 {
			return nil, shell.RefuseDirected(v.Graph, "bench krylov", "")
		}
		if n := len(g.Degrees); w.Pairs && c.settings.Columns > n {
			return nil, fault.Usage("--columns",
				"%d is more than %s has nodes; give 1 to %d", c.settings.Columns,
				v.Graph, n)
		}
		return t, nil
	}
	v.Order = shell.OrderOf(g.Store.Manifest)
	v.IDs = "coded"
	v.Source = c.source
	if g.Store.Copy != nil {
		v.IDs = "raw"
		v.Tiled = g.Store.Copy.Tiled
	} else if c.ids == "raw" {
		return nil, fault.Limit("--ids",
			"raw ids and the benchmark exceed the memory limit; allow more with --max-memory, or give --ids auto")
	}
	if v.Source == "auto" {
		v.Source = "memory"
		if g.Store.Copy == nil && !g.Store.Resident() {
			v.Source = "disk"
		}
	}
	return t, nil
}

// print writes the result of a workload.
func (v *benchDocument) print(w io.Writer, cost string) {
	took := fmt.Sprintf("%.2f ms, median %.2f, %d threads", v.SecondsMin*1e3,
		v.SecondsMedian*1e3, v.Threads)
	checksum := ""
	ids := v.IDs
	if v.Tiled {
		ids += " tiled"
	}
	if v.Values == nil && v.Checksum != nil {
		checksum = fmt.Sprint(*v.Checksum)
	}
	switch {
	case v.Bound != nil:
		shell.PrintSheet(w, 12, [][2]string{
			{v.Workload, fmt.Sprintf("%s, %s, %s of %d columns", took, v.Method,
				words.Counted(v.Sweeps, "sweep"), v.Columns)},
			{"bound", fmt.Sprintf("%.2g, asked for %.2g", *v.Bound,
				v.Tolerance)}, {"checksum", checksum},
		})
	default:
		shell.PrintSheet(w, 20, [][2]string{
			{v.Workload, fmt.Sprintf("%s, %s ids from %s, order %s", took, ids,
				v.Source, v.Order)},
			{"each entry, column",
				fmt.Sprintf("%.4f ns (%s entries, %d columns of %s)",
					v.NsPerEntryColumn, words.Count(v.Entries),
					v.Columns, v.DType)},
			{"bandwidth", fmt.Sprintf("%.1f GB/s",
				v.BytesPerSecond/1e9)}, {"checksum", checksum}, {"took", cost},
		})
	}
}

func newKrylovBench(run *shell.Session) *cobra.Command {
	cmd, f, flags := newWorkloads(run, "krylov %s GRAPH",
		"Measure exponentials, solves and eigenpairs", true)
	f.benchFlags(flags, 16, 3, "columns of B, or eigenpairs")
	shell.NumberVar(flags, &f.settings.Tolerance, "tolerance", 1e-8, lanczos.Tolerances,
		"tolerance", "relative error of a result, or residual")
	f.settings.Betas = []float64{10}
	flags.AddValue("beta", "X[,X…]", "10", "β of exponential; several are computed at once", func(s string) error {
		err := shell.ParseList(&f.settings.Betas, s,
			func(text string) (float64, error) { return shell.ParseNumber[float64](text, param.Above(0), "β") })
		slices.Sort(f.settings.Betas)
		return err
	})
	flags.BoolVar(&f.combinatorial, "combinatorial", false,
		"L = D − A in place of L̃")
	flags.AddChoice(&f.settings.System, "system", bench.Systems[0], bench.Systems,
		"M of solve")
	shell.NumberVar(flags, &f.settings.Alpha, "alpha", 0.9, param.Above(0), "α",
		"α of solve")
	flags.AddChoice(&f.eigen.Matrix, "matrix", string(sparse.NormalizedAdjacency),
		matrixNames(), "matrix of eigen")
	flags.AddChoice(&f.eigen.Which, "which", spectrumParts[0], spectrumParts[:2],
		"end of the spectrum of eigen")
	return cmd
}

// openSwept opens a graph for many sweeps, as a store or as a copy in memory. It is streamed if it
// does not fit into memory together with the workload.
func openSwept(run *shell.Session, c *benchOptions, name string, copied bool,
	w *bench.Workload, s *bench.Settings) (g *shell.OpenGraph, t *bench.Target, err error) {
	run.Costs.Timed = true
	c.graph.Coded = !copied
	if g, err = shell.ReadGraph(run, &c.graph, name, ""); err != nil {
		return nil, nil, err
	}
	job, err := g.Begin(run.Context, &heatwalk.Needs{
		Part: "the benchmark",
		Bytes: func(_ *heatwalk.Job, p *budget.Plan) (int64, error) {
			p.RowBytes = w.RowBytes(s)
			return w.Bytes(len(g.Degrees), s), nil
		},
	})
	if err != nil {
		return nil, nil, err
	}
	run.AtEnd(job.End)
	return g, &bench.Target{A: job.A, Degrees: g.Degrees, Order: g.Nodes.Order}, nil
}

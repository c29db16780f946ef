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
	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/param"
)

type benchDocument struct {
	Workload string `json:"workload"`
	Graph    string `json:"graph"`
	Order    string `json:"order"`
	IDs      string `json:"ids"`
	Tiled    bool   `json:"tiled,omitempty"`
	Source   string `json:"source"`
	Threads  int    `json:"threads"`

	*bench.Report
	shell.Closing
}

type benchOptions struct {
	graph              shell.GraphInputs
	settings           bench.Settings
	dtype, ids, source string
	path               string
	workload           *bench.Workload
}

func NewBench(run *shell.Session) *cobra.Command {
	cmd, c, flags := shell.NewCommand(run, "bench "+strings.Join(workloadNames(), "|")+" GRAPH",
		"Measure products, walks and decoding", checkBench, runBench)
	cmd.Args = run.Line.Arguments("WORKLOAD GRAPH", 2, 2)
	shell.NumberVar(flags, &c.settings.Columns, "columns", 8,
		param.Range{Least: 1, Most: 4096}, "N", "columns of the block")
	shell.NumberVar(flags, &c.settings.Repeat, "repeat", 10,
		param.Range{Least: 1, Most: 1_000_000}, "N",
		"repetitions that count, after one that does not")
	flags.AddDtype(&c.dtype, "float32", "numbers of the block")
	flags.AddChoice(&c.ids, "ids", "auto", []string{"auto", "raw", "coded"},
		"column ids of a copy in memory, or coded as in the store (auto: a copy where --max-memory allows)")
	flags.AddChoice(&c.source, "source", "auto", []string{"auto", "memory", "disk"},
		"where coded ids are read from in every sweep (auto: memory where --max-memory allows)")
	c.graph.Declare(flags)
	cmd.AddCommand(newScalingBench(run))
	return cmd
}

func workloadNames() (names []string) {
	for _, w := range bench.Workloads {
		names = append(names, w.Name)
	}
	return names
}

func checkBench(line *shell.CommandLine, c *benchOptions, args []string) {
	if len(args) < 2 {
		return
	}
	c.path = args[1]
	names := workloadNames()
	if i := slices.Index(names, args[0]); i >= 0 {
		c.workload = &bench.Workloads[i]
	} else {
		last := len(names) - 1
		line.Problem("bench", "%s is no workload; give %s or %s",
			shell.Quote(args[0]), strings.Join(names[:last], ", "), names[last])
	}
	if c.source == "disk" && c.ids == "raw" {
		line.Problem("--ids", "raw ids lie in memory; leave out --source disk")
	}
	c.graph.Streamed = c.source == "disk"
}

// runBench measures a workload on a graph and prints the result.
func runBench(run *shell.Session, c *benchOptions, _ string) error {
	c.settings.Double = c.dtype == "float64"
	c.settings.Workers = run.Threads
	v := &benchDocument{Workload: c.workload.Name, Graph: c.path, Threads: runtime.GOMAXPROCS(0)}
	t, err := openTarget(run, c, v)
	if err != nil {
		return err
	}
	if v.Report, err = c.workload.Run(run.Context, t, &c.settings); err != nil {
		return err
	}
	return run.Console.PrintResult(v, func(io.Writer) { v.print(run.Console.Stdout, run.Console.Cost()) })
}

// openTarget opens the graph for the benchmark, on disk or in memory as the flags say. It stores the
// order, the source and the encoding of the graph in v.
func openTarget(run *shell.Session, c *benchOptions, v *benchDocument) (*bench.Target, error) {
	copied := c.ids == "raw" || c.ids == "auto" && c.source != "disk" && !c.workload.IsCoded
	g, t, err := openSwept(run, c, copied)
	if err != nil {
		return nil, err
	}
	v.Order = shell.OrderOf(g.Store.Manifest)
	v.IDs = "coded"
	v.Source = c.source
	if g.Store.Copy != nil {
		v.IDs = "raw"
		v.Tiled = g.Store.Copy.Tiled
	} else if c.ids == "raw" {
		return nil, shell.LimitError("--ids",
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

func (v *benchDocument) print(w io.Writer, cost string) {
	ids := v.IDs
	if v.Tiled {
		ids += " tiled"
	}
	shell.PrintSheet(w, 20, [][2]string{
		{v.Workload, fmt.Sprintf("%.2f ms, median %.2f, %d threads, %s ids from %s, order %s",
			v.SecondsMin*1e3, v.SecondsMedian*1e3, v.Threads, ids, v.Source, v.Order)},
		{"each entry, column", fmt.Sprintf("%.4f ns (%s entries, %d columns of %s)",
			v.NsPerEntryColumn, words.Count(v.Entries), v.Columns, v.DType)},
		{"bandwidth", fmt.Sprintf("%.1f GB/s", v.BytesPerSecond/1e9)},
		{"checksum", fmt.Sprint(*v.Checksum)},
		{"took", cost},
	})
}

// openSwept opens the graph for many sweeps. If copied is set, it decodes the graph in memory; otherwise
// the graph keeps the encoding of the store. If the graph and the workload exceed the memory limit, the
// graph stays on disk.
func openSwept(run *shell.Session, c *benchOptions, copied bool) (*shell.OpenGraph, *bench.Target, error) {
	run.Costs.Timed = true
	c.graph.Coded = !copied
	g, err := run.ReadGraph(&c.graph, c.path, "")
	if err != nil {
		return nil, nil, err
	}
	job, err := g.Begin(run.Context, &heatwalk.Needs{
		Part: "the benchmark",
		Workspace: func(_ *heatwalk.Job, p *budget.Plan) (budget.Workspace, error) {
			p.RowBytes = c.workload.RowBytes(&c.settings)
			return budget.Held(c.workload.Bytes(len(g.Degrees), &c.settings)), nil
		},
	})
	if err != nil {
		return nil, nil, err
	}
	run.AtEnd(job.End)
	return g, &bench.Target{A: job.A, Degrees: g.Degrees, Order: g.Nodes.Order}, nil
}

package cli

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/bench"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
)

// benchmark is the JSON document of the command.
type benchmark struct {
	Workload  string `json:"workload"`
	Graph     string `json:"graph,omitempty"`
	Order     string `json:"order,omitempty"`
	IDs       string `json:"ids,omitempty"`
	Reordered bool   `json:"reordered,omitempty"`
	Tiled     bool   `json:"tiled,omitempty"`
	Source    string `json:"source,omitempty"`
	Threads   int    `json:"threads"`

	*bench.Report

	// The limit of the machine, measured in the same run.
	StreamBytesPerSecond float64 `json:"stream_bytes_per_second,omitempty"`
	Closing
}

// benchFlags are the flags of bench.
type benchFlags struct {
	reading
	bench.Settings
	dtype, ids, source string
}

func newBench(in *invocation) *cobra.Command {
	f := new(benchFlags)
	cmd := &cobra.Command{
		Use:   "bench stream|gather|decode|spmm|walk [GRAPH]",
		Short: "Measure products, walks and decoding beside the limits of this machine",
		Args:  in.arguments("WORKLOAD", 1, 2),
	}
	cmd.RunE = in.runs(func(cmd *cobra.Command, args []string) { in.checkBench(cmd, args, f) },
		func(args []string) error { return in.bench(args, f) })
	flags := cmd.Flags()
	in.intVar(flags, &f.Columns, "columns", 8, 1, 4096, "columns of the block")
	in.intVar(flags, &f.Rows, "rows", 1<<20, 1, 1<<31, "rows of the block of gather")
	in.intVar(flags, &f.Repeat, "repeat", 10, 1, 1_000_000, "repetitions that count, after one that does not")
	in.choiceVar(flags, &f.dtype, "dtype", "float32", []string{"float32", "float64"}, "numbers of the block")
	in.choiceVar(flags, &f.ids, "ids", "auto", []string{"auto", "raw", "coded"},
		"column ids of a copy in memory, or coded as in the store (auto: a copy where --max-memory allows)")
	in.choiceVar(flags, &f.source, "source", "auto", []string{"auto", "memory", "disk"},
		"where coded ids are read from in every sweep (auto: memory where --max-memory allows)")
	in.readingFlags(flags, &f.reading)
	cmd.AddCommand(newScaling(in), newKrylovBench(in))
	return cmd
}

func (in *invocation) checkBench(cmd *cobra.Command, args []string, f *benchFlags) {
	if len(args) == 0 {
		return
	}
	switch w := bench.WorkloadOf(args[0]); {
	case w == nil:
		in.problem("bench", "%s is no workload; give stream, gather, decode, spmm or walk", quoted(args[0]))
	case w.OnGraph && len(args) < 2:
		in.problem("bench", "%s needs a GRAPH; usage: %s", args[0], synopsis(cmd))
	case !w.OnGraph && len(args) > 1:
		in.problem("bench", "%s takes no GRAPH; leave out %s", args[0], quoted(args[1]))
	}
	if f.source == "disk" && f.ids == "raw" {
		in.problem("--ids", "raw ids lie in memory; leave out --source disk")
	}
	f.reading.streamed = f.source == "disk"
	in.checkGraph(cmd, args[1:], &f.reading)
}

// bench measures a workload and tells what it took.
func (in *invocation) bench(args []string, f *benchFlags) (err error) {
	f.Double, f.Workers = f.dtype == "float64", in.threads
	v := &benchmark{Workload: args[0], Threads: runtime.GOMAXPROCS(0)}
	w := bench.WorkloadOf(v.Workload)
	if w.OnGraph {
		v.Graph = args[1]
		err = in.benchGraph(w, v, f)
	} else if err = in.roomFor(spec.Sum(w.Memory(0, &f.Settings))); err == nil {
		v.Report, err = w.Run(in.ctx, nil, &f.Settings)
	}
	if err != nil {
		return err
	}
	return in.tell(v, func(io.Writer) { in.printBench(v) })
}

// benchGraph measures a workload on a graph.
func (in *invocation) benchGraph(w *bench.Workload, v *benchmark, f *benchFlags) error {
	g, err := in.openGraph(v.Graph, &f.reading, "")
	if err != nil {
		return err
	}
	defer g.close()
	v.Order, v.IDs, v.Source = orderOf(g.Manifest()), f.ids, f.source
	blocks := spec.Sum(w.Memory(len(g.Degrees()), &f.Settings))
	if err := in.roomFor(g.held() + blocks); err != nil {
		return err
	}
	if v.IDs, err = g.copySwept(v, f.RowBytes(), blocks); err != nil {
		return err
	}
	if g.layout != nil {
		v.Reordered, v.Tiled = g.layout.Reordered, g.layout.Tiled
	}
	if v.Source == "auto" {
		v.Source = "memory"
		if g.layout == nil && !g.Resident() {
			v.Source = "disk"
		}
	}
	if v.Report, err = w.Run(in.ctx, g.target(), &f.Settings); err != nil {
		return err
	}
	// The limits take memory of their own, which a run from disk is to show
	// that it does not need.
	if v.Source == "disk" || in.maxMemory > 0 {
		return nil
	}
	if v.Workload == "spmm" {
		v.GatherShare, err = bench.GatherShare(in.ctx, g.target(), &f.Settings, v.SecondsMin)
		if err != nil {
			return err
		}
	}
	limit, err := bench.WorkloadOf("stream").Run(in.ctx, nil, &bench.Settings{Repeat: 3, Workers: in.threads})
	v.StreamBytesPerSecond = limit.BytesPerSecond
	return err
}

// copySwept makes the copy of the graph that a workload sweeps, unless it asks for
// coded ids or reads from disk, or there is no room beside blocks of so many bytes. It
// returns which ids are swept.
func (g *openGraph) copySwept(v *benchmark, rowBytes int, blocks int64) (ids string, err error) {
	plain, _ := g.in.copyMemory(g.Manifest())
	fits := g.memory() == 0 || g.memory()-blocks > 2*plain
	if v.IDs == "coded" || v.IDs != "raw" && (!fits || v.Source == "disk" || v.Workload == "decode") {
		return "coded", nil
	}
	if err := g.in.roomFor(g.held() + plain + blocks); err != nil {
		return "", err
	}
	if err := g.copyFor(sparse.LayoutOptions{RowBytes: rowBytes}); err != nil {
		return "", err
	}
	return "raw", g.load()
}

// roomFor returns an error if so many bytes do not fit the limit.
func (in *invocation) roomFor(bytes int64) error {
	if in.memory == 0 {
		return nil
	}
	plan := budget.Plan{Limit: in.plannable()}
	return plan.Reserve(bytes, "what is measured")
}

func (in *invocation) printBench(v *benchmark) {
	w := in.stdout
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-20s %s\n", name, fmt.Sprintf(format, args...))
	}
	if l := v.Limit; l != nil {
		line(v.Workload, "%.2f ms, median %.2f, %d threads", l.SecondsMin*1e3, l.SecondsMedian*1e3, v.Threads)
		line("bandwidth", "%.1f GB/s", l.BytesPerSecond/1e9)
		if l.NsPerRow > 0 {
			line("each row", "%.3f ns", l.NsPerRow)
		}
		return
	}
	s := v.Sweeps
	ids := v.IDs
	switch {
	case v.Reordered:
		ids += " reordered"
	case v.Tiled:
		ids += " tiled"
	}
	line(v.Workload, "%.2f ms, median %.2f, %d threads, %s ids from %s, order %s", s.SecondsMin*1e3, s.SecondsMedian*1e3, v.Threads, ids, v.Source, v.Order)
	line("each entry, column", "%.4f ns (%s entries, %d columns of %s)", s.NsPerEntryColumn, words.Count(s.Entries), s.Columns, s.DType)
	bandwidth := fmt.Sprintf("%.1f GB/s", s.BytesPerSecond/1e9)
	if v.StreamBytesPerSecond > 0 {
		bandwidth += fmt.Sprintf("; memory in order gives %.1f", v.StreamBytesPerSecond/1e9)
	}
	line("bandwidth", "%s", bandwidth)
	if s.GatherShare > 0 {
		beaten := ""
		if s.GatherShare > 1 {
			beaten = ", which gathers in the order of the ids"
		}
		line("of the gather limit", "%s%s", words.Percent(s.GatherShare), beaten)
	}
	line("checksum", "%v", s.Checksum)
	if !in.quiet {
		line("took", "%s", in.cost())
	}
}

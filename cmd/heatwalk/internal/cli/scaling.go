package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/bench"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/spec"
)

// scaling is the JSON document of the command.
type scaling struct {
	Output string   `json:"output,omitempty"`
	Graphs []string `json:"graphs,omitempty"`
	*bench.Scaling
	Closing
}

// scalingFlags are the flags of bench scaling.
type scalingFlags struct {
	reading
	bench.Settings
	over, out, dtype string
	least, most      int
}

func newScaling(in *invocation) *cobra.Command {
	f := new(scalingFlags)
	cmd := &cobra.Command{
		Use:   "scaling [GRAPH...] --over columns|threads|nodes [-o PLOT.svg]",
		Short: "How the time of a product changes with columns, threads or nodes",
		Args:  in.arguments("GRAPH", 0, -1),
	}
	cmd.RunE = in.runs(func(cmd *cobra.Command, args []string) { in.checkScaling(cmd, args, f) },
		func(args []string) error { return in.scale(args, f) })
	flags := cmd.Flags()
	in.choiceVar(flags, &f.over, "over", "columns", []string{"columns", "threads", "nodes"}, "what changes")
	flags.StringVarP(&f.out, "output", "o", "", "`FILE` for the plot, an SVG")
	in.intVar(flags, &f.least, "least", 14, 1, 32, "smallest scale of nodes: 2^N")
	in.intVar(flags, &f.most, "most", 0, 1, 4096, "last value of the axis (default: 64 columns, 2 threads, scale 18)")
	in.intVar(flags, &f.Columns, "columns", 8, 1, 4096, "columns of the block, where they do not change")
	in.choiceVar(flags, &f.dtype, "dtype", "float32", []string{"float32", "float64"}, "numbers of the block")
	in.intVar(flags, &f.Repeat, "repeat", 10, 1, 1_000_000, "repetitions that count, after one that does not")
	in.readingFlags(flags, &f.reading)
	return cmd
}

func (in *invocation) checkScaling(cmd *cobra.Command, args []string, f *scalingFlags) {
	if f.most == 0 {
		f.most = map[string]int{"columns": 64, "threads": 2, "nodes": 18}[f.over]
	}
	switch {
	case f.over == "nodes" && len(args) > 0:
		for _, name := range []string{"least", "most"} {
			if cmd.Flags().Changed(name) {
				in.problem("--"+name, "the graphs are given; leave it out")
			}
		}
	case f.over != "nodes" && len(args) == 0:
		in.problem("scaling", "GRAPH is missing; usage: %s", synopsis(cmd))
	case f.over != "nodes" && len(args) > 1:
		in.problem("scaling", "%s change on one GRAPH; leave out %s", f.over, quoted(args[1]))
	case f.over == "nodes" && (f.most > 32 || f.most < f.least):
		in.problem("--most", "%d is no scale from %d on; give %d to 32", f.most, f.least, f.least)
	}
	if f.out != "" {
		in.checkOutput("--output", f.out, args...)
	}
	in.checkGraph(cmd, args, &f.reading)
}

// scale measures along an axis, draws it and tells its points.
func (in *invocation) scale(args []string, f *scalingFlags) (err error) {
	outs := &outputs{in: in}
	defer outs.abort()
	f.Double, f.Workers = f.dtype == "float64", in.threads
	v := &scaling{Output: f.out, Graphs: args}
	if f.over == "nodes" && len(args) == 0 {
		v.Scaling, err = in.scaleRMAT(f)
	} else {
		v.Scaling, err = in.scaleGraphs(args, f)
	}
	if err != nil {
		return err
	}
	if f.out != "" {
		w, err := outs.begin(f.out)
		if err != nil {
			return err
		}
		title := fmt.Sprintf("Y = D⁻¹A·X, %s, %d columns", f.dtype, f.Columns)
		if f.over == "columns" {
			title = "Y = D⁻¹A·X, " + f.dtype
		}
		if err := v.SVG(w, title); err != nil {
			return err
		}
		if err := outs.commit(); err != nil {
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

// scaleRMAT measures on graphs that it makes.
func (in *invocation) scaleRMAT(f *scalingFlags) (*bench.Scaling, error) {
	temp, err := in.makeTemp(f.out)
	if err != nil {
		return nil, err
	}
	defer temp.end()
	if err := durable.OS.Mkdir(temp.Content()); err != nil {
		return nil, err
	}
	if err := in.roomFor(spec.Sum(bench.OverNodesMemory(f.most, &f.Settings))); err != nil {
		return nil, err
	}
	return bench.OverNodes(in.ctx, temp.Content(), f.least, f.most, &f.Settings)
}

// scaleGraphs measures on one graph after the other, or on one along another axis.
func (in *invocation) scaleGraphs(names []string, f *scalingFlags) (v *bench.Scaling, err error) {
	widest := f.Settings
	if f.over == "columns" {
		widest.Columns = f.most
	}
	v = &bench.Scaling{Over: f.over}
	for _, name := range names {
		g, err := in.openSwept(name, &f.reading, f.out, widest.RowBytes(), func(g *openGraph) ([]spec.Bytes, error) {
			return bench.WorkloadOf("spmm").Memory(len(g.Degrees()), &widest), nil
		})
		if err != nil {
			return nil, err
		}
		if f.over == "nodes" {
			err = v.Add(in.ctx, len(g.Degrees()), g.target(), &f.Settings)
		} else {
			v, err = bench.Over(in.ctx, f.over, g.target(), &f.Settings, f.most)
		}
		g.close()
		if err != nil {
			return nil, err
		}
	}
	return v, nil
}

// target returns the graph as it is swept.
func (g *openGraph) target() *bench.Target {
	return &bench.Target{A: g.matrix, Degrees: g.Degrees(), Order: g.Nodes().Order()}
}

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/bench"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/sparse"
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
	over, out, dtype string
	columns, repeat  int
	least, most      int
}

func newScaling(in *invocation) *cobra.Command {
	f := new(scalingFlags)
	cmd := &cobra.Command{
		Use:   "scaling [GRAPH...] --over columns|threads|nodes [-o PLOT.svg]",
		Short: "How the time of a product changes with columns, threads or nodes",
		Args:  in.arguments("GRAPH", 0, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.checkScaling(cmd, args, f)
			if err := in.checked(); err != nil {
				return err
			}
			return in.scale(args, f)
		},
	}
	flags := cmd.Flags()
	in.choiceVar(flags, &f.over, "over", "columns", []string{"columns", "threads", "nodes"}, "what changes")
	flags.StringVarP(&f.out, "output", "o", "", "`FILE` for the plot, an SVG")
	in.intVar(flags, &f.least, "least", 14, 1, 32, "smallest scale of nodes: 2^N")
	in.intVar(flags, &f.most, "most", 0, 1, 4096, "last value of the axis (default: 64 columns, 2 threads, scale 18)")
	in.intVar(flags, &f.columns, "columns", 8, 1, 4096, "columns of the block, where they do not change")
	in.choiceVar(flags, &f.dtype, "dtype", "float32", []string{"float32", "float64"}, "numbers of the block")
	in.intVar(flags, &f.repeat, "repeat", 10, 1, 1_000_000, "repetitions that count, after one that does not")
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

func (in *invocation) scale(args []string, f *scalingFlags) error {
	outs := &outputs{in: in}
	defer outs.abort()
	v := &scaling{Output: f.out, Graphs: args}
	var err error
	if f.dtype == "float64" {
		v.Scaling, err = runScaling[float64](in, args, f)
	} else {
		v.Scaling, err = runScaling[float32](in, args, f)
	}
	if err != nil {
		return err
	}
	if f.out != "" {
		w, err := outs.begin(f.out)
		if err != nil {
			return err
		}
		title := fmt.Sprintf("Y = D⁻¹A·X, %s, %d columns", f.dtype, f.columns)
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
	v.Closing = in.closing()
	if in.json {
		return in.document(v)
	}
	w := in.summary(f.out)
	fmt.Fprintf(w, "%10s %12s %12s %18s\n", v.Over, "entries", "ms", "ns/entry·column")
	for _, p := range v.Points {
		fmt.Fprintf(w, "%10d %12d %12.3f %18.4f\n", p.X, p.Entries, p.SecondsMin*1e3, p.NsPerEntryColumn)
	}
	return in.stdout.err
}

// runScaling measures along one axis with blocks of T.
func runScaling[T sparse.Float](in *invocation, args []string, f *scalingFlags) (*bench.Scaling, error) {
	if f.over == "nodes" && len(args) > 0 {
		return overGraphs[T](in, args, f)
	}
	if f.over == "nodes" {
		temp, err := in.makeTemp(f.out)
		if err != nil {
			return nil, err
		}
		defer temp.end()
		if err := durable.OS.Mkdir(temp.Content()); err != nil {
			return nil, err
		}
		var scales []int
		for scale := f.least; scale <= f.most; scale++ {
			scales = append(scales, scale)
		}
		if err := in.roomFor(largestRMAT[T](f)); err != nil {
			return nil, err
		}
		return bench.OverNodes[T](in.ctx, temp.Content(), scales, f.columns, in.threads, f.repeat)
	}
	widest := f.columns
	if f.over == "columns" {
		widest = f.most
	}
	g, err := openForProducts[T](in, args[0], f, widest)
	if err != nil {
		return nil, err
	}
	defer g.close()
	if f.over == "threads" {
		return bench.OverThreads[T](in.ctx, g.matrix, g.Degrees(), f.columns, f.most, f.repeat)
	}
	var columns []int
	for k := 1; k <= f.most; k *= 2 {
		columns = append(columns, k)
	}
	return bench.OverColumns[T](in.ctx, g.matrix, g.Degrees(), columns, in.threads, f.repeat)
}

// openForProducts opens a graph for products with blocks of so many columns.
func openForProducts[T sparse.Float](in *invocation, name string, f *scalingFlags, columns int) (*openGraph, error) {
	return in.openSwept(name, &f.reading, f.out, bytesOf[T]()*sparse.Stride[T](columns), func(g *openGraph) (int64, error) {
		return bench.SpMMBytes[T](len(g.Degrees()), columns), nil
	})
}

// largestRMAT returns what the largest graph of those that are made takes, while it
// is made or while it is measured.
func largestRMAT[T sparse.Float](f *scalingFlags) int64 {
	nodes := int64(1) << f.most
	edges := 16 * nodes
	made, err := ingest.EstimateCounts(ingest.Counts{Nodes: nodes, Lines: edges}, nil)
	if err != nil {
		panic(err) // the settings are the defaults, without a limit
	}
	return max(spec.Sum(made.Memory), 4*2*edges+3*8*nodes+bench.SpMMBytes[T](int(nodes), f.columns))
}

// overGraphs measures on one graph after the other.
func overGraphs[T sparse.Float](in *invocation, names []string, f *scalingFlags) (*bench.Scaling, error) {
	s := &bench.Scaling{Over: f.over}
	for _, name := range names {
		g, err := openForProducts[T](in, name, f, f.columns)
		if err != nil {
			return nil, err
		}
		nodes, _ := g.matrix.Dims()
		sweeps, err := bench.SpMM[T](in.ctx, g.matrix, g.Degrees(), nil, f.columns, in.threads, f.repeat)
		g.close()
		if err != nil {
			return nil, err
		}
		s.Points = append(s.Points, bench.Point{X: nodes, Sweeps: sweeps})
	}
	return s, nil
}

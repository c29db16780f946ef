package cli

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/bench"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/spectral"
)

// krylovFlags are the flags of bench krylov.
type krylovFlags struct {
	reading
	bench.KrylovSettings
	eigen         eigenParameters
	combinatorial bool
}

// krylovBenchmark is the JSON document of bench krylov.
type krylovBenchmark struct {
	Workload string `json:"workload"`
	Graph    string `json:"graph"`
	Threads  int    `json:"threads"`
	bench.Krylov
	Closing
}

func newKrylovBench(in *invocation) *cobra.Command {
	f := new(krylovFlags)
	cmd := &cobra.Command{
		Use:   "krylov exponential|solve|eigen GRAPH",
		Short: "Measure exponentials, solves and eigenpairs",
		Args:  in.arguments("WORKLOAD GRAPH", 2, 2),
	}
	cmd.RunE = in.runs(func(cmd *cobra.Command, args []string) { in.checkKrylovBench(cmd, args, f) },
		func(args []string) error { return in.krylovBench(args[1], f) })
	flags := cmd.Flags()
	in.intVar(flags, &f.Columns, "columns", 16, 1, 4096, "columns of B, or eigenpairs")
	in.intVar(flags, &f.Repeat, "repeat", 3, 1, 1_000_000, "repetitions that count, after one that does not")
	in.floatVar(flags, &f.Tolerance, "tolerance", 1e-8, bounds{lo: 0, loOpen: true, hi: 1, hiOpen: true, symbol: "tolerance"}, "relative error of a result, or residual")
	f.Betas = []float64{10}
	in.variable(flags, "beta", "X[,X…]", "10", "β of exponential; several are computed at once", func(s string) error {
		f.Betas = f.Betas[:0]
		for _, word := range strings.Split(s, ",") {
			b, err := strconv.ParseFloat(word, 64)
			if err != nil || !(b > 0) || math.IsInf(b, 0) {
				return fmt.Errorf("%s is not a list of positive numbers; give one such as 1,10,100", quoted(s))
			}
			f.Betas = append(f.Betas, b)
		}
		slices.Sort(f.Betas)
		return nil
	})
	flags.BoolVar(&f.combinatorial, "combinatorial", false, "L = D − A in place of L̃")
	in.choiceVar(flags, &f.System, "system", bench.Systems[0], bench.Systems, "M of solve")
	in.floatVar(flags, &f.Alpha, "alpha", 0.9, bounds{lo: 0, loOpen: true, hi: math.Inf(1), symbol: "α"}, "α of solve")
	in.choiceVar(flags, &f.eigen.Matrix, "matrix", string(spectral.AdjacencyNormalized), matrixNames(), "matrix of eigen")
	in.choiceVar(flags, &f.eigen.Which, "which", spectrumParts[0], spectrumParts[:2], "end of the spectrum of eigen")
	in.readingFlags(flags, &f.reading)
	return cmd
}

func (in *invocation) checkKrylovBench(cmd *cobra.Command, args []string, f *krylovFlags) {
	if len(args) < 2 {
		return
	}
	f.Workload, f.Normalized, f.RNGSeed, f.Problem = args[0], !f.combinatorial, uint64(in.seed), *f.eigen.problem()
	if !slices.Contains(bench.KrylovWorkloads, f.Workload) {
		in.problem("krylov", "%s is no workload; give exponential, solve or eigen", quoted(args[0]))
	}
	if f.Workload == "solve" && f.System == "von-neumann" && f.Alpha >= 1 {
		in.problem("--alpha", "%v is out of range; von-neumann takes 0 < α < 1", f.Alpha)
	}
	if f.Workload == "eigen" && f.Tolerance < leastEigenTolerance {
		in.problem("--tolerance", "%v is out of range; eigen takes %v", f.Tolerance, eigenTolerances)
	}
	in.checkGraph(cmd, args[1:], &f.reading)
}

func (in *invocation) krylovBench(name string, f *krylovFlags) error {
	var parts *sparse.Components // of eigenproblems that count them
	takes, rowBytes := int64(0), 8*sparse.Stride[float64](f.Columns)
	if f.Workload == "eigen" {
		rowBytes = lanczos.RowBytes
	}
	g, err := in.openSwept(name, &f.reading, "", rowBytes, func(g *openGraph) (_ []spec.Bytes, err error) {
		components := 0
		if f.Workload == "eigen" && f.Problem.Splits() {
			if parts == nil {
				if parts, err = sparse.FindComponents(in.ctx, g.Store, in.threads); err != nil {
					return nil, err
				}
			}
			components = len(parts.Sizes)
		}
		list, err := f.Memory(g.Degrees(), g.NNZ(), components)
		takes = spec.Sum(list)
		return list, err
	})
	if err != nil {
		return err
	}
	defer g.close()
	if in.memory > 0 {
		f.Limit = max(1, g.memory()-takes)
	}
	if g.Manifest().Directed {
		return fault.Usage(name, "%s", asymmetric("bench krylov", ""))
	}
	if n := len(g.Degrees()); f.Workload == "eigen" && f.Columns > n {
		return fault.Usage("--columns", "%d is more than %s has nodes; give 1 to %d", f.Columns, name, n)
	}
	nodes, err := graph.New(in.ctx, g.matrix, in.threads)
	if err != nil {
		return err
	}
	v := &krylovBenchmark{Workload: f.Workload, Graph: name, Threads: runtime.GOMAXPROCS(0)}
	if v.Krylov, err = f.Run(in.ctx, nodes, g.Nodes().Order()); err != nil {
		return err
	}
	return in.tell(v, func(io.Writer) {
		w := in.stdout
		fmt.Fprintf(w, "%-12s %.1f ms, median %.1f, %d threads, %s, %s of %d columns\n", v.Workload, v.SecondsMin*1e3, v.SecondsMedian*1e3,
			v.Threads, v.Method, words.Counted(int64(v.Sweeps), "sweep"), v.Columns)
		fmt.Fprintf(w, "%-12s %.2g, asked for %.2g\n", "bound", v.Bound, v.Tolerance)
		if v.Values == nil {
			fmt.Fprintf(w, "%-12s %v\n", "checksum", v.Checksum)
		}
	})
}

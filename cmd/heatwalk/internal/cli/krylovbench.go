package cli

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/bench"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/spectral"
)

// krylovFlags are the flags of bench krylov.
type krylovFlags struct {
	reading
	eigen            eigenParameters
	system           string
	betas            []float64
	alpha, tolerance float64
	normalized       bool
	columns, repeat  int
}

// krylovBenchmark is the JSON document of bench krylov.
type krylovBenchmark struct {
	Workload string `json:"workload"`
	Graph    string `json:"graph"`
	Threads  int    `json:"threads"`
	bench.Krylov
	Closing
}

var krylovWorkloads = []string{"exponential", "solve", "eigen"}

var benchSystems = []string{"von-neumann", "regularized-laplacian", "pseudo-inverse"}

func newKrylovBench(in *invocation) *cobra.Command {
	f := new(krylovFlags)
	cmd := &cobra.Command{
		Use:   "krylov exponential|solve|eigen GRAPH",
		Short: "Measure exponentials, solves and eigenpairs",
		Args:  in.arguments("WORKLOAD GRAPH", 2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.checkKrylovBench(cmd, args, f)
			if err := in.checked(); err != nil {
				return err
			}
			v, err := in.krylovBench(args[0], args[1], f)
			if err != nil {
				return err
			}
			v.Closing = in.closing()
			if in.json {
				return in.document(v)
			}
			in.printKrylovBench(v)
			return in.stdout.err
		},
	}
	flags := cmd.Flags()
	in.intVar(flags, &f.columns, "columns", 16, 1, 4096, "columns of B, or eigenpairs")
	in.intVar(flags, &f.repeat, "repeat", 3, 1, 1_000_000, "repetitions that count, after one that does not")
	in.floatVar(flags, &f.tolerance, "tolerance", 1e-8, bounds{lo: 0, loOpen: true, hi: 1, hiOpen: true, symbol: "tolerance"}, "relative error of a result, or residual")
	f.betas = []float64{10}
	in.variable(flags, "beta", "X[,X…]", "10", "β of exponential; several are computed at once", func(s string) error {
		f.betas = f.betas[:0]
		for _, word := range strings.Split(s, ",") {
			b, err := strconv.ParseFloat(word, 64)
			if err != nil || !(b > 0) || math.IsInf(b, 0) {
				return fmt.Errorf("%s is not a list of positive numbers; give one such as 1,10,100", quoted(s))
			}
			f.betas = append(f.betas, b)
		}
		slices.Sort(f.betas)
		return nil
	})
	flags.Bool("combinatorial", false, "L = D − A in place of L̃")
	in.choiceVar(flags, &f.system, "system", benchSystems[0], benchSystems, "M of solve")
	in.floatVar(flags, &f.alpha, "alpha", 0.9, bounds{lo: 0, loOpen: true, hi: math.Inf(1), symbol: "α"}, "α of solve")
	in.choiceVar(flags, &f.eigen.Matrix, "matrix", string(spectral.AdjacencyNormalized), matrixNames(), "matrix of eigen")
	in.choiceVar(flags, &f.eigen.Which, "which", spectrumParts[0], spectrumParts[:2], "end of the spectrum of eigen")
	in.readingFlags(flags, &f.reading)
	cmd.PreRun = func(cmd *cobra.Command, _ []string) {
		f.normalized = !cmd.Flags().Changed("combinatorial")
	}
	return cmd
}

func (in *invocation) checkKrylovBench(cmd *cobra.Command, args []string, f *krylovFlags) {
	if len(args) < 2 {
		return
	}
	if !slices.Contains(krylovWorkloads, args[0]) {
		in.problem("krylov", "%s is no workload; give exponential, solve or eigen", quoted(args[0]))
	}
	if args[0] == "solve" && f.system == "von-neumann" && f.alpha >= 1 {
		in.problem("--alpha", "%v is out of range; von-neumann takes 0 < α < 1", f.alpha)
	}
	if args[0] == "eigen" && f.tolerance < leastEigenTolerance {
		in.problem("--tolerance", "%v is out of range; eigen takes %v", f.tolerance, eigenTolerances)
	}
	in.checkGraph(cmd, args[1:], &f.reading)
}

func (in *invocation) krylovBench(workload, name string, f *krylovFlags) (*krylovBenchmark, error) {
	takes, known := int64(0), -1 // bytes; eigenpairs, if that has been found out
	rowBytes := 8 * sparse.Stride[float64](f.columns)
	if workload == "eigen" {
		rowBytes = lanczos.RowBytes
	}
	g, err := in.openSwept(name, &f.reading, "", rowBytes, func(g *openGraph) (_ int64, err error) {
		if workload == "eigen" && known < 0 {
			if known, err = in.knownPairs(g, &f.eigen); err != nil {
				return 0, err
			}
		}
		takes, err = krylovBytes(workload, g, f, known)
		return takes, err
	})
	if err != nil {
		return nil, err
	}
	defer g.close()
	memory := int64(0) // of a factor
	if in.memory > 0 {
		memory = max(1, g.memory()-takes)
	}
	if g.Manifest().Directed {
		return nil, usageOf(name, "%s", asymmetric("bench krylov", ""))
	}
	nodes, err := graph.New(in.ctx, g.matrix, in.threads)
	if err != nil {
		return nil, err
	}
	v := &krylovBenchmark{Workload: workload, Graph: name, Threads: runtime.GOMAXPROCS(0)}
	order := g.Nodes().Order()
	switch workload {
	case "exponential":
		v.Krylov, err = bench.Exponential(in.ctx, nodes, order, f.normalized, f.betas, f.columns, f.tolerance, memory, f.repeat)
	case "solve":
		var system *iterative.System
		if system, err = benchSystem(nodes, f); err == nil {
			system.Memory = memory
			v.Krylov, err = bench.Solve(in.ctx, system, order, f.columns, f.tolerance, f.repeat)
		}
	case "eigen":
		n := len(nodes.Degrees)
		if f.columns > n {
			return nil, usageOf("--columns", "%d is more than %s has nodes; give 1 to %d", f.columns, name, n)
		}
		v.Krylov, err = bench.Eigen(in.ctx, f.eigen.problem().Eigenproblem(nodes), f.columns, &lanczos.Settings{
			Tolerance: f.tolerance, RNGSeed: uint64(in.seed), Workers: in.threads,
		}, f.repeat)
	}
	return v, err
}

// knownPairs returns how many eigenpairs are known beforehand.
func (in *invocation) knownPairs(g *openGraph, p *eigenParameters) (int, error) {
	if !p.problem().Splits() {
		return 0, nil
	}
	parts, err := sparse.FindComponents(in.ctx, g.Store, in.threads)
	if err != nil {
		return 0, err
	}
	return len(parts.Sizes), nil
}

// krylovBytes returns what a workload takes beside the graph, but for a factor; so
// many eigenpairs are known.
func krylovBytes(workload string, g *openGraph, f *krylovFlags, known int) (int64, error) {
	n := len(g.Degrees())
	if workload == "eigen" {
		bytes, _ := lanczos.Bytes(n, f.columns, known, nil)
		return bytes + f.eigen.problem().VectorBytes(n), nil
	}
	name, given, more := f.system, spec.Values{"alpha": spec.Number(f.alpha)}, int64(0)
	switch {
	case workload == "exponential":
		name, given = "diffusion", spec.Values{"beta": spec.Number(f.betas[len(f.betas)-1])}
		more = int64(len(f.betas)-1) * sparse.BlockBytes[float64](n, f.columns)
	case name == "pseudo-inverse":
		// As with an α that is very large: its least eigenvalue is not looked for.
		name, given["alpha"] = "regularized-laplacian", spec.Number(1e12)
	}
	family := kernel.FamilyOf(name)
	if family.Param("laplacian") != nil && !f.normalized {
		given["laplacian"] = spec.Word("combinatorial")
	}
	v, err := family.Resolve(given, kernel.OnDegrees(g.Degrees()))
	if err != nil {
		return 0, err
	}
	return spec.Sum(family.ApplyMemory(v, g.Degrees(), f.columns)) + more, nil
}

// benchSystem returns the system that f names.
func benchSystem(g *graph.Graph, f *krylovFlags) (*iterative.System, error) {
	least := 1.0
	if f.system == "pseudo-inverse" {
		least = 0
	}
	switch {
	case f.system == "von-neumann":
		return iterative.VonNeumann(g, f.alpha)
	case f.normalized:
		return iterative.ShiftedLaplacianNormalized(g, f.alpha, least)
	}
	return iterative.ShiftedLaplacian(g, f.alpha, least)
}

func (in *invocation) printKrylovBench(v *krylovBenchmark) {
	in.progress.close()
	w := in.stdout
	fmt.Fprintf(w, "%-12s %.1f ms, median %.1f, %d threads, %s, %s of %d columns\n", v.Workload, v.SecondsMin*1e3, v.SecondsMedian*1e3,
		v.Threads, v.Method, counted(int64(v.Sweeps), "sweep"), v.Columns)
	fmt.Fprintf(w, "%-12s %.2g, asked for %.2g\n", "bound", v.Bound, v.Tolerance)
	if v.Values == nil {
		fmt.Fprintf(w, "%-12s %v\n", "checksum", v.Checksum)
	}
}

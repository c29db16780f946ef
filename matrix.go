package heatwalk

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// Matrix is a symmetric matrix of an undirected graph with adjacency matrix A and degrees D = diag(A·1).
type Matrix = sparse.Kind

// The matrices of a graph.
const (
	Adjacency           = sparse.Adjacency           // A
	NormalizedAdjacency = sparse.NormalizedAdjacency // S = D^-½·A·D^-½
	Laplacian           = sparse.Laplacian           // L = D − A
	NormalizedLaplacian = sparse.NormalizedLaplacian // L̃ = D^-½·L·D^-½
)

// symmetric lists the matrices with real eigenvalues and orthonormal eigenvectors.
var symmetric = []Matrix{Adjacency, NormalizedAdjacency, Laplacian,
	NormalizedLaplacian}

// Kernel returns the block of a kernel between nodes, by id; nil means all nodes. name may have parameters, as in
// "diffusion:beta=2". The tolerance bounds the error of every value relative to the largest value of its columns. The report
// states the error bound that holds.
func (g *Graph) Kernel(ctx context.Context, name string,
	rows, cols []string, tolerance float64) (*mat.Dense, *kernel.Report, error) {
	name, values, err := parseKernel(name)
	if err != nil {
		return nil, nil, err
	}
	r, err := g.rowsOf("rows", rows)
	if err != nil {
		return nil, nil, err
	}
	c, err := g.rowsOf("cols", cols)
	if err != nil {
		return nil, nil, err
	}
	if err := param.CheckTolerance("heatwalk", tolerance); err != nil {
		return nil, nil, err
	}
	set := &kernel.Settings{Tolerance: tolerance, Progress: g.options.Progress}
	k, err := OpenKernel(ctx, g, name, values, r, c, set)
	if err != nil {
		return nil, nil, err
	}
	defer k.Job.End()
	b, report, err := kernel.Matrix(ctx, k.Kernel, k.Rows, k.Cols, set)
	if err != nil {
		return nil, nil, err
	}
	return sparse.DenseOf(b), report, nil
}

// parseKernel returns the name, which may be unknown, and the given parameters of a kernel.
func parseKernel(text string) (name string, values param.Values, err error) {
	term, err := param.ParseTerm(text)
	if err != nil {
		return "", nil, err
	}
	for _, s := range kernel.FunctionSpecs() {
		if s.Name == term.Name {
			values, err = s.ParseValues(term.Texts)
		}
	}
	return term.Name, values, err
}

// OpenedKernel is a kernel on the rows of a job. The job must be ended. Only one goroutine may use an OpenedKernel at a time,
// because it keeps factors and eigenvalues between calls.
type OpenedKernel struct {
	kernel.Kernel
	Job        *Job
	Parameters param.Values // values of all parameters; defaults may depend on the graph
	Rows, Cols []int        // rows and columns of the block, by local row
}

// OpenKernel prepares the block of a kernel between nodes by row. Pass the result and the same settings to [kernel.Values] or
// [kernel.Matrix]; OpenKernel fills in the Memory of the settings. With [Options.Network] all processes compute the same
// values.
func OpenKernel(ctx context.Context, g *Graph, name string, values param.Values,
	rows, cols []int, s *kernel.Settings) (*OpenedKernel, error) {
	s = cmp.Or(s, new(kernel.Settings))
	family := kernel.Families().Named(name)
	if family == nil {
		_, err := kernel.New(ctx, g.Graph, name, values)
		return nil, err
	}
	workspace := func(j *Job, _ *Plan) (budget.Workspace, error) {
		v, err := family.Resolve(values, kernel.OnDegrees(j.Degrees))
		if err != nil {
			return budget.Workspace{}, err
		}
		return family.BlockWorkspace(v, j.Degrees, j.A.NNZ(), g.Directed, rows, cols, s), nil
	}
	part := "columns of the kernel"
	if family.Distance != "" && !slices.Equal(rows, cols) { // it needs the diagonal of L⁺
		part = words.Counted(max(len(rows), len(cols)), "solve")
	}
	job, err := g.Begin(ctx, &Needs{Named: [][]int{rows, cols}, Structure: true, Part: part, Workspace: workspace})
	if err != nil {
		return nil, err
	}
	s.Memory = job.Memory
	v, err := family.Resolve(values, kernel.On(ctx, job.Graph))
	var ks []kernel.Kernel
	if err == nil {
		ks, err = family.NewAll(ctx, job.Graph, []param.Values{v})
	}
	if err != nil {
		job.End()
		return nil, err
	}
	return &OpenedKernel{ks[0], job, v, job.Rows(rows), job.Rows(cols)}, nil
}

// OpenedFunction is a matrix, or a function of a matrix, on the rows of a job. The job must be ended. Many goroutines may use
// an OpenedFunction; their calls of ApplyTo wait for each other.
type OpenedFunction struct {
	*kernel.Function
	Job *Job
}

// OpenFunction prepares a matrix of the graph, or a function of a matrix, for blocks of cols columns. The rows of the blocks
// are the rows of the job, see [Job.Row] and [Job.Gather]. OpenFunction fills in the Memory of s, the settings for
// [kernel.Function.ApplyTo]. named are lists of rows that every process needs.
func OpenFunction(ctx context.Context, g *Graph, n *kernel.NamedFunction, cols int,
	s *kernel.Settings, named ...[]int) (*OpenedFunction, error) {
	s = cmp.Or(s, new(kernel.Settings))
	if err := g.checkOpen(); err != nil {
		return nil, err
	}
	job, err := g.Begin(ctx, &Needs{
		Named: named, Structure: true, Part: "blocks of columns",
		Workspace: func(j *Job, plan *Plan) (budget.Workspace, error) {
			plan.RowBytes = 8 * cols
			return n.Workspace(j.Degrees, j.A.NNZ(), cols)
		},
	})
	if err != nil {
		return nil, err
	}
	s.Memory = job.Memory
	f, err := kernel.NewFunction(ctx, job.Graph, n)
	if err != nil {
		job.End()
		return nil, err
	}
	return &OpenedFunction{f, job}, nil
}

// Eigen returns the k largest or smallest eigenvalues of a matrix of the graph, the most extreme first, and the n×k matrix of
// orthonormal eigenvectors. The tolerance bounds the residual of each pair relative to the norm of the matrix. The pairs have
// residuals, and error bounds of the values. With [lanczos.ErrIterationLimit] it returns the pairs that have converged.
func (g *Graph) Eigen(ctx context.Context, m Matrix, which lanczos.Which,
	k int, tolerance float64) (*mat.Dense, *lanczos.GraphPairs, error) {
	if !slices.Contains(symmetric, m) {
		return nil, nil, refuse("matrix", "there is no matrix %q here", string(m))
	}
	if err := g.checkOpen(); err != nil {
		return nil, nil, err
	}
	if n := len(g.Degrees); k < 1 || k > n {
		return nil, nil, refuse("k", "%d is out of range; give 1 to %d, the number of nodes", k, n)
	}
	if err := param.CheckTolerance("heatwalk", tolerance); err != nil {
		return nil, nil, err
	}
	pairs, err := Eigenpairs(ctx, g, &lanczos.GraphProblem{Matrix: m, Which: which}, k,
		&lanczos.Settings{Tolerance: tolerance, Progress: g.options.Progress})
	if pairs == nil || pairs.Vectors == nil { // another process has the pairs
		return nil, pairs, err
	}
	return g.fromRows(pairs.Vectors), pairs, err
}

// Eigenpairs returns k eigenvalues of a matrix of the graph and their eigenvectors by row. It fills in the Memory and the
// Workers of the settings. If an iteration limit is reached, it returns the pairs that have converged, with the error.
func Eigenpairs(ctx context.Context, g *Graph, p *lanczos.GraphProblem, k int,
	s *lanczos.Settings) (*lanczos.GraphPairs, error) {
	set := *cmp.Or(s, new(lanczos.Settings))
	set.Workers = g.options.Workers
	job, err := g.Begin(ctx, &Needs{
		Structure: true, Components: p.Splits(), Part: "eigenvectors",
		Workspace: func(j *Job, plan *Plan) (budget.Workspace, error) {
			plan.RowBytes = lanczos.RowBytes
			count := 0
			if p.Splits() {
				count = len(j.Components.Sizes)
			}
			return p.Workspace(len(j.Degrees), j.A.NNZ(), count, k), nil
		},
	})
	if err != nil {
		return nil, err
	}
	defer job.End()
	set.Memory = job.Memory
	pairs, err := p.Solve(ctx, job.Graph, k, &set)
	if pairs != nil {
		pairs.Components = len(job.Components.Sizes)
		pairs.Vectors = gather(job, pairs.Vectors)
		if err == nil {
			err = job.result()
		}
	}
	return pairs, err
}

// Expm returns exp(t·H)·B for a matrix H of the graph, for example with the Laplacian and t < 0 the heat that is left of B
// after the time −t. B must have a row for each node. The tolerance bounds the norm of the error of each column relative to
// the norm of the column. The report states the error bounds that hold.
func (g *Graph) Expm(ctx context.Context, t float64, h Matrix,
	b mat.Matrix, tolerance float64) (*mat.Dense, *kernel.Report, error) {
	return g.apply(ctx, &kernel.NamedFunction{Name: kernel.ExpFunction,
		Given: param.Values{"t": param.Of(t), "matrix": param.Of(string(h))}}, b, tolerance)
}

// Solve returns X with (a·H + c·I)·X = B for a Laplacian H of the graph, a > 0 and c ≥ 0. If c is 0, X is the pseudo-inverse
// of a·H times B. B must have a row for each node. Tolerance and report are as in [Graph.Expm]: they bound the error of X,
// not only the residual.
func (g *Graph) Solve(ctx context.Context, h Matrix, a, c float64,
	b mat.Matrix, tolerance float64) (*mat.Dense, *kernel.Report, error) {
	if !(a > 0) || math.IsInf(a, 1) {
		return nil, nil, refuse("a", "%v is out of range; give a finite a > 0", a)
	}
	x, report, err := g.apply(ctx,
		&kernel.NamedFunction{Name: kernel.SolveFunction,
			Given: param.Values{"shift": param.Of(c / a),
				"matrix": param.Of(string(h))}}, b, tolerance)
	if err == nil && a != 1 {
		x.Scale(1/a, x)
		report.Scale(1 / a)
	}
	return x, report, err
}

// apply returns the function n of the graph times b. It allocates blocks only after their memory is
// reserved, because Begin may wait for other jobs.
func (g *Graph) apply(ctx context.Context, n *kernel.NamedFunction,
	b mat.Matrix, tolerance float64) (*mat.Dense, *kernel.Report, error) {
	if err := g.checkOpen(); err != nil {
		return nil, nil, err
	}
	if err := checkBlock(b, g.Nodes.Len()); err != nil {
		return nil, nil, err
	}
	_, cols := b.Dims()
	if err := param.CheckTolerance("heatwalk", tolerance); err != nil {
		return nil, nil, err
	}
	set := &kernel.Settings{Tolerance: tolerance, Progress: g.options.Progress}
	f, err := OpenFunction(ctx, g, n, cols, set)
	if err != nil {
		return nil, nil, err
	}
	defer f.Job.End()
	x := f.Job.Part(g.toRows(b))
	y := sparse.NewBlock[float64](x.Rows, x.Cols)
	report, err := f.ApplyTo(ctx, y, x, set)
	if err != nil {
		return nil, nil, err
	}
	y = f.Job.Gather(y)
	if y == nil {
		return nil, nil, ErrFollower
	}
	return g.fromRows(y), report, nil
}

func (g *Graph) toRows(b mat.Matrix) *sparse.Block[float64] {
	n, k := b.Dims()
	x := sparse.NewBlock[float64](n, k)
	i := 0
	for row := range g.Nodes.Rows() {
		target := x.Row(row)
		for j := range target {
			target[j] = b.At(i, j)
		}
		i++
	}
	return x
}

func checkBlock(b mat.Matrix, n int) error {
	if b == nil {
		return refuse("b", "it is nil; give a matrix with a row for each node")
	}
	rows, cols := b.Dims()
	switch {
	case rows != n:
		return refuse("b", "%d rows; the graph has %d nodes", rows, n)
	case cols == 0:
		return refuse("b", "it has no columns; give one or more")
	}
	for i := range rows {
		for j := range cols {
			if v := b.At(i, j); math.IsNaN(v) || math.IsInf(v, 0) {
				return refuse("b", "%v in row %d and column %d is not finite; give finite numbers", v, i, j)
			}
		}
	}
	return nil
}

func (g *Graph) fromRows(x *sparse.Block[float64]) *mat.Dense {
	b := mat.NewDense(x.Rows, x.Cols, nil)
	i := 0
	for row := range g.Nodes.Rows() {
		b.SetRow(i, x.Row(row))
		i++
	}
	return b
}

// Rank orders all nodes by their similarity to the seeds, by id. name names a kernel, as in "diffusion:beta=2"; "" means the
// kernel that [RankNodes] chooses. The lists of the result are by row. The tolerance bounds the norm of the errors of the scores relative to the
// norm of the scores. The error is an [*IDError] for an id that is not in the graph, or an error of [method.Rank].
func (g *Graph) Rank(ctx context.Context, seeds []string,
	name string, tolerance float64) (*method.Ranking, error) {
	var named string
	var parameters param.Values
	if name != "" {
		var err error
		named, parameters, err = parseKernel(name)
		if err == nil {
			err = checkRanking(named)
		}
		if err != nil {
			return nil, err
		}
	}
	rows, err := g.rowsOf("seeds", append([]string{}, seeds...))
	if err != nil {
		return nil, err
	}
	if err := param.CheckTolerance("heatwalk", tolerance); err != nil {
		return nil, err
	}
	r, _, err := RankNodes(ctx, g, &method.RankProblem{Seeds: rows, RNGSeed: usualSeed}, named, parameters,
		&kernel.Settings{Tolerance: tolerance, Progress: g.options.Progress})
	return r, err
}

func checkRanking(name string) error {
	f := kernel.Families().Named(name)
	switch {
	case name == kernel.PersonalizedPageRank.Name:
	case f == nil:
		return refuse("kernel", "there is no kernel %q that ranks nodes; give another, such as %s", name, kernel.Families()[0].Name)
	case f.Distance != "":
		return refuse("kernel", "%s is a distance; give %s", name, f.Distance)
	}
	return nil
}

// rankingKernels are the kernels that rank by default. The scores of the first are those of personalized PageRank with restart
// 0.05 divided by the degrees of the nodes. It is not behind restart 0.15, divided by the degrees, by more than 0.002 of AUC
// for 1, 5, 10 or 30 seeds of a class on cora, lastfm-asia, facebook-pages, debian and crocodile, and up to 0.013 ahead. The
// second is for classes that are near, the others are for classes of nodes with high degrees.
var rankingKernels = []kernel.NamedFunction{
	{Name: "regularized-commute-time", Given: param.Values{"alpha": param.Of(0.95)}},
	{Name: "regularized-commute-time", Given: param.Values{"alpha": param.Of(0.85)}},
	{Name: "pagerank"},
	{Name: "diffusion"},
}

// RankNodes orders p.Nodes, or all nodes if p.Nodes is nil, by their similarity to p.Seeds. Kernels of walks, such as
// personalized PageRank, rank by walks that start at the seeds. RankNodes fills in the Kernel and the graph of the problem and
// the Memory of the settings, and returns the kernel with the values of all its parameters. On a directed graph the error of
// most kernels is [kernel.ErrAsymmetric].
//
// If name is "", it is regularized-commute-time:alpha=0.95. With five seeds and more, other kernels are tried too, and
// the kernel with the highest AUC of held-out seeds ranks, if the AUC is higher by more than two standard errors of the
// difference. On a graph with negative weights the kernel is diffusion.
func RankNodes(ctx context.Context, g *Graph, p *method.RankProblem, name string,
	given param.Values, s *kernel.Settings) (*method.Ranking, *kernel.NamedFunction, error) {
	list := []kernel.NamedFunction{{Name: name, Given: given}}
	switch {
	case name != "":
	case g.Signed:
		list[0].Name = kernel.Families()[0].Name
	case len(p.Seeds) < method.ChoosingSeeds:
		list = rankingKernels[:1]
	default:
		list = rankingKernels
	}
	var first, best *method.Ranking
	var chosen *kernel.NamedFunction
	sweeps := 0
	for i := range list {
		r, values, err := rankBy(ctx, g, p, &list[i], s)
		if err != nil {
			return nil, nil, err
		}
		sweeps += r.Sweeps
		if i == 0 {
			first = r
		}
		if i == 0 || r.IsBetter(first) && r.AUC > best.AUC {
			best = r
			chosen = &kernel.NamedFunction{Name: list[i].Name, Given: values}
		}
	}
	best.Sweeps = sweeps
	return best, chosen, nil
}

// rankBy ranks by one kernel, and returns the values of its parameters.
func rankBy(ctx context.Context, g *Graph, p *method.RankProblem, named *kernel.NamedFunction,
	s *kernel.Settings) (*method.Ranking, param.Values, error) {
	if err := g.checkOpen(); err != nil {
		return nil, nil, err
	}
	n := len(g.Degrees)
	var memory kernel.Settings
	// The nodes, the weights and the scores. The sort takes five vectors, fewer than the blocks, which are then free.
	scores := 3 * budget.Vector[float64](n)
	f, err := OpenFunction(ctx, g.Leave(scores, "scores"),
		named, method.RankColumns(n, len(p.Seeds)),
		&memory, p.Seeds)
	if err != nil {
		return nil, nil, err
	}
	defer f.Job.End()
	sorted := *p
	if p.Nodes == nil {
		sorted.Nodes = slices.AppendSeq(make([]int, 0, n), g.Nodes.Rows())
	}
	// Folds follow the ids, not the order of the caller or of the rows.
	order := sched.Order(len(p.Seeds), func(a, b int) int {
		return nodefile.CompareIDs(g.Nodes.ID(p.Seeds[a]), g.Nodes.ID(p.Seeds[b]))
	})
	sorted.Seeds = problem.Pick(p.Seeds, order)
	sorted.Weight = problem.Pick(p.Weight, order)
	sorted.Kernel = f
	sorted.Degrees = f.Job.allDegrees()
	sorted.Division = f.Job.division
	family := kernel.Families().Named(named.Name)
	sorted.Walk = family != nil && family.Asymmetric(f.Values) != nil
	set := *cmp.Or(s, new(kernel.Settings))
	set.Memory = memory.Memory
	r, err := method.Rank(ctx, &sorted, &set)
	if err == nil {
		err = f.Job.result()
	}
	return r, f.Values, err
}

package kernel

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// Names of the functions that are neither kernels nor matrices.
const (
	ExpFunction   = "exp"   // exp(tM)
	SolveFunction = "solve" // (M + shift·I)⁻¹
)

var matrixFunctions = param.List[*param.Spec]{
	{Name: string(sparse.Adjacency), Title: "A",
		Works: param.Undirected | param.Directed | param.Signed},
	{Name: string(sparse.NormalizedAdjacency), Title: "S = D^-½·A·D^-½",
		Works: param.Undirected | param.Signed},
	{Name: string(sparse.Transition), Title: "T = D⁻¹·A",
		Works: param.Undirected | param.Directed},
	{Name: string(sparse.Laplacian), Title: "L = D − A",
		Works: param.Undirected | param.Signed},
	{Name: string(sparse.NormalizedLaplacian), Title: "L̃ = D^-½·L·D^-½",
		Works: param.Undirected | param.Signed},
	{Name: ExpFunction, Title: "exp(tM)", Works: param.Undirected | param.Signed, Params: []param.Param{
		{Name: "t", Symbol: "t",
			Meaning: "factor of the matrix, negative for diffusion",
			Default: param.Of(1.0)},
		functionMatrix("adjacency", "adjacency", "normalized-adjacency", "laplacian",
			"normalized-laplacian"),
	}},
	{Name: SolveFunction, Title: "(M + shift·I)⁻¹, or M⁺ with shift 0", Works: param.Undirected | param.Signed, Params: []param.Param{
		{Name: "shift", Symbol: "shift",
			Meaning: "multiple of I that is added to the matrix; 0: the pseudo-inverse", Range: param.From(0), Default: param.Of(0.0)},
		functionMatrix("laplacian", "laplacian", "normalized-laplacian"),
	}},
	PersonalizedPageRank,
}

func functionMatrix(usual string, words ...string) param.Param {
	return param.Param{Name: "matrix", Symbol: "M", Meaning: "matrix of the graph",
		Kind: param.Choice, Words: words, Default: param.Of(usual)}
}

// FunctionSpecs returns the declarations of all functions.
func FunctionSpecs() param.List[*param.Spec] {
	return append(slices.Clone(matrixFunctions), Families().Specs()...)
}

// IsProduct reports whether the named function is a matrix of the graph, such as A, so that ApplyTo is a plain
// product. A product has no tolerance.
func IsProduct(name string) bool {
	kind, err := sparse.ParseKind(name)
	return err == nil && kind != sparse.Modularity
}

// NamedFunction is a function by its name and parameters.
type NamedFunction struct {
	Name  string
	Given param.Values // see [FunctionSpecs]; missing parameters have their defaults
	Times []float64    // values of t of [ExpFunction], computed in the same sweeps; nil: t in Given
}

// ParseFunction parses a function such as "personalized-pagerank:alpha=0.85". Several times of [ExpFunction]
// are separated by commas: "exp:t=-1,-2". For a kernel, the name and the given values are also arguments of
// [New]. The error is a [*param.ParameterError]. [NewFunction] checks the ranges of values.
func ParseFunction(text string) (*NamedFunction, error) {
	term, err := param.ParseTerm(text)
	if err != nil {
		return nil, err
	}
	s := FunctionSpecs().Named(term.Name)
	if s == nil {
		return nil, refuseFunction(term.Name)
	}
	n := &NamedFunction{Name: term.Name}
	if times := strings.Split(term.Texts["t"], ","); n.Name == ExpFunction && len(times) > 1 {
		delete(term.Texts, "t")
		for _, text := range times {
			v, err := s.ParseValues(map[string]string{"t": text})
			if err != nil {
				return nil, err
			}
			n.Times = append(n.Times, v.Number("t"))
		}
	}
	if n.Given, err = s.ParseValues(term.Texts); err != nil {
		return nil, err
	}
	return n, nil
}

func refuseFunction(name string) error {
	return param.Refuse("matfunc", "function", "there is no function %q in this program; choose from %s", name,
		strings.Join(FunctionSpecs().Names(), ", "))
}

// Results returns the number of results for each column of a block: the number of times, or 1.
func (n *NamedFunction) Results() int { return max(1, len(n.Times)) }

// Function is a function of a matrix of a graph. It may be used concurrently, but calls of ApplyTo wait for
// each other: they share factors and eigenpairs.
type Function struct {
	NamedFunction
	Values param.Values // all parameters, with the first of several Times

	mu    sync.Mutex // serializes ApplyTo
	n     int
	team  *sparse.Team
	apply func(ctx context.Context, y, b *sparse.Block[float64], s *Settings) (*Report, error)
}

// NewFunction returns a function on a graph. The error is a [*param.ParameterError], [ErrAsymmetric] for a function
// that needs an undirected graph, or an error of a sweep.
func NewFunction(ctx context.Context, g *graph.Graph, n *NamedFunction) (*Function, error) {
	f := &Function{NamedFunction: *n, n: len(g.Degrees), team: sparse.TeamOf(g.A)}
	if s := matrixFunctions.Named(n.Name); s != nil {
		if g.In != nil && s.Works&param.Directed == 0 {
			return nil, ErrAsymmetric
		}
		err := param.CheckSigned(s, g.Signed)
		if err != nil {
			return nil, err
		}
		if f.Values, err = s.Resolve(n.given(), nil); err != nil {
			return nil, err
		}
		switch n.Name {
		case ExpFunction:
			err = f.exponential(ctx, g)
		case SolveFunction:
			err = f.solve(ctx, g)
		case PersonalizedPageRank.Name:
			err = f.pageRank(ctx, g)
		default:
			f.product(g, sparse.Kind(n.Name))
		}
		return f, err
	}
	family := Families().Named(n.Name)
	if family == nil {
		return nil, refuseFunction(n.Name)
	}
	var err error
	if f.Values, err = family.Resolve(n.Given, On(ctx, g)); err != nil {
		return nil, err
	}
	k, err := New(ctx, g, n.Name, f.Values)
	if err != nil {
		return nil, err
	}
	f.apply = k.ApplyTo
	return f, nil
}

func (n *NamedFunction) given() param.Values {
	if n.Times == nil {
		return n.Given
	}
	v := param.Values{"t": param.Of(n.Times[0])}
	for name, value := range n.Given {
		if name != "t" {
			v[name] = value
		}
	}
	return v
}

// Len returns the number of rows of the blocks of ApplyTo.
func (f *Function) Len() int { return f.n }

// FunctionTolerance is the tolerance of ApplyTo if the settings have none.
const FunctionTolerance = 1e-8

// ApplyTo stores f(M)·B in y, which must have the shape of b and must not overlap it. For several times, y has the
// columns of all times: exp(tM)·B with t = Times[i] begins at column i·k, where k is the number of columns of B.
//
// The tolerance, by default [FunctionTolerance], bounds the norm of the error of each column relative to the norm of
// the column. If rounding errors hide whether a column is zero, such as L⁺·1, the column is set to zero, and its
// bound meets the tolerance relative to ‖f(M)‖·‖b‖. A product ([IsProduct]) has a bound and no tolerance. The report
// has the bound of each column in ColumnBound and the largest bound in ErrorBound. If several processes share the
// rows of the graph, y and b have the rows of this process, and all processes get the same reports.
//
// If rounding errors may exceed the tolerance, the error is [ErrTolerance]. If a value is not finite, it is
// [ErrRange]. Other errors come from a sweep.
func (f *Function) ApplyTo(ctx context.Context, y, b *sparse.Block[float64],
	s *Settings) (*Report, error) {
	var set Settings
	if s != nil {
		set = *s
	}
	if set.Tolerance == 0 && !set.Lenient {
		set.Lenient = true
		set.Limit = FunctionTolerance
	}
	set.Tolerance = cmp.Or(set.Tolerance, FunctionTolerance)
	f.mu.Lock()
	defer f.mu.Unlock()
	b, exponents := f.scaleColumns(b)
	limit := limitOf(&set)
	r, err := f.apply(ctx, y, b, &set)
	switch {
	case limit < 1 && errors.Is(err, ErrTolerance):
		r = &Report{ColumnBound: slices.Repeat([]float64{math.Inf(1)}, y.Cols)}
	case err != nil:
		return nil, err
	}
	if limit < 1 && !IsProduct(f.Name) {
		if err := f.refine(ctx, y, b, &set, limit, r); err != nil {
			return nil, err
		}
	}
	if relative := f.restoreColumns(y, r.ColumnBound, exponents); relative > limit && limit < 1 && !IsProduct(f.Name) {
		return nil, tooTight(limit, relative)
	}
	r.ErrorBound = 0
	for _, bound := range r.ColumnBound {
		r.ErrorBound = max(r.ErrorBound, bound)
	}
	r.Largest = blocks.Largest(f.team, y)
	if sum := r.Largest + r.ErrorBound; math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil, ErrRange
	}
	return r, nil
}

// scaleColumns divides columns with a very small or large norm by powers of two, so that their squares stay in the
// range of float64. It returns a copy of b and the exponent of each column, or b and nil if no column needs scaling.
// PageRank divides columns by their sums instead.
func (f *Function) scaleColumns(b *sparse.Block[float64]) (*sparse.Block[float64], []int) {
	const least, most = 1e-100, 1e100
	var exponents []int
	for j, norm := range blocks.Norms(f.team, b) {
		if norm == 0 || norm >= least && norm <= most || math.IsNaN(norm) || math.IsInf(norm, 0) || f.Name == PersonalizedPageRank.Name {
			continue
		}
		if exponents == nil {
			exponents = make([]int, b.Cols)
			scaled := sparse.NewBlock[float64](b.Rows, b.Cols)
			blocks.Copy(scaled, b)
			b = scaled
		}
		exponents[j] = math.Ilogb(norm)
		scaleColumn(b.Columns(j, j+1), -exponents[j])
	}
	return b, exponents
}

// restoreColumns multiplies results and bounds by the powers of two of scaleColumns. It returns the largest ratio of
// a bound to the norm of its result, which may now exceed the tolerance.
func (f *Function) restoreColumns(y *sparse.Block[float64], bounds []float64, exponents []int) (relative float64) {
	if exponents == nil {
		return 0
	}
	rows := []float64{float64(f.n)}
	f.team.Sum(rows)
	for j := range bounds {
		exponent := exponents[j%len(exponents)]
		if exponent == 0 {
			continue
		}
		column := y.Columns(j, j+1)
		scaleColumn(column, exponent)
		bounds[j] = math.Ldexp(bounds[j], exponent)
		if bounds[j] == 0 {
			continue
		}
		bounds[j] += math.Ceil(math.Sqrt(rows[0])+1) * math.SmallestNonzeroFloat64
		if norm := blocks.Norms(f.team, column)[0]; norm > 0 {
			relative = max(relative, bounds[j]/norm)
		}
	}
	return relative
}

// scaleColumn multiplies x by 2^exponent. The power itself may be out of the range of float64.
func scaleColumn(x *sparse.Block[float64], exponent int) {
	for i := range x.Rows {
		x.Row(i)[0] = math.Ldexp(x.Row(i)[0], exponent)
	}
}

// leastTolerance is a tolerance that rounding errors of few sweeps permit.
const leastTolerance = 1e-13

func limitOf(s *Settings) float64 {
	if s.Lenient {
		return cmp.Or(s.Limit, 1)
	}
	return s.Tolerance
}

// refine computes again the columns of y whose relative error may exceed limit. If they are a quarter of all columns,
// it first repeats the whole block with a smaller tolerance.
func (f *Function) refine(ctx context.Context, y, b *sparse.Block[float64],
	s *Settings, limit float64, r *Report) error {
	worst := func(norms, bounds []float64, j, cols int) (relative float64) {
		for ; j < len(norms); j += cols {
			if bounds[j] > 0 {
				relative = max(relative, bounds[j]/norms[j])
			}
		}
		return relative
	}
	norms := blocks.Norms(f.team, y)
	count := 0
	largest := 0.0
	for j := range b.Cols {
		if relative := worst(norms, r.ColumnBound, j, b.Cols); !(relative <= limit) {
			count++
			if relative < math.Inf(1) {
				largest = max(largest, relative)
			}
		}
	}
	if count > 1 && count >= b.Cols/4 && largest > 0 {
		tighter := *s
		tighter.Lenient = true
		tighter.Limit = 1
		tighter.Tolerance = max(leastTolerance, 0.9*s.Tolerance*limit/largest)
		again, err := f.apply(ctx, y, b, &tighter)
		switch {
		case errors.Is(err, ErrTolerance):
			r.ColumnBound = slices.Repeat([]float64{math.Inf(1)}, len(r.ColumnBound))
		case err != nil:
			return err
		default:
			again.Sweeps += r.Sweeps
			*r = *again
			norms = blocks.Norms(f.team, y)
		}
	}
	var refused *ToleranceError
	for j := range b.Cols {
		if worst(norms, r.ColumnBound, j, b.Cols) <= limit {
			continue
		}
		column := sparse.NewBlock[float64](b.Rows, 1)
		image := sparse.NewBlock[float64](y.Rows, f.Results())
		blocks.Copy(column, b.Columns(j, j+1))
		single, err := f.refineColumn(ctx, image, column, s, limit)
		if missed := (*ToleranceError)(nil); errors.As(err, &missed) { // later columns may need a larger tolerance
			if refused == nil || missed.Reached > refused.Reached {
				refused = missed
			}
			continue
		}
		if err != nil {
			return err
		}
		for i := range f.Results() {
			place := i*b.Cols + j
			blocks.Copy(y.Columns(place, place+1), image.Columns(i, i+1))
			r.ColumnBound[place] = single.ColumnBound[i]
		}
		r.Method = cmp.Or(r.Method, single.Method)
		r.Condition = cmp.Or(r.Condition, single.Condition)
		r.Sweeps += single.Sweeps
	}
	if refused != nil {
		return refused
	}
	return nil
}

// refineColumn computes one column with a relative error of at most limit. Results that rounding cannot distinguish
// from zero become zero.
func (f *Function) refineColumn(ctx context.Context, image, column *sparse.Block[float64],
	s *Settings, limit float64) (*Report, error) {
	r, lost := f.apply(ctx, image, column, s)
	loose := Settings{Tolerance: leastTolerance, Lenient: true, Limit: math.Inf(1), Memory: s.Memory}
	if errors.Is(lost, ErrTolerance) {
		var err error
		if r, err = f.apply(ctx, image, column, &loose); err != nil {
			return nil, lost
		}
	} else if lost != nil {
		return nil, lost
	}
	var gains []float64
	for i, norm := range blocks.Norms(f.team, image) {
		bound := r.ColumnBound[i]
		if bound <= limit*norm {
			continue
		}
		if gains == nil && norm <= bound {
			gains = f.gains(ctx, &loose)
		}
		if size := blocks.Norms(f.team, column)[0]; gains == nil || !(norm <= bound && norm+bound <= limit*gains[i]*size) {
			if lost == nil {
				lost = tooTight(limit, bound/norm)
			}
			return nil, lost
		}
		blocks.Scale(image.Columns(i, i+1), 0)
		r.ColumnBound[i] = norm + bound
	}
	return r, nil
}

// gains returns a lower bound of ‖f(M)‖ for each result, by two power steps from a random column. It returns nil if a
// step fails.
func (f *Function) gains(ctx context.Context, s *Settings) []float64 {
	numbers := rand.New(rand.NewPCG(1, 0))
	count := f.Results()
	x := sparse.NewBlock[float64](f.n, count)
	for i := range f.n {
		number := numbers.Float64() - 0.5
		for j := range count {
			if !f.team.IsPadding(i) && !f.team.IsNamed(i) { // processes draw different numbers
				x.Row(i)[j] = number
			}
		}
	}
	y := sparse.NewBlock[float64](f.n, count*count)
	gains := make([]float64, count)
	for range 2 {
		if _, err := f.apply(ctx, y, x, s); err != nil {
			return nil
		}
		sizes := blocks.Norms(f.team, x)
		norms := blocks.Norms(f.team, y)
		for i := range gains {
			diagonal := i*count + i
			gains[i] = norms[diagonal] / sizes[i]
			blocks.Copy(x.Columns(i, i+1), y.Columns(diagonal, diagonal+1))
		}
	}
	return gains
}

func (f *Function) product(g *graph.Graph, kind sparse.Kind) {
	op := sparse.NewOperator[float64](kind, g.A, g.Degrees)
	op.Workers = g.Workers
	if kind == sparse.Laplacian {
		op = g.Laplacian()
	}
	f.apply = func(ctx context.Context, y, b *sparse.Block[float64], _ *Settings) (*Report, error) {
		if err := op.StepTo(ctx, y, b, sparse.Step[float64]{Alpha: 1}); err != nil {
			return nil, err
		}
		r := &Report{Method: "product", Sweeps: 1,
			ColumnBound: blocks.Norms(f.team, b)}
		factor := roundingOf(g, kind)
		for j := range r.ColumnBound {
			r.ColumnBound[j] *= factor
		}
		return r, nil
	}
}

// roundingOf bounds the rounding error of a product of the matrix M of a kind with a column of norm 1. The bound is γ
// times a bound of ‖|M|‖, with γ = (k+3)·u for rows of k entries.
func roundingOf(g *graph.Graph, kind sparse.Kind) float64 {
	team := sparse.TeamOf(g.A)
	run := 0
	extremes := []float64{0, 0, math.Inf(-1)} // entries of the longest range or row, largest degree, −(smallest positive degree)
	for _, r := range g.A.Ranges() {
		run += r.Entries
		if r.Pieces == 1 || r.Piece == r.Pieces-1 {
			extremes[0] = max(extremes[0], float64(run))
			run = 0
		}
	}
	for _, d := range g.Degrees {
		extremes[1] = max(extremes[1], d)
		if d > 0 {
			extremes[2] = max(extremes[2], -d)
		}
	}
	team.Max(extremes)
	longest := extremes[0]
	largest := extremes[1]
	smallest := -extremes[2]
	norm := 1.0 // bound of ‖S‖
	switch kind {
	case sparse.Adjacency:
		norm = largest
	case sparse.Laplacian:
		norm = 2 * largest
	case sparse.NormalizedLaplacian:
		norm = 2
	case sparse.Transition:
		norm = max(1, math.Sqrt(largest/smallest))
	}
	if g.In != nil { // degrees bound only the rows of A
		norm = math.Sqrt(max(1, largest) * float64(team.TotalOf(len(g.Degrees))))
	}
	return (longest + 3) * 0x1p-53 * norm
}

func (f *Function) exponential(ctx context.Context, g *graph.Graph) error {
	m, err := expm.New(ctx, g, sparse.Kind(f.Values.Word("matrix")))
	if err != nil {
		return err
	}
	times := f.Times
	if times == nil {
		times = []float64{f.Values.Number("t")}
	}
	functions := make([]expm.Function, len(times))
	for i, t := range times {
		functions[i] = expm.Exp(t)
	}
	f.apply = func(ctx context.Context, y, b *sparse.Block[float64], s *Settings) (*Report, error) {
		set := &expm.Settings{Tolerance: s.Tolerance, Progress: s.Progress}
		if s.Memory > 0 { // a factor may use the rest
			space, err := f.Workspace(g.Degrees, g.A.NNZ(), b.Cols)
			if err != nil {
				return nil, err
			}
			set.Memory = budget.Subtract(s.Memory, space.Required(0))
		}
		results := make([]*sparse.Block[float64], len(functions))
		for i := range results {
			results[i] = y.Columns(i*b.Cols, (i+1)*b.Cols)
		}
		r, err := m.ApplyTo(ctx, results, b, functions, set)
		if errors.Is(err, expm.ErrOverflow) {
			return nil, param.Refuse(ExpFunction, "t",
				"%v is out of range; the spectrum of this matrix lies in [%.6g, %.6g], and the result overflows", steepest(times, m), m.Lo, m.Hi)
		}
		if err != nil && !errors.Is(err, expm.ErrTolerance) {
			return nil, err
		}
		if limit := limitOf(s); err != nil && !(r.Worst() <= limit) {
			return nil, tooTight(limit, r.Worst())
		}
		out := &Report{Sweeps: r.Sweeps, Condition: r.Condition}
		for i := range r.Functions {
			result := &r.Functions[i]
			if method := string(result.Method); !strings.Contains(out.Method, method) {
				out.Method = strings.TrimPrefix(out.Method+", "+method, ", ")
			}
			out.ColumnBound = append(out.ColumnBound, result.ColumnBound...)
		}
		return out, nil
	}
	return nil
}

func steepest(times []float64, m *expm.Map) float64 {
	largest := func(t float64) float64 { return max(t*m.Lo, t*m.Hi) }
	return slices.MaxFunc(times,
		func(t, u float64) int { return cmp.Compare(largest(t), largest(u)) })
}

// solve sets up (M + shift·I)⁻¹ as a multiple of the regularized Laplacian kernel with α = 1/shift, or M⁺ as the
// pseudo-inverse.
func (f *Function) solve(ctx context.Context, g *graph.Graph) error {
	name, v, scale := f.kernel()
	k, err := New(ctx, g, name, v)
	if wrong := (*param.ParameterError)(nil); errors.As(err, &wrong) && wrong.Parameter == "alpha" {
		err = param.Refuse(SolveFunction, "shift",
			"%v is so small that rounding hides it; give 0 for the pseudo-inverse, or more", f.Values.Number("shift"))
	}
	if err != nil {
		return err
	}
	f.apply = func(ctx context.Context, y, b *sparse.Block[float64], s *Settings) (*Report, error) {
		r, err := k.ApplyTo(ctx, y, b, s)
		if err != nil || scale == 1 {
			return r, err
		}
		blocks.Scale(y, scale)
		r.Scale(scale)
		return r, nil
	}
	return nil
}

// kernel returns a kernel and the scale with f = scale · kernel. If f is not a multiple of a kernel, it returns a
// kernel that needs the same memory.
func (f *Function) kernel() (name string, v param.Values, scale float64) {
	matrix := f.Values.Word("matrix")
	laplacian := "combinatorial"
	if matrix == "normalized-laplacian" {
		laplacian = "normalized"
	}
	word := param.Of(laplacian)
	if f.Name == SolveFunction {
		shift := f.Values.Number("shift")
		if shift == 0 {
			return "pseudo-inverse", param.Values{"laplacian": word}, 1
		}
		return "regularized-laplacian",
			param.Values{"laplacian": word, "alpha": param.Of(1 / shift)}, 1 / shift
	}
	t := max(math.Abs(f.Values.Number("t")), math.SmallestNonzeroFloat64) // kernels refuse t = 0
	if matrix == "laplacian" || matrix == "normalized-laplacian" {
		return "diffusion", param.Values{"laplacian": word, "beta": param.Of(t)}, 1
	}
	return "exponential",
		param.Values{"matrix": param.Of(matrix), "beta": param.Of(t)}, 1
}

// Workspace returns the workspace of ApplyTo to a block of cols columns, including the block, its results and
// the vectors of the graph.
func (n *NamedFunction) Workspace(degrees []float64, entries int64, cols int) (budget.Workspace, error) {
	rows := len(degrees)
	switch {
	case IsProduct(n.Name):
		return budget.Held(budget.Times(2, budget.Block[float64](rows, cols)), budget.Times(6, budget.Vector[float64](rows))), nil
	case n.Name == PersonalizedPageRank.Name:
		return pageRankWorkspace(rows, entries, cols), nil
	}
	family, v, err := n.resolve(degrees)
	if err != nil {
		return budget.Workspace{}, err
	}
	more := n.Results() - 1 // further times, each with results in a slab and in the block
	return family.ApplyWorkspace(v, degrees, entries, cols).AndHeld(budget.Times(2*more, budget.Block[float64](rows, cols))), nil
}

// resolve returns the family and parameters of the kernel that the function applies. Of several times t it takes the
// largest in magnitude.
func (n *NamedFunction) resolve(degrees []float64) (*Family, param.Values, error) {
	name := n.Name
	values := n.Given
	if s := matrixFunctions.Named(n.Name); s != nil {
		v, err := s.Resolve(n.given(), nil)
		if err != nil {
			return nil, nil, err
		}
		for _, t := range n.Times {
			if math.Abs(t) > math.Abs(v.Number("t")) {
				v["t"] = param.Of(t)
			}
		}
		name, values, _ = (&Function{NamedFunction: *n, Values: v}).kernel()
	}
	family := Families().Named(name)
	v, err := family.Resolve(values, OnDegrees(degrees))
	return family, v, err
}

package kernel

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/sparse"
)

// family is a kernel before its parameters are known.
type family struct {
	name          string
	takes         []string
	laplacians    []Laplacian
	matrices      []Base
	alphaBelowOne bool
	usual         Parameters // defaults, for eigenvalues of about 1
	build         func(ctx context.Context, g *maps, p Parameters) (Kernel, error)
}

// usualTime is the time of the diffusion that defaults make: about so many
// steps of a walk, after which it has left its nearest neighbours but not yet
// forgotten where it began. Resolvents (I + αL̃)⁻¹ average diffusions over
// exponential times of mean α, and (2ν/κ²·I + L̃)^−ν over gamma times of mean
// κ²/2.
const usualTime = 4

// usualShare is α of the resolvent (I − αS)⁻¹ of that mean time: α/(1−α) = 4.
const usualShare = usualTime / (1.0 + usualTime)

// fewPairs is the default rank of modularity where not all positive eigenpairs
// may be asked for.
const fewPairs = 64

var families = []family{
	{name: "diffusion", takes: []string{"laplacian", "beta"}, laplacians: anyLaplacian,
		usual: Parameters{Laplacian: Normalized, Beta: usualTime}, build: diffusion},
	{name: "exponential", takes: []string{"matrix", "beta"}, matrices: []Base{Adjacency, NormalizedAdjacency},
		usual: Parameters{Matrix: Adjacency, Beta: usualTime}, build: exponential},
	{name: "von-neumann", takes: []string{"matrix", "alpha"}, matrices: []Base{NormalizedAdjacency, Adjacency}, alphaBelowOne: true,
		usual: Parameters{Matrix: NormalizedAdjacency, Alpha: usualShare}, build: vonNeumann},
	{name: "regularized-laplacian", takes: []string{"laplacian", "alpha"}, laplacians: anyLaplacian,
		usual: Parameters{Laplacian: Normalized, Alpha: usualTime}, build: regularizedLaplacian},
	{name: "pseudo-inverse", takes: []string{"laplacian"}, laplacians: symmetricLaplacian,
		usual: Parameters{Laplacian: Normalized}, build: pseudoInverse},
	{name: "commute-time", build: commuteTime},
	{name: "regularized-commute-time", takes: []string{"alpha"}, alphaBelowOne: true,
		usual: Parameters{Alpha: usualShare}, build: regularizedCommuteTime},
	{name: "p-step", takes: []string{"shift", "steps"},
		usual: Parameters{Shift: 2, Steps: 2 * usualTime}, build: pStep}, // (2I − L̃)ᵖ is about 2ᵖ·exp(−pL̃/2)
	{name: "matern", takes: []string{"laplacian", "nu", "kappa"}, laplacians: anyLaplacian,
		usual: Parameters{Laplacian: Normalized, Nu: 1.5, Kappa: 3}, build: matern},
	{name: "modularity", takes: []string{"rank", "resolution"},
		usual: Parameters{Resolution: 1}, build: newModularity},
	{name: "pagerank", takes: []string{"alpha", "symmetric"}, alphaBelowOne: true,
		usual: Parameters{Alpha: 0.85}, build: pageRank}, // that of Brin and Page
	{name: "heat-pagerank", takes: []string{"beta", "symmetric"},
		usual: Parameters{Beta: usualTime}, build: heatPageRank},
}

var (
	anyLaplacian       = []Laplacian{Normalized, Combinatorial, RandomWalk}
	symmetricLaplacian = anyLaplacian[:2]
)

// New returns the kernel with the given name on the nodes of a graph, whose
// matrix must be symmetric with weights ≥ 0. The error is a [*ParameterError]
// that says what the kernel takes on this graph, [ErrAsymmetric], the
// context's, or that of a sweep. Cost: a sweep of one column, and for bounds
// of a spectrum a few more.
func New(ctx context.Context, g *graph.Graph, name string, p Parameters) (Kernel, error) {
	ks, err := NewAll(ctx, g, name, []Parameters{p})
	if err != nil {
		return nil, err
	}
	return ks[0], nil
}

// NewAll is [New] for several parameters. What the kernels have in common is
// made once, and [Grams] computes their blocks together.
func NewAll(ctx context.Context, g *graph.Graph, name string, ps []Parameters) ([]Kernel, error) {
	f := find(name)
	if f == nil {
		return nil, noKernel(name)
	}
	if err := checkSymmetric(ctx, g); err != nil {
		return nil, err
	}
	filled := make([]Parameters, len(ps))
	for i, p := range ps {
		var err error
		if filled[i], err = Resolve(ctx, g, name, p); err != nil {
			return nil, err
		}
	}
	shared := &maps{Graph: g}
	ks := make([]Kernel, len(ps))
	for i, p := range filled {
		var err error
		if ks[i], err = f.build(ctx, shared, p); err != nil {
			return nil, err
		}
		switch k := ks[i].(type) {
		case *spectral:
			if k.demand = demandOf(name, p, g.Degrees); !k.demand.half {
				k.half = nil
			}
		case *distance:
			k.inverse.demand = demandOf(name, p, g.Degrees)
		}
	}
	return ks, nil
}

// maps are the matrices of a graph that its kernels are functions of, made
// when the first one needs them.
type maps struct {
	*graph.Graph
	combinatorial, normalized, adjacency, normalizedAdjacency *expm.Map
}

// laplacian returns L or L̃.
func (g *maps) laplacian(ctx context.Context, normalized bool) (*expm.Map, error) {
	if normalized {
		if g.normalized == nil {
			g.normalized = expm.NewLaplacianNormalized(g.Graph)
		}
		return g.normalized, nil
	}
	var err error
	if g.combinatorial == nil {
		g.combinatorial, err = expm.NewLaplacian(ctx, g.Graph)
	}
	return g.combinatorial, err
}

// base returns A or S.
func (g *maps) base(ctx context.Context, b Base) (*expm.Map, error) {
	if b == NormalizedAdjacency {
		if g.normalizedAdjacency == nil {
			g.normalizedAdjacency = expm.NewAdjacencyNormalized(g.Graph)
		}
		return g.normalizedAdjacency, nil
	}
	var err error
	if g.adjacency == nil {
		g.adjacency, err = expm.NewAdjacency(ctx, g.Graph)
	}
	return g.adjacency, err
}

// checkSymmetric compares uᵀ(Av) with vᵀ(Au) for two random vectors.
func checkSymmetric(ctx context.Context, g *graph.Graph) error {
	n := len(g.Degrees)
	x, y := sparse.NewBlock[float64](n, 2), sparse.NewBlock[float64](n, 2)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range n {
		x.Row(i)[0], x.Row(i)[1] = rng.Float64(), rng.Float64()
	}
	op := &sparse.Operator[float64]{A: g.A, Workers: g.Workers}
	if err := op.ApplyTo(ctx, y, x); err != nil {
		return err
	}
	var uv, vu float64
	for i := range n {
		uv += float64(x.Row(i)[0] * y.Row(i)[1])
		vu += float64(x.Row(i)[1] * y.Row(i)[0])
	}
	// Both are sums of terms ≥ 0, so that rounding stays relative; one arc
	// among many changes one of them by more.
	if math.Abs(uv-vu) > 1e-13*math.Sqrt(float64(n)+64)*math.Abs(uv) {
		return ErrAsymmetric
	}
	return nil
}

// laplacianOf returns the map of a Laplacian that functions are computed of,
// and d^½ if what is asked for is similar to it.
func laplacianOf(ctx context.Context, g *maps, l Laplacian) (*expm.Map, []float64, error) {
	m, err := g.laplacian(ctx, l != Combinatorial)
	if l == RandomWalk {
		return m, roots(g.Graph), err
	}
	return m, nil, err
}

// systemOf is laplacianOf for a·L + c·I.
func systemOf(g *maps, l Laplacian, a, c float64) (*iterative.System, []float64, error) {
	switch l {
	case Combinatorial:
		s, err := iterative.ShiftedLaplacian(g.Graph, a, c)
		return s, nil, err
	case RandomWalk:
		s, err := iterative.ShiftedLaplacianNormalized(g.Graph, a, c)
		return s, roots(g.Graph), err
	}
	s, err := iterative.ShiftedLaplacianNormalized(g.Graph, a, c)
	return s, nil, err
}

// roots returns d^½ relative to the least in the component of each node, 1 for a
// row without entries. A kernel has no values between components, so that only
// ratios within one count; larger ones would be in bounds on errors.
func roots(g *graph.Graph) []float64 {
	of := g.Components.Of
	least := make([]float64, len(g.Components.Sizes))
	for i, d := range g.Degrees {
		if v := &least[of[i]]; *v == 0 || d < *v {
			*v = d
		}
	}
	root := make([]float64, len(g.Degrees))
	for i, d := range g.Degrees {
		root[i] = 1
		if d > 0 {
			root[i] = math.Sqrt(d / least[of[i]])
		}
	}
	return root
}

func diffusion(ctx context.Context, g *maps, p Parameters) (Kernel, error) {
	m, root, err := laplacianOf(ctx, g, p.Laplacian)
	if err != nil {
		return nil, err
	}
	method := expm.Automatic
	if demandOf("diffusion", p, g.Degrees).series {
		method = expm.Chebyshev // as planned
	}
	return &spectral{graph: g.Graph, root: root,
		whole: &series{m, expm.Exp(-p.Beta), method}, half: &series{m, expm.Exp(-p.Beta / 2), method}}, nil
}

func heatPageRank(ctx context.Context, g *maps, p Parameters) (Kernel, error) {
	if p.Symmetric {
		return diffusion(ctx, g, Parameters{Laplacian: Normalized, Beta: p.Beta})
	}
	return diffusion(ctx, g, Parameters{Laplacian: RandomWalk, Beta: p.Beta})
}

func exponential(ctx context.Context, g *maps, p Parameters) (Kernel, error) {
	m, err := g.base(ctx, p.Matrix)
	if err != nil {
		return nil, err
	}
	if _, hi := m.Interval(); !(p.Beta > 0 && p.Beta*hi <= maxLog) {
		return nil, &ParameterError{"beta", fmt.Sprintf("%v is out of range; %s takes 0 < β ≤ %.6g on this graph, whose largest eigenvalue is at most %.6g: beyond it norms of columns overflow", p.Beta, titled("exponential", p.Matrix), maxLog/hi, hi)}
	}
	return &spectral{graph: g.Graph, whole: &series{m: m, f: expm.Exp(p.Beta)}, half: &series{m: m, f: expm.Exp(p.Beta / 2)}}, nil
}

func vonNeumann(ctx context.Context, g *maps, p Parameters) (Kernel, error) {
	if p.Matrix == NormalizedAdjacency {
		s, err := iterative.VonNeumann(g.Graph, p.Alpha)
		if err != nil {
			return nil, err
		}
		m, err := g.laplacian(ctx, true)
		if err != nil {
			return nil, err
		}
		// I − αS is (1−α)I + αL̃, but for rows without entries.
		return &spectral{graph: g.Graph, whole: &solves{system: s, scale: 1},
			half: newInverseRoot(m, p.Alpha, 1-p.Alpha, 1, lone(g.Degrees))}, nil
	}
	m, err := g.base(ctx, Adjacency)
	if err != nil {
		return nil, err
	}
	if _, hi := m.Interval(); !(p.Alpha > 0 && p.Alpha*hi < farFromPole) {
		e, err := nearRadius(ctx, g, p.Alpha, hi)
		if err != nil {
			return nil, err
		}
		return &spectral{graph: g.Graph, whole: e}, nil
	}
	root := expm.Smooth(func(x float64) float64 { return 1 / math.Sqrt(1-p.Alpha*x) })
	return &spectral{graph: g.Graph, whole: &series{m: m, f: expm.Inverse(1, -p.Alpha)}, half: &series{m: m, f: root}}, nil
}

func regularizedLaplacian(ctx context.Context, g *maps, p Parameters) (Kernel, error) {
	m, _, err := laplacianOf(ctx, g, p.Laplacian)
	if err != nil {
		return nil, err
	}
	if _, hi := m.Interval(); p.Alpha*hi > 1/epsilon {
		return nil, &ParameterError{"alpha", fmt.Sprintf("%v is out of range; regularized-laplacian takes 0 < α ≤ %.6g on this graph, whose Laplacian's largest eigenvalue is at most %.6g: beyond it I is lost in rounding", p.Alpha, 1/epsilon/hi, hi)}
	}
	s, root, err := systemOf(g, p.Laplacian, p.Alpha, 1)
	if err != nil {
		return nil, err
	}
	return &spectral{graph: g.Graph, root: root, whole: &solves{system: s, scale: 1},
		half: newInverseRoot(m, p.Alpha, 1, 1, nil)}, nil
}

func pseudoInverse(_ context.Context, g *maps, p Parameters) (Kernel, error) {
	if p.Laplacian == Combinatorial && areUneven(g.Degrees) {
		e, err := newWeighted(g.Graph)
		return &spectral{graph: g.Graph, whole: e}, err
	}
	s, _, err := systemOf(g, p.Laplacian, 1, 0)
	if err != nil {
		return nil, err
	}
	return &spectral{graph: g.Graph, whole: &solves{system: s, scale: 1}}, nil
}

func commuteTime(ctx context.Context, g *maps, _ Parameters) (Kernel, error) {
	k, err := pseudoInverse(ctx, g, Parameters{Laplacian: Combinatorial})
	if err != nil {
		return nil, err
	}
	return newDistance(k.(*spectral)), nil
}

func regularizedCommuteTime(_ context.Context, g *maps, p Parameters) (Kernel, error) {
	s, err := iterative.RegularizedCommuteTime(g.Graph, p.Alpha)
	if err != nil {
		return nil, err
	}
	return &spectral{graph: g.Graph, whole: &solves{system: s, scale: 1}}, nil
}

func pStep(ctx context.Context, g *maps, p Parameters) (Kernel, error) {
	m, err := g.laplacian(ctx, true)
	if err != nil {
		return nil, err
	}
	k := &spectral{graph: g.Graph, whole: &series{m: m, f: expm.Power(p.Shift, p.Steps)}}
	if p.Steps%2 == 0 {
		k.half = &series{m: m, f: expm.Power(p.Shift, p.Steps/2)}
	}
	return k, nil
}

func matern(ctx context.Context, g *maps, p Parameters) (Kernel, error) {
	m, root, err := laplacianOf(ctx, g, p.Laplacian)
	if err != nil {
		return nil, err
	}
	// (2ν/κ²)^−ν is the largest value, and within e^±maxLog.
	middle, factor := math.Sqrt(2*p.Nu), math.Exp(min(maxLog/p.Nu, maxLog)/2)
	if least, most := middle/factor, middle*factor; !(p.Kappa >= least && p.Kappa <= most) {
		return nil, &ParameterError{"kappa", fmt.Sprintf("%v is out of range; matern with ν = %v takes %.6g ≤ κ ≤ %.6g, beyond which norms of its columns overflow", p.Kappa, p.Nu, least, most)}
	}
	_, hi := m.Interval()
	if most := math.Sqrt(2 * p.Nu / epsilon / hi); p.Kappa > most {
		return nil, &ParameterError{"kappa", fmt.Sprintf("%v is out of range; matern with ν = %v takes κ ≤ %.6g on this graph, whose Laplacian's largest eigenvalue is at most %.6g: beyond it 2ν/κ² is lost in rounding", p.Kappa, p.Nu, most, hi)}
	}
	sigma := 2 * p.Nu / (p.Kappa * p.Kappa)
	return &spectral{graph: g.Graph, root: root,
		whole: &series{m: m, f: expm.Matern(sigma, p.Nu)}, half: &series{m: m, f: expm.Matern(sigma, p.Nu/2)}}, nil
}

func pageRank(ctx context.Context, g *maps, p Parameters) (Kernel, error) {
	s, err := iterative.VonNeumann(g.Graph, p.Alpha)
	if err != nil {
		return nil, err
	}
	m, err := g.laplacian(ctx, true)
	if err != nil {
		return nil, err
	}
	// A walk that cannot leave its node stays: the kernel is 1 there, where
	// the system is that of the identity.
	stay := lone(g.Degrees)
	k := &spectral{graph: g.Graph, whole: &solves{system: s, scale: 1 - p.Alpha, lone: stay},
		half: newInverseRoot(m, p.Alpha, 1-p.Alpha, math.Sqrt(1-p.Alpha), stay)}
	if !p.Symmetric {
		k.root = roots(g.Graph)
	}
	return k, nil
}

// lone returns the rows without entries.
func lone(deg []float64) []int {
	var rows []int
	for i, d := range deg {
		if d == 0 {
			rows = append(rows, i)
		}
	}
	return rows
}

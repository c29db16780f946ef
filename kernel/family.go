package kernel

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// Family declares a kernel: its name and parameters, its construction and its memory.
//
// By default a kernel of this package corresponds to a random walk of about four steps. Defaults of parameters of L =
// D − A are relative to the mean degree of nodes with edges, and of parameters of A to its largest eigenvalue ρ.
type Family struct {
	param.Spec

	// Distance, if not empty, says that the family is a distance, which cannot be applied to a block. Distance names the
	// kernel that results from centring.
	Distance string

	// Asymmetry, if not nil, returns the parameter that makes the kernel with values v asymmetric, and a text with the
	// remedy. Learners refuse asymmetric kernels. If the kernel is symmetric, both are "".
	Asymmetry func(v param.Values) (parameter, what string)

	// Normalized reports that the kernel is a function of S = D^-½AD^-½ for all values of its
	// parameters.
	Normalized bool

	// New returns the kernel with complete values on a graph. If values are out of range on the graph, it should return
	// a [*param.ParameterError]. A family given to [Register] must have New.
	New func(ctx context.Context, g *graph.Graph, v param.Values) (Kernel, error)

	// Workspace returns the workspace of a block or product of shape s, without the vectors of the graph. If it is nil,
	// a registered family has the workspace of eight slabs, see [SlabColumns].
	Workspace func(v param.Values, s Shape) budget.Workspace

	// newOn replaces New for the kernels of this package, which share the maps of a graph.
	newOn func(ctx context.Context, g *matrices, v param.Values) (Kernel, error)

	work func(v param.Values, d *degrees) work
}

// IsNormalized reports whether the kernel with complete values is a function of S = D^-½AD^-½ or of L̃.
func (f *Family) IsNormalized(v param.Values) bool {
	return f.Normalized || v["laplacian"] == param.Of(normalized) ||
		v["matrix"] == param.Of(normalizedAdjacency)
}

var families = param.List[*Family]{
	&diffusion, &exponential, &vonNeumann, &regularizedLaplacian, &pseudoInverse, &commuteTime,
	&regularizedCommuteTime, &pStep, &matern, &modularities, &pageRank, &heatPageRank,
}

// Families returns the kernels of this package and the registered kernels.
func Families() param.List[*Family] {
	return slices.Clone(families)
}

// Register adds a kernel of another package to the named kernels. For example, from an init function:
//
//	kernel.Register(&kernel.Family{Spec: param.Spec{Name: "signless", …}, New: newSignless})
//
// A kernel known only by its products with blocks is an [Images]. Register panics if New is nil, if the name is
// taken, or if a learner has one of the parameters.
func Register(f *Family) {
	param.Claim("kernel", &f.Spec)
	families.Add(f, f.New != nil)
}

func init() { param.Claim("kernel", families.Specs()...) }

// New returns the kernel with the given name on the nodes of a graph. The matrix must be symmetric with weights ≥ 0.
// Missing parameters have their defaults. The error is a [*param.ParameterError] with the range of the parameter on
// this graph, [ErrAsymmetric], the error of the context, or an error of a sweep.
//
// Cost: a sweep of two columns to check the symmetry, unless it is known; a few sweeps for bounds of a spectrum; some
// tens for defaults relative to ρ.
func New(ctx context.Context, g *graph.Graph, name string,
	values param.Values) (Kernel, error) {
	f := Families().Named(name)
	if f == nil {
		return nil, refuse(pkg, pkg, "there is no kernel %q in this program; choose from %s", name,
			strings.Join(Families().Names(), ", "))
	}
	if len(g.Degrees) == 0 {
		return nil, errors.New("kernel: the graph has no nodes")
	}
	v, err := f.Resolve(values, On(ctx, g))
	if err != nil {
		return nil, err
	}
	ks, err := f.NewAll(ctx, g, []param.Values{v})
	if err != nil {
		return nil, err
	}
	return ks[0], nil
}

// NewAll is [New] for several complete values. The kernels share the maps of the graph, so that
// [Grams] can compute their blocks together.
func (f *Family) NewAll(ctx context.Context, g *graph.Graph,
	vs []param.Values) ([]Kernel, error) {
	if f.Works&param.Directed == 0 || g.In == nil {
		if err := g.CheckSymmetric(ctx); err != nil {
			return nil, err
		}
	}
	if err := param.CheckSigned(&f.Spec, g.Signed); err != nil {
		return nil, err
	}
	if g.Least > 0 {
		if err := blocks.CheckLeast(g.Least); err != nil {
			return nil, err
		}
	}
	shared := &matrices{Graph: g, degrees: describe(sparse.TeamOf(g.A), g.Degrees),
		maps: map[sparse.Kind]*expm.Map{}}
	ks := make([]Kernel, len(vs))
	for i, v := range vs {
		if f.work != nil {
			shared.work = f.work(v, shared.degrees)
		}
		var err error
		if f.New != nil {
			ks[i], err = f.New(ctx, g, v)
		} else {
			ks[i], err = f.newOn(ctx, shared, v)
		}
		if err != nil {
			return nil, err
		}
	}
	return ks, nil
}

// Asymmetric returns a [*param.ParameterError] if the kernel with the values is not symmetric, as learners require,
// and otherwise nil. Missing parameters have the values that learners use.
func (f *Family) Asymmetric(values param.Values) error {
	parameter := ""
	what := ""
	switch {
	case f.Distance != "":
		parameter = pkg
		what = "it is a distance"
	case f.Asymmetry != nil:
		parameter, what = f.Asymmetry(values)
	}
	if what == "" {
		return nil
	}
	return refuse(f.Name, parameter, "%s", what)
}

const pkg = "kernel"

func refuse(kernel, parameter, format string, args ...any) error {
	return param.Refuse(kernel, parameter, format, args...)
}

type degrees struct {
	expm.Diagonal
	nodes int     // nodes of all processes
	mean  float64 // mean degree of nodes with edges; 1 if there are none
}

func describe(team *sparse.Team, sums []float64) *degrees {
	d := &degrees{Diagonal: expm.DiagonalOf(team, sums),
		nodes: team.TotalOf(len(sums)), mean: 1}
	connected := 0.0
	for lo, hi := range team.CountingRows(0, len(sums)) {
		for _, degree := range sums[lo:hi] {
			if degree > 0 {
				connected++
			}
		}
	}
	connected = blocks.SumOver(team, connected)
	if connected > 0 {
		d.mean = blocks.Total(team, sums) / connected
	}
	return d
}

func (d *degrees) largestOf(laplacian string) float64 {
	if laplacian == combinatorial {
		return 2 * max(1, d.Largest)
	}
	return 2
}

type onGraph struct {
	ctx     context.Context
	graph   *graph.Graph // nil: only degrees are known
	degrees *degrees
}

// On returns the properties of a graph that defaults and grids of parameters depend on. Radius costs a search for the
// largest eigenvalue.
func On(ctx context.Context, g *graph.Graph) param.Graph {
	return onGraph{ctx, g, describe(sparse.TeamOf(g.A), g.Degrees)}
}

// OnDegrees is [On] with only the degrees, which bound the largest eigenvalue.
func OnDegrees(degrees []float64) param.Graph {
	return onGraph{degrees: describe(nil, degrees)}
}

func (g onGraph) Len() int { return g.degrees.nodes }

func (g onGraph) MeanDegree() float64 { return g.degrees.mean }

func (g onGraph) MaxDegree() float64 {
	bound := g.degrees.Largest
	if g.graph != nil && g.graph.Hyperedges {
		bound *= bound
	}
	if bound == 0 {
		return 1
	}
	return bound
}

func (g onGraph) Radius(exact bool) (float64, error) {
	switch {
	case g.degrees.Largest == 0:
		return 1, nil
	case g.graph == nil:
		return g.degrees.Largest, nil
	case exact:
		return radius(g.ctx, g.graph)
	}
	return roughRadius(g.ctx, g.graph)
}

package papers

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// vertex is the kernel Σ λᵢ⟨Tⁱe_u, Tⁱe_v⟩ of Gärtner, Le and Smola (2006, §1.2.4). For edges and
// hyperedges T leads from a vertex to its edges and from an edge to its vertices. For arcs T leads
// from a vertex to the arcs that leave it, and from an arc to its head:
//
//	edges, hyperedges  Σ λᵢEⁱ, E = T² between vertices
//	arcs               Σ λ₂ⱼ·AʲAʲᵀ + λ₂ⱼ₊₁·AʲD_outAʲᵀ
//
// A graph has E = D + A without self loops, and an edge of weight w counts as w edges. In a
// hypergraph E counts the hyperedges that two vertices share. All numbers are ≥ 0, so that nothing
// cancels.
//
// Sweeps run on βA and βE, so that weights in any unit neither overflow nor vanish.
type vertex struct {
	n       int
	beta    float64
	out     *sparse.Operator[float64] // A, or E of a graph
	in      *sparse.Operator[float64] // Aᵀ of arcs; nil: edges
	twice   bool                      // E is the square of out: hyperedges are nodes of the graph
	degrees []float64                 // for arcs: sums of the arcs that leave each vertex, times β

	last      int  // N
	factorial bool // λᵢ is βⁱ/i!

	tail   float64 // bounds what a value lacks
	norm   float64 // bounds the norm of the kernel matrix
	sweeps int     // sweeps that find N
}

var vertices = kernel.Family{
	Spec: param.Spec{
		Name: "vertex", Title: "Σ λᵢ⟨Tⁱe_u, Tⁱe_v⟩, T: step from nodes to edges or back; undirected: Σ λᵢ(D + A)ⁱ without loops", Works: param.Undirected | param.Directed,
		Source: "Gärtner, Le and Smola, A short tour of kernel methods for graphs, 2006, section 1.2.4",
		Params: []param.Param{
			{
				Name: "weights", Symbol: "λ", Meaning: "βⁱ/i! or βⁱ",
				Kind:    param.Choice,
				Words:   []string{exponentialWeights, geometricWeights},
				Default: param.Of(exponentialWeights),
			},
			{
				Name: "beta", Symbol: "β", Meaning: "weight of a further step",
				Range: param.Above(0), Default: param.Of(1.0),
				Grid: param.Grid(0.1, 0.3, 1, 3), On: perStepWeight,
			},
			{
				Name: "steps", Symbol: "steps",
				Meaning: "steps that count at the most, of those that matter",
				Kind:    param.Whole,
				Range:   param.Range{Least: 1, Most: mostSteps},
				Default: param.Of(mostSteps),
			},
		},
	},
	New: func(ctx context.Context, g *graph.Graph, v param.Values) (kernel.Kernel, error) {
		return newVertex(ctx, g, v.Word("weights"), v.Number("beta"), v.Int("steps"))
	},
	Workspace: vertexWorkspace,
}

// perStepWeight returns the weight β of a step for a parameter x. For geometric weights, x is relative to a quarter of the β
// up to which the sum converges on any graph. For exponential weights, x is relative to the mean degree, and β is limited so
// that values at hubs do not overflow.
func perStepWeight(x float64, v param.Values, g param.Graph) (float64, error) {
	const largest = 20 // bound of β times the largest degree: values are below e⁴⁰, which float32 holds
	degree := g.MaxDegree()
	if v.Word("weights") == geometricWeights {
		return x / (8 * degree), nil
	}
	return min(x/g.MeanDegree(), largest/degree), nil
}

const (
	geometricWeights   = "geometric"
	exponentialWeights = "exponential"

	// mostSteps is the largest N.
	mostSteps = 4096

	// leastTail bounds the error of values. The largest value of a column is at least 1.
	leastTail = 1e-15

	// edgeBlocks is the number of blocks of a slab on undirected graphs. arcBlocks suffices for
	// walks of 80 arcs; longer walks take narrower slabs.
	edgeBlocks, arcBlocks = 4, 44
)

// vertexWorkspace returns the workspace of a block of the kernel. The blocks beyond edgeBlocks that arcs need are optional,
// because narrower slabs of columns need less.
func vertexWorkspace(_ param.Values, s kernel.Shape) budget.Workspace {
	space := kernel.ImagesWorkspace(edgeBlocks, s.Nodes, s.Long, s.Short)
	if s.Directed {
		space.Optional = budget.Times(arcBlocks-edgeBlocks, budget.Block[float64](s.Nodes, space.Columns))
	}
	return space
}

// newVertex returns the kernel of [vertex] with walks of at most the given number of steps. λᵢ is βⁱ for geometric weights,
// and βⁱ/i! for exponential weights. The sum over i ends earlier if further terms do not change it.
func newVertex(ctx context.Context, g *graph.Graph, weights string, beta float64,
	steps int) (*kernel.Images, error) {
	k := &vertex{n: len(g.Degrees), beta: beta,
		factorial: weights == exponentialWeights, twice: g.Hyperedges}
	k.out = &sparse.Operator[float64]{A: g.A, Workers: g.Workers}
	if g.In != nil {
		k.in = &sparse.Operator[float64]{A: g.In, Workers: g.Workers}
		k.degrees = make([]float64, k.n)
		for i, d := range g.Degrees {
			k.degrees[i] = beta * d
		}
	} else if !g.Hyperedges {
		k.out.Diag = g.Degrees
		if g.Loops != nil { // a loop has one vertex
			k.out.Diag = make([]float64, k.n)
			for i, d := range g.Degrees {
				k.out.Diag[i] = d - g.Loops[i]
			}
		}
	}
	if err := k.cut(ctx, steps); err != nil {
		return nil, err
	}
	longest, err := longestRow(ctx, g.A, g.In)
	if err != nil {
		return nil, err
	}
	// Each product and each sum rounds once; long rows are summed in pieces.
	terms := float64(min(longest, sparse.MaxRange) + longest/sparse.MaxRange + 4)
	const epsilon = 0x1p-52
	return &kernel.Images{
		Nodes: k.n, Team: k.out.Team(), Method: "sum over steps", Apply: k.applyTo, Blocks: k.blocks(),
		Sweeps: k.sweepsOf(), Prepare: k.sweeps, Tail: k.tail, Norm: k.norm,
		Rounding: 2 * float64(k.last+1) * terms * epsilon,
	}, nil
}

// ratio returns λᵢ₊₁/(λᵢβ).
func (k *vertex) ratio(i int) float64 {
	if k.factorial {
		return 1 / float64(i+1)
	}
	return 1
}

// cut finds the end N of the sum. With gᵢ ≥ βⁱ‖Tⁱ‖² between vertices, computed by sweeps of one
// column, the omitted terms are at most Σ λᵢ/βⁱ·gᵢ. Since gᵢ₊ₚ ≤ gᵢ·gₚ for even p, terms a period p
// later are at most λᵢ₊ₚ/(λᵢβᵖ)·gₚ times as large. Once this ratio, which falls with i, is below
// one, the sum of a period bounds the omitted sum.
func (k *vertex) cut(ctx context.Context, steps int) error {
	walk := k.newGrowth()
	// Logarithms, because powers overflow where their products with 1/i! do not.
	weight := []float64{0}
	growth := []float64{0}
	term := []float64{1}
	for i := 1; ; i++ {
		g, err := walk.next(ctx)
		if err != nil {
			return err
		}
		growth = append(growth, g)
		weight = append(weight, weight[i-1]+math.Log(k.ratio(i-1)))
		term = append(term, math.Exp(weight[i]+g))
		k.norm = sumOf(term)
		if !(k.norm < math.MaxFloat64/1e10) {
			return k.diverges(growth, steps)
		}
		if i == steps && steps < mostSteps || term[i] == 0 && math.IsInf(g, -1) { // no walk is that long
			k.last = i
			k.sweeps = walk.sweeps
			return nil
		}
		for _, period := range []int{2, 8, 32, 128, 512} {
			last := i - period
			if last < 0 {
				break
			}
			ratio := math.Exp(growth[period] + weight[i] - weight[last] +
				math.Log(k.ratio(i)) - math.Log(k.ratio(last)))
			if !(ratio < 1) {
				continue
			}
			if tail := sumOf(term[last+1:]) / (1 - ratio); tail <= leastTail {
				k.last = last
				k.tail = tail
				k.sweeps = walk.sweeps
				k.norm += tail
				return nil
			}
		}
		if i == mostSteps {
			return k.diverges(growth, steps)
		}
	}
}

func sumOf(terms []float64) (sum float64) {
	for _, t := range terms {
		sum += t
	}
	return sum
}

func refuse(format string, args ...any) error {
	return param.Refuse("vertex", "beta", format, args...)
}

// diverges returns the error that the sum converges too late or not at all. growth has the logarithms of gᵢ. No weight below
// β·gₚ^(−1/p) diverges. At 0.98 times the largest such bound, the last of mostSteps terms is below 1e-35.
func (k *vertex) diverges(growth []float64, steps int) error {
	if k.factorial || steps < mostSteps {
		return refuse(
			"%v is out of range; the values of the kernel overflow on this graph, give less", k.beta)
	}
	pole := 0.0
	for p := 2; p < len(growth); p += 2 {
		pole = max(pole, k.beta*math.Exp(-growth[p]/float64(p)))
	}
	if k.beta < pole {
		return refuse(
			"%v is too near to %s, from where the sum of geometric weights may diverge on this graph: more than %d steps count; give β ≤ %.3g, or a number of steps", k.beta, param.End(pole, k.beta, true, 4), mostSteps, 0.98*pole)
	}
	return refuse(
		"%v is out of range; with geometric weights the sum over steps converges on this graph for β < %s; give β ≤ %.3g, or a number of steps", k.beta, param.End(pole, k.beta, true, 4), 0.98*pole)
}

// growth computes the logarithms of gᵢ, of βA and βE: ‖Aʲ‖∞·‖Aʲᵀ‖∞ and ‖Aʲ⁺¹‖∞·‖Aʲᵀ‖∞ for arcs, else ‖Eⁱ‖∞. Since all numbers
// are ≥ 0, a norm is the largest element of the product with ones.
type growth struct {
	k       *vertex
	a, b    *sparse.Block[float64] // Aʲ1 and Aʲᵀ1, or Eⁱ1
	spare   *sparse.Block[float64]
	largest [2]float64 // logarithms of the largest elements of Aʲ1 and Aʲᵀ1, by which a and b are divided
	odd     bool
	sweeps  int
}

func (k *vertex) newGrowth() *growth {
	g := &growth{k: k, a: blocks.Ones(k.out.Team(), k.n),
		spare: sparse.NewBlock[float64](k.n, 1)}
	if k.in != nil {
		g.b = blocks.Ones(k.out.Team(), k.n)
	}
	return g
}

func (g *growth) next(ctx context.Context) (float64, error) {
	if g.k.in == nil {
		err := g.k.timesE(ctx, g.a, g.spare, nil, 1)
		g.sweeps += g.k.perStep()
		g.rescale(g.a, 0)
		return g.largest[0], err
	}
	// Aʲ⁺¹1 belongs to 2j+1, Aʲ⁺¹ᵀ1 to 2j+2.
	op := g.k.out
	x := &g.a
	exponent := 0
	if g.odd {
		op = g.k.in
		x = &g.b
		exponent = 1
	}
	if err := op.StepTo(ctx, g.spare, *x, sparse.Step[float64]{Alpha: g.k.beta}); err != nil {
		return 0, err
	}
	*x, g.spare = g.spare, *x
	g.rescale(*x, exponent)
	g.odd = !g.odd
	g.sweeps++
	return g.largest[0] + g.largest[1], nil
}

func (g *growth) rescale(x *sparse.Block[float64], exponent int) {
	peak := blocks.Largest(g.k.out.Team(), x)
	g.largest[exponent] += math.Log(peak)
	if peak > 0 {
		blocks.Scale(x, 1/peak)
	}
}

func (k *vertex) perStep() int {
	if k.twice {
		return 2
	}
	return 1
}

// timesE replaces y by r·βE·y + x. If x is nil, it is 0. spare is a workspace, which may be exchanged with y.
func (k *vertex) timesE(ctx context.Context, y, spare, x *sparse.Block[float64],
	r float64) error {
	step := sparse.Step[float64]{Alpha: r * k.beta, Prev: x}
	if x != nil {
		step.Delta = 1
	}
	if k.twice {
		if err := k.out.ApplyTo(ctx, spare, y); err != nil {
			return err
		}
		return k.out.StepTo(ctx, y, spare, step)
	}
	if err := k.out.StepTo(ctx, spare, y, step); err != nil {
		return err
	}
	*y, *spare = *spare, *y
	return nil
}

func longestRow(ctx context.Context,
	operands ...sparse.Matrix) (longest int, err error) {
	for _, a := range operands {
		if a == nil {
			continue
		}
		lengths, err := sparse.RowSums(ctx, a, 1,
			func(col []uint32, _ []float64) float64 { return float64(len(col)) })
		if err != nil {
			return 0, err
		}
		for _, n := range lengths {
			longest = max(longest, int(n))
		}
	}
	return int(blocks.MaxOver(sparse.TeamOf(operands[0]), float64(longest))), nil
}

// blocks returns the number of blocks for a slab, a group of columns that are computed together. For arcs the blocks include
// all Aʲᵀ·X, because the sum goes through these products backwards.
func (k *vertex) blocks() int {
	if k.in == nil {
		return edgeBlocks
	}
	return k.last/2 + 3
}

func (k *vertex) applyTo(ctx context.Context, dst, x *sparse.Block[float64],
	progress func(sweeps int)) error {
	if k.in == nil {
		y := sparse.NewBlock[float64](k.n, x.Cols)
		spare := sparse.NewBlock[float64](k.n, x.Cols)
		blocks.Copy(y, x)
		for i := k.last - 1; i >= 0; i-- {
			if err := k.timesE(ctx, y, spare, x, k.ratio(i)); err != nil {
				return err
			}
			progress(k.perStep())
		}
		blocks.Copy(dst, y)
		return nil
	}
	z := make([]*sparse.Block[float64], k.last/2+1)
	for j := range z {
		z[j] = sparse.NewBlock[float64](k.n, x.Cols)
		if j == 0 {
			blocks.Copy(z[0], x)
			continue
		}
		both := k.ratio(2*j-2) * k.ratio(2*j-1)
		if err := k.in.StepTo(ctx, z[j], z[j-1],
			sparse.Step[float64]{Alpha: both * k.beta}); err != nil {
			return err
		}
		k.weigh(z[j-1], j-1)
		progress(k.perStep())
	}
	k.weigh(z[len(z)-1], len(z)-1)
	for j := len(z) - 2; j >= 0; j-- {
		if err := k.out.StepTo(ctx, z[j], z[j+1],
			sparse.Step[float64]{Alpha: k.beta, Delta: 1, Prev: z[j]}); err != nil {
			return err
		}
		progress(k.perStep())
	}
	blocks.Copy(dst, z[0])
	return nil
}

// weigh multiplies z = λ₂ⱼ·Aʲᵀ·X by I + λ₂ⱼ₊₁/λ₂ⱼ·D_out.
func (k *vertex) weigh(z *sparse.Block[float64], j int) {
	if 2*j+1 > k.last {
		return
	}
	r := k.ratio(2 * j)
	for i := range z.Rows {
		w := 1 + float64(r*k.degrees[i])
		for c := range z.Row(i) {
			z.Row(i)[c] *= w
		}
	}
}

func (k *vertex) sweepsOf() int {
	if k.in != nil {
		return k.last / 2 * 2
	}
	return k.last * k.perStep()
}

package papers

import (
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/sparse"
)

// relaxationLabelling is relaxation labelling with the similarity of local structure: Desrosiers and Karypis 2009, as Neumann,
// Garnett and Kersting 2013 compare it. Parallel walks from two nodes end at each step with probability γ. The similarity of the
// nodes is the probability that the walks have the same length, at most N, and the same labels all the way,
//
//	σ = γ²·Σ_{j=0..N} (1−γ)^{2j}·R_j,  R_0 = PPᵀ,  R_j = R_0 ∘ (T·R_{j−1}·Tᵀ)
//
// where P are the current distributions. Unlabelled nodes start with equal shares. In each round all nodes u get new
// distributions at once:
//
//	P_uc ∝ (mean of σ(u, v)^β over the labelled nodes v of class c)^α
//
// Similarities are not stored. The similarity to a labelled node v, whose distribution is certain, is
//
//	σ(u, v) = γ²·P_{u,y(v)}·(1 + Σ_{j=1..N} (1−γ)^{2j}·⟨Ψ_j(u), Ψ_j(v)⟩)
//
// where Ψ_1 = T·P, and Ψ_{j+1} has the columns T·(P_c ∘ ψ) for all classes c and columns ψ of Ψ_j: a column for each sequence of
// labels. With β = 1 the mean over the labelled nodes of a class is the product with their mean. Cost of a round: a product of T
// with k + … + k^N columns for k classes, and that many multiplications for each node and class or, if β is not 1, for each node
// and label.
var relaxationLabelling = propagate.Learner{
	Spec: param.Spec{
		Name: "rl", Title: "relaxation labelling by the similarity of parallel walks", Works: param.Undirected,
		Source: "Desrosiers and Karypis, Within-network classification using local structure similarity, ECML PKDD 2009",
		Params: []param.Param{
			{Name: "gamma", Symbol: "γ", Meaning: "probability that a walk ends at a step", Range: param.Range{Least: 0, Most: 1, AboveLeast: true},
				Default: param.Of(0.3)},
			{Name: "walk", Symbol: "N", Meaning: "longest walks of the similarity",
				Kind: param.Whole, Range: param.Range{Least: 0, Most: 16},
				Default: param.Of(2)},
			{Name: "power-alpha", Symbol: "α", Meaning: "power of what labels say of a class", Range: param.Above(0),
				Default: param.Of(1.0), Grid: param.Grid(0.5, 1.0, 2.0)},
			{Name: "power-beta", Symbol: "β", Meaning: "power of the similarity", Range: param.Above(0),
				Default: param.Of(1.0), Grid: param.Grid(1.0, 4.0)},
			{Name: "rounds", Symbol: "rounds", Meaning: "rounds of relaxation",
				Kind: param.Whole, Range: param.Range{Least: 0, Most: 1e6},
				Default: param.Of(5)},
		},
	},
	Coupled:      true,
	CheckClasses: checkSequences,
	Spread: func(ctx context.Context, p *sparse.Block[float64], g *graph.Graph, s cwk.Seeds, v param.Values, _ float64) (columns int, err error) {
		r := &relaxation{p: p, t: propagate.Transition(g), s: s, v: v}
		if err := r.begin(); err != nil {
			return 0, err
		}
		team := sparse.TeamOf(g.A)
		for i := range p.Rows {
			for c := range p.Row(i) {
				if !team.IsPadding(i) {
					p.Row(i)[c] = 1 / float64(p.Cols)
				}
			}
		}
		propagate.Clamp(p, s)
		for range v.Int("rounds") {
			if err := r.round(ctx, g.Workers); err != nil {
				return columns, err
			}
			columns += r.columns
		}
		return columns, nil
	},
	Workspace: func(n, classes int, v param.Values) budget.Workspace {
		columns, last := sequences(classes, v.Int("walk"))
		walks := budget.Block[float64](n+classes, padColumns(columns)) // a column for each sequence of labels
		return budget.Held(walks, 2*budget.Block[float64](n, max(1, last/max(1, classes))), 2*8*int64(n))
	},
}

// sequences returns total = k + … + k^N and last = k^N for k classes and N = walk. It stops once total exceeds maxSequences.
func sequences(classes, walk int) (total, last int) {
	last = 1
	for range walk {
		last *= classes
		total += last
		if total > maxSequences {
			break
		}
	}
	return total, last
}

func checkSequences(classes int, v param.Values) error {
	walk := v.Int("walk")
	if count, _ := sequences(classes, walk); count > maxSequences {
		return param.Refuse("rl", "walk",
			"walks of %d steps have more than %d sequences of %d classes; give fewer steps", walk, maxSequences, classes)
	}
	return nil
}

// padColumns rounds up to a multiple of 4, see [simd.DotPanels].
func padColumns(n int) int { return (n + 3) &^ 3 }

// maxSequences bounds the sequences of labels, each a column of a block.
const maxSequences = 20_000

type relaxation struct {
	p *sparse.Block[float64]
	t *sparse.Operator[float64]
	s cwk.Seeds
	v param.Values

	columns    int                    // k + … + k^N
	psi        *sparse.Block[float64] // (1−γ)^j·Ψ_j for each j, then padding
	source     *sparse.Block[float64] // P_c ∘ Ψ_j
	image      *sparse.Block[float64]
	members    []float64 // labels of each class
	references []known   // nodes that unlabelled nodes are compared with
}

// known is a labelled node, or all labelled nodes of a class together.
type known struct {
	class int
	nodes float64   // number of labelled nodes of the class
	walks []float64 // sum of the rows of psi of these nodes
}

// begin allocates the blocks and a reference for every labelled node. With β = 1 one reference for each class is enough,
// because the mean needs only sums.
func (r *relaxation) begin() error {
	k := r.p.Cols
	walk := r.v.Int("walk")
	count, last := sequences(k, walk)
	if err := checkSequences(k, r.v); err != nil {
		return err
	}
	r.columns = count
	r.members = make([]float64, k)
	for _, c := range r.s.Class {
		r.members[c]++
	}
	if count > 0 {
		n := r.p.Rows
		r.psi = sparse.NewBlock[float64](n, padColumns(count))
		r.source, r.image = sparse.NewBlock[float64](n, last/k),
			sparse.NewBlock[float64](n, last/k)
	}
	if r.v.Number("power-beta") != 1 {
		for i, row := range r.s.Row {
			one := known{class: r.s.Class[i], nodes: 1}
			if count > 0 {
				one.walks = r.psi.Row(row)
			}
			r.references = append(r.references, one)
		}
		return nil
	}
	for c, n := range r.members {
		if n > 0 {
			r.references = append(r.references,
				known{c, n, make([]float64, padColumns(count))})
		}
	}
	return nil
}

// addUp computes the sums of walks of the classes.
func (r *relaxation) addUp() {
	if r.v.Number("power-beta") != 1 || r.columns == 0 {
		return
	}
	for _, k := range r.references {
		clear(k.walks)
		for i, row := range r.s.Row {
			if r.s.Class[i] != k.class {
				continue
			}
			for j, x := range r.psi.Row(row) {
				k.walks[j] += x
			}
		}
	}
}

// round stores the distributions of the next round in p.
func (r *relaxation) round(ctx context.Context, workers int) error {
	if err := r.walk(ctx); err != nil {
		return err
	}
	r.addUp()
	labelled := sched.Mark(r.p.Rows, r.s.Row)
	const chunk = 64
	return sched.Run(ctx, workers, (r.p.Rows+chunk-1)/chunk, func(_, piece int) error {
		votes := [2][]float64{make([]float64, r.p.Cols), make([]float64, r.p.Cols)}
		var free []int
		for u := piece * chunk; u < min(r.p.Rows, (piece+1)*chunk); u++ {
			if !labelled[u] {
				free = append(free, u)
			}
		}
		for pair := range slices.Chunk(free, 2) {
			if err := sched.Cause(ctx); err != nil {
				return err
			}
			r.vote(&votes, pair)
		}
		return nil
	})
}

func (r *relaxation) walk(ctx context.Context) error {
	if r.columns == 0 {
		return nil
	}
	n := r.p.Rows
	k := r.p.Cols
	stay := 1 - r.v.Number("gamma")
	first := r.psi.Columns(0, k)
	if err := r.t.StepTo(ctx, first, r.p, sparse.Step[float64]{Alpha: stay}); err != nil {
		return err
	}
	for lo, width := 0, k; lo+width < r.columns; lo, width = lo+width, width*k {
		source := r.source.Columns(0, width)
		image := r.image.Columns(0, width)
		for c := range k {
			for i := range n {
				share := r.p.Row(i)[c]
				row := source.Row(i)
				for j, x := range r.psi.Row(i)[lo : lo+width] {
					row[j] = share * x
				}
			}
			if err := r.t.StepTo(ctx, image, source, sparse.Step[float64]{Alpha: stay}); err != nil {
				return err
			}
			for i := range n {
				copy(r.psi.Row(i)[lo+width+c*width:], image.Row(i))
			}
		}
	}
	return nil
}

// vote computes the votes of one or two nodes for each class, and replaces the distribution of each node by its votes. A node
// without votes keeps its distribution.
func (r *relaxation) vote(votes *[2][]float64, nodes []int) {
	beta := r.v.Number("power-beta")
	clear(votes[0])
	clear(votes[1])
	row := func(i int) []float64 { return r.psi.Row(i) }
	for lo := 0; lo < len(r.references); lo += 4 {
		four := r.references[lo:min(lo+4, len(r.references))]
		walksOf := func(q int) []float64 { return four[min(q, len(four)-1)].walks }
		var products [8]float64
		if r.columns > 0 {
			simd.DotPanels(&products, row(nodes[0]), row(nodes[len(nodes)-1]),
				walksOf(0), walksOf(1), walksOf(2), walksOf(3))
		}
		for j, u := range nodes {
			p := r.p.Row(u)
			for q, k := range four {
				votes[j][k.class] += power(p[k.class]*(k.nodes+
					products[4*j+q]), beta)
			}
		}
	}
	for j, u := range nodes {
		r.share(r.p.Row(u), votes[j])
	}
}

// power returns x^β, by products for the usual β.
func power(x, beta float64) float64 {
	switch beta {
	case 1:
		return x
	case 2:
		return x * x
	case 4:
		return (x * x) * (x * x)
	}
	return math.Pow(x, beta)
}

func (r *relaxation) share(p, votes []float64) {
	alpha := r.v.Number("power-alpha")
	largest := 0.0
	sum := 0.0
	for c := range votes {
		votes[c] /= max(1, r.members[c])
		largest = max(largest, votes[c])
	}
	if !(largest > 0) {
		return
	}
	for c, v := range votes {
		votes[c] = math.Pow(v/largest, alpha)
		sum += votes[c]
	}
	for c, v := range votes {
		p[c] = v / sum
	}
}

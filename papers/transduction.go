package papers

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// gpTransduction is transduction with Gaussian processes of several classes by the variational
// method: Gärtner, Le and Smola 2006, sections 1.3 to 1.5. The latent values t of all nodes have
// the covariance σ²K, K⁻¹ = I + γL. From t = 0 two steps alternate, for the given number of rounds
// or until no value changes by more than ten times the tolerance. First, the distributions of
// unlabelled nodes i become the balanced distributions
//
//	q_ic ∝ π_ic·e^{Θ_c},  π = softmax(t),  Θ minimising mean_i log Σ_c π_ic·e^{Θ_c} − ⟨Θ, μ⟩ + β/2·‖Θ‖²
//
// where μ are the class shares among the labels. Second, t becomes the minimum of
//
//	Σ_i log Σ_c e^{t_ic} − tr νᵀt + tr tᵀK⁻¹t/(2σ²)
//
// where ν is one-hot at labelled nodes and q at all other nodes. β = 0 makes the class shares equal
// to μ, and Θ has mean 0; without balance Θ is 0. Scores are t, −∞ for a class without a label.
// Probabilities are q, from which [propagate.Learner.Decide] makes classes.
//
// Cost: for each round a few steps of Newton's method, each some tens of sweeps.
var gpTransduction = propagate.Learner{
	Spec: param.Spec{
		Name:  "gp-transduction",
		Title: "Gaussian processes over all nodes, their classes balanced as the labels", Works: param.Undirected,
		Source: "Gärtner, Le and Smola, A short tour of kernel methods for graphs, 2006, section 1.4",
		Params: []param.Param{
			{Name: "laplacian", Meaning: "of K⁻¹ = I + γL", Kind: param.Choice,
				Words:   []string{"normalized", "combinatorial"},
				Default: param.Of("normalized")},
			{Name: "alpha", Symbol: "γ", Meaning: "γ of K⁻¹ = I + γL", Range: param.Above(0), Default: param.Of(10.0),
				Grid: param.Grid(1.0, 10.0, 100.0)},
			{Name: "variance", Symbol: "σ²", Meaning: "variance of Gaussian processes in addition to the kernel's", Range: param.Above(0), Default: param.Of(100.0),
				Grid: param.Grid(10.0, 100.0)},
			{Name: "balance", Symbol: "β", Meaning: "how far the shares of the classes may differ from those of the labels: 0 not at all, or none for no balance",
				Range: param.From(0), Words: []string{"none"},
				Default: param.Of(0.0)},
			assignParam,
			{Name: "rounds", Symbol: "rounds",
				Meaning: "rounds of balance and latent values at the most",
				Kind:    param.Whole, Range: param.Range{Least: 1, Most: 1e6},
				Default: param.Of(40)},
		},
	},
	Coupled: true,

	// Latent values that change by less than 0.01 a round seldom change a class.
	ChoiceTolerance: 1e-3,

	Spread: func(ctx context.Context, f *sparse.Block[float64], g *graph.Graph, s cwk.Seeds, v param.Values, tolerance float64) (columns int, err error) {
		r := newTransduction(sparse.TeamOf(g.A), f.Rows, s, v)
		r.op = sparse.NewOperator[float64](sparse.NormalizedLaplacian,
			g.A, g.Degrees)
		if v.Word("laplacian") == "combinatorial" {
			r.op = sparse.NewOperator[float64](sparse.Laplacian, g.A, g.Degrees)
		}
		r.op.Workers = g.Workers
		r.diagonal = make([]float64, f.Rows)
		for i, d := range g.Degrees {
			degree := min(d, 1) // the diagonal of L̃ without loops
			if v.Word("laplacian") == "combinatorial" {
				degree = d
			}
			r.diagonal[i] = (1 + v.Number("alpha")*degree) / v.Number("variance")
		}
		if err := r.alternate(ctx, tolerance); err != nil {
			return r.columns, err
		}
		for i := range f.Rows {
			for c := range f.Row(i) {
				f.Row(i)[c] = math.Inf(-1)
			}
			for a, c := range r.class {
				f.Row(i)[c] = r.t.Row(i)[a]
			}
		}
		return r.columns, nil
	},
	Workspace: func(n, classes int, _ param.Values) budget.Workspace {
		// Ten blocks of Newton's method, the previous latent values, the scaled copy of a step, factors and terms of rows, and
		// nodes in the order of a class.
		return budget.Held(12*budget.Block[float64](n, classes), 4*8*int64(n))
	},
	Assign: func(team *sparse.Team, f *sparse.Block[float64], s cwk.Seeds, v param.Values) ([]float64, []int, error) {
		theta, err := balancingOffset(team, f, s, v)
		if err != nil || v["assign"] != param.Of("shares") {
			return theta, nil, err
		}
		if team != nil { // all nodes must be in one process
			return nil, nil, fmt.Errorf("assign = shares: %w", sparse.ErrDivided)
		}
		return theta, assignShares(f, theta, s), nil
	},
	Probabilities: func(dst, f, _ []float64, _ float64) {
		classify.Softmax(dst, f)
	},
}

func balancingOffset(team *sparse.Team, f *sparse.Block[float64], s cwk.Seeds, v param.Values) ([]float64, error) {
	r := newTransduction(team, f.Rows, s, v)
	for i := range f.Rows {
		for a, c := range r.class {
			r.t.Row(i)[a] = f.Row(i)[c]
		}
	}
	if err := r.balance(); err != nil {
		return nil, err
	}
	theta := make([]float64, f.Cols)
	for a, c := range r.class {
		theta[c] = r.theta[a]
	}
	return theta, nil
}

type transduction struct {
	team     *sparse.Team
	op       *sparse.Operator[float64] // L
	diagonal []float64                 // diagonal of K⁻¹/σ²
	v        param.Values

	class      []int     // classes that have labels
	mu, theta  []float64 // one for each class
	unlabelled []int
	counted    []int   // unlabelled nodes that this process counts
	free       float64 // unlabelled nodes in all processes

	t, nu   *sparse.Block[float64] // latent values, and their targets
	columns int

	inverse, share, gradient, step, direction, residual, image *sparse.Block[float64]

	scale *sparse.Block[float64] // inverse of the diagonal of the second derivative
	term  []float64              // term of each node in the objective
}

// newTransduction returns a computation before its first step.
func newTransduction(team *sparse.Team, n int, s cwk.Seeds,
	v param.Values) *transduction {
	r := &transduction{team: team, v: v}
	place := make([]int, s.Classes)
	for c, m := range countsOf(s) {
		if m > 0 {
			place[c] = len(r.class)
			r.class = append(r.class, c)
			r.mu = append(r.mu, float64(m)/float64(len(s.Class)))
		}
	}
	r.theta = make([]float64, len(r.class))
	for _, b := range []**sparse.Block[float64]{&r.t, &r.nu} {
		*b = sparse.NewBlock[float64](n, len(r.class))
	}
	labelled := make([]bool, n)
	for i, row := range s.Row {
		labelled[row] = true
		r.nu.Row(row)[place[s.Class[i]]] = 1
	}
	for i := range n {
		if labelled[i] || team.IsPadding(i) {
			continue
		}
		r.unlabelled = append(r.unlabelled, i)
		if team.Counts(i) {
			r.counted = append(r.counted, i)
		}
	}
	r.free = blocks.SumOver(team, float64(len(r.counted)))
	return r
}

// alternate finds the latent values.
func (r *transduction) alternate(ctx context.Context, tolerance float64) error {
	for _, b := range []**sparse.Block[float64]{&r.inverse, &r.share, &r.gradient,
		&r.step, &r.direction, &r.residual, &r.image, &r.scale} {
		*b = sparse.NewBlock[float64](r.t.Rows, r.t.Cols)
	}
	r.term = make([]float64, r.t.Rows)
	previous := make([]float64, len(r.t.Data))
	for range r.v.Int("rounds") {
		if err := r.balance(); err != nil {
			return err
		}
		copy(previous, r.t.Data)
		if err := r.minimise(ctx, tolerance); err != nil {
			return err
		}
		change := 0.0
		for i, x := range r.t.Data {
			change = max(change, math.Abs(x-previous[i]))
		}
		if blocks.MaxOver(r.team, change) <= 10*tolerance || r.free == 0 {
			return nil
		}
	}
	return nil
}

// balance finds Θ, and stores the balanced distributions q in the rows of ν of unlabelled nodes, see [gpTransduction].
func (r *transduction) balance() error {
	for _, i := range r.unlabelled {
		classify.Softmax(r.nu.Row(i), r.t.Row(i))
	}
	k := len(r.class)
	if r.v["balance"] == param.Of("none") || r.free == 0 {
		return nil
	}
	beta := r.v.Number("balance")
	value := r.weigh(r.theta, nil, nil)
	for range 200 {
		gradient := mat.NewVecDense(k, nil)
		hessian := mat.NewSymDense(k, nil)
		r.weigh(r.theta, gradient, hessian)
		if mat.Norm(gradient, math.Inf(1)) < 1e-15 {
			break
		}
		if beta == 0 { // Θ is unique up to a constant
			for a := range k {
				for b := a; b < k; b++ {
					hessian.SetSym(a, b, hessian.At(a, b)+1/float64(k))
				}
			}
		}
		var cholesky mat.Cholesky
		var step mat.VecDense
		if !cholesky.Factorize(hessian) ||
			cholesky.SolveVecTo(&step, gradient) != nil && step.IsEmpty() {
			return iterative.ErrIndefinite
		}
		slope := mat.Dot(gradient, &step)
		next := make([]float64, k)
		size := 1.0
		isFound := false
		for ; size > 1e-10 && slope > 1e-15*math.Abs(value); size /= 2 {
			for a := range next {
				next[a] = r.theta[a] - size*step.AtVec(a)
			}
			if reached := r.weigh(next, nil, nil); reached < value-1e-4*size*slope {
				value = reached
				isFound = true
				break
			}
		}
		if !isFound { // rounding hides the decrease; a last full step does no harm
			for a := range next {
				next[a] = r.theta[a] - step.AtVec(a)
			}
		}
		copy(r.theta, next)
		if !isFound {
			break
		}
	}
	if beta == 0 {
		mean := 0.0
		for _, x := range r.theta {
			mean += x / float64(k)
		}
		for a := range r.theta {
			r.theta[a] -= mean
		}
	}
	logits := make([]float64, k)
	for _, i := range r.unlabelled {
		for a := range logits {
			logits[a] = r.t.Row(i)[a] + r.theta[a]
		}
		classify.Softmax(r.nu.Row(i), logits)
	}
	return nil
}

// weigh returns the objective of Θ for the distributions π in ν. If gradient and hessian are not nil, it stores the
// derivatives there.
func (r *transduction) weigh(theta []float64, gradient *mat.VecDense, hessian *mat.SymDense) float64 {
	k := len(theta)
	share := 1 / r.free
	beta := r.v.Number("balance")
	factor := make([]float64, k)
	for a, x := range theta {
		factor[a] = math.Exp(x)
	}
	q := make([]float64, k)
	size := 1
	if gradient != nil {
		size += k + k*k
	}
	sums := blocks.Sums(nil, len(r.counted), size, func(i int, sums []float64) {
		sum := 0.0
		for a, p := range r.nu.Row(r.counted[i]) {
			q[a] = p * factor[a]
			sum += q[a]
		}
		sums[0] += share * math.Log(sum)
		if gradient == nil {
			return
		}
		mean := sums[1 : 1+k]
		products := sums[1+k:]
		for a := range q {
			q[a] /= sum
			mean[a] += share * q[a]
		}
		for a := range q {
			for b := range a + 1 {
				products[a*k+b] += share * q[a] * q[b]
			}
		}
	})
	r.team.Sum(sums)
	value := sums[0]
	for a, x := range theta {
		value += beta/2*x*x - x*r.mu[a]
		if gradient == nil {
			continue
		}
		mean := sums[1 : 1+k]
		products := sums[1+k:]
		gradient.SetVec(a, mean[a]-r.mu[a]+beta*x)
		for b := range a + 1 {
			hessian.SetSym(a, b, -products[a*k+b])
		}
		hessian.SetSym(a, a, hessian.At(a, a)+mean[a]+beta)
	}
	return value
}

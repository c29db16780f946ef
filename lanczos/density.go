package lanczos

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// normSteps are as many as tell a norm to a factor of two.
const normSteps = 20

// probe does so many steps of Lanczos on random columns, of which draw fills a row, and calls
// after with their number after each. Cost: a sweep with all columns for each step.
func (r *run) probe(ctx context.Context, cols, steps int, draw func(rng *rand.Rand, row []float64), after func(steps int)) (*recurrence, error) {
	chains := newRecurrence(r.p.A, cols, r.s.Workers)
	err := chains.start(ctx, r.s.RNGSeed, r.p.Excluded, draw)
	for err == nil && chains.steps < steps && slices.ContainsFunc(chains.columns, func(c chain) bool { return !c.done }) {
		err = chains.step(ctx)
		after(chains.steps)
	}
	return chains, err
}

// measureNorm finds a lower bound of ‖A‖ where no Ritz values tell. It tells no progress:
// who paces LOBPCG by its residuals counts its own steps.
func (r *run) measureNorm(ctx context.Context) error {
	chains, err := r.probe(ctx, 1, normSteps, func(rng *rand.Rand, row []float64) { row[0] = rng.NormFloat64() }, func(int) {})
	if err != nil {
		return err
	}
	values, _ := chains.columns[0].EigenRows()
	for _, v := range values {
		r.norm = max(r.norm, math.Abs(v))
	}
	r.products += chains.steps
	return nil
}

// density tells about how many eigenvalues lie around σ: of a random vector Lanczos makes
// a quadrature rule of the spectrum (Lin, Saad and Yang 2016).
type density struct {
	rules  []quadrature
	rows   float64
	sweeps int
}

// quadrature are the nodes of a rule, rising, each with the share of the spectrum up to
// it, of its own the half.
type quadrature []struct{ node, below float64 }

// density measures it with columns of random signs, and a lower bound of the norm of A.
// The share of a node is the median of its own and its neighbours': an eigenvalue of many
// copies, whose node has a large share, is one of few to a block.
func (r *run) density(ctx context.Context) (*density, error) {
	chains, err := r.probe(ctx, width, densitySteps, func(rng *rand.Rand, row []float64) {
		bits := rng.Uint64()
		for j := range row {
			row[j] = float64(int(bits>>j&1)*2 - 1)
		}
	}, r.report)
	if err != nil {
		return nil, err
	}
	d := &density{rows: float64(r.dim), sweeps: chains.steps}
	for j := range chains.columns {
		rule := chains.columns[j].quadrature()
		r.norm = max(r.norm, math.Abs(rule[0].node), math.Abs(rule[len(rule)-1].node))
		d.rules = append(d.rules, rule)
	}
	return d, nil
}

// quadrature returns the rule of a column. Nodes that rounding has made of one are one.
func (c *chain) quadrature() quadrature {
	values, first := c.EigenRows(0)
	places := nearestTo(values, slices.Min(values))
	tells := math.Sqrt(epsilon) * c.Norm()
	var nodes []float64
	shares := []float64{0} // and beyond the last
	for _, i := range places {
		if last := len(nodes) - 1; last < 0 || values[i]-nodes[last] > tells {
			nodes, shares = append(nodes, values[i]), append(shares, 0)
		}
		shares[len(nodes)] += first[i] * first[i]
	}
	shares = append(shares, 0)
	rule, sum := make(quadrature, len(nodes)), 0.0
	for i, node := range nodes {
		a, b, c := shares[i], shares[i+1], shares[i+2]
		median := max(min(a, b), min(max(a, b), c))
		rule[i].node, rule[i].below = node, sum+median/2
		sum += median
	}
	return rule
}

// between returns about how many eigenvalues lie between two numbers.
func (d *density) between(lo, hi float64) (count float64) {
	for _, q := range d.rules {
		count += (q.at(hi) - q.at(lo)) * d.rows / float64(len(d.rules))
	}
	return count
}

// at returns the share of the spectrum up to x, as evenly spread between the nodes.
func (q quadrature) at(x float64) float64 {
	i := sort.Search(len(q), func(i int) bool { return q[i].node >= x })
	if i == 0 || i == len(q) {
		return q[max(0, i-1)].below
	}
	a, b := q[i-1], q[i]
	return a.below + (b.below-a.below)*(x-a.node)/(b.node-a.node)
}

// around returns how many eigenvalues lie within distances δ of σ, as ranks of the
// values −δ.
func (d *density) around(near float64) spectrum {
	distances := []float64{0}
	for _, rule := range d.rules {
		for _, q := range rule {
			distances = append(distances, math.Abs(q.node-near))
		}
	}
	slices.Sort(distances)
	all := make(spectrum, len(distances))
	for i, delta := range distances {
		all[i] = ranked{-delta, d.between(near-delta, near+delta)}
	}
	return all
}

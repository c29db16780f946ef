package lanczos

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// normSteps is the number of steps of Lanczos that estimates a norm within a factor of two.
const normSteps = 20

// probe runs steps of Lanczos on random columns without orthogonalisation. draw fills a row of the
// columns; review is called after each step with its number. Cost: a sweep with all columns for
// each step.
func (r *run) probe(ctx context.Context, cols, steps int, draw func(rng *rand.Rand, row []float64), review func(steps int)) (*recurrence, error) {
	chains := newRecurrence(r.p.A, cols, r.s.Workers)
	err := chains.start(ctx, r.s.RNGSeed, r.p.Excluded, draw)
	for err == nil && chains.steps < steps && slices.ContainsFunc(chains.columns, func(c chain) bool { return !c.done }) {
		err = chains.step(ctx)
		review(chains.steps)
	}
	return chains, err
}

// measureNorm computes a lower bound of ‖A‖ for methods without Ritz values of both ends.
func (r *run) measureNorm(ctx context.Context) error {
	chains, err := r.probe(ctx, 1, normSteps, func(rng *rand.Rand, row []float64) { row[0] = rng.NormFloat64() }, func(int) {})
	if err != nil {
		return err
	}
	values, _ := chains.columns[0].EigenRows()
	for _, v := range values {
		r.norm = max(r.norm, math.Abs(v))
	}
	r.m.products += chains.steps
	return nil
}

// density estimates the number of eigenvalues around σ: Lanczos on a random vector is a
// quadrature rule for the spectrum (Lin, Saad and Yang 2016).
type density struct {
	rules  []quadrature
	rows   float64
	sweeps int
}

// quadrature holds the nodes of a rule, rising, each with the share of the spectrum below it plus
// half of its own.
type quadrature []struct{ node, share float64 }

// density returns the density from columns of random signs, and stores a lower bound of the norm of
// A. The share of a node is the median of its own and its neighbours', because a block finds only a
// few copies of a multiple eigenvalue, whose node has a large share.
func (r *interior) density(ctx context.Context) (*density, error) {
	chains, err := r.run.probe(ctx, width, densitySteps, func(rng *rand.Rand, row []float64) {
		bits := rng.Uint64()
		for j := range row {
			row[j] = float64(int(bits>>j&1)*2 - 1)
		}
	}, r.run.report)
	if err != nil {
		return nil, err
	}
	d := &density{rows: float64(r.run.dim), sweeps: chains.steps}
	for j := range chains.columns {
		rule := chains.columns[j].quadrature()
		r.run.norm = max(r.run.norm, math.Abs(rule[0].node), math.Abs(rule[len(rule)-1].node))
		d.rules = append(d.rules, rule)
	}
	return d, nil
}

// quadrature returns the rule of a column. Nodes within rounding of each other are copies of one
// Ritz value, which Lanczos without orthogonalisation finds again and again; they are joined.
func (c *chain) quadrature() quadrature {
	values, first := c.EigenRows(0)
	places := nearestTo(values, slices.Min(values))
	distinct := math.Sqrt(epsilon) * c.Norm()
	var nodes []float64
	shares := []float64{0} // and beyond the last
	for _, i := range places {
		if last := len(nodes) - 1; last < 0 || values[i]-nodes[last] > distinct {
			nodes, shares = append(nodes, values[i]), append(shares, 0)
		}
		shares[len(nodes)] += first[i] * first[i]
	}
	shares = append(shares, 0)
	rule, sum := make(quadrature, len(nodes)), 0.0
	for i, node := range nodes {
		a, b, c := shares[i], shares[i+1], shares[i+2]
		median := max(min(a, b), min(max(a, b), c))
		rule[i].node, rule[i].share = node, sum+median/2
		sum += median
	}
	return rule
}

// between estimates the number of eigenvalues between two numbers.
func (d *density) between(lo, hi float64) (count float64) {
	for _, q := range d.rules {
		count += (q.at(hi) - q.at(lo)) * d.rows / float64(len(d.rules))
	}
	return count
}

// at returns the share of the spectrum up to x, interpolated linearly between the nodes.
func (q quadrature) at(x float64) float64 {
	i := sort.Search(len(q), func(i int) bool { return q[i].node >= x })
	if i == 0 || i == len(q) {
		return q[max(0, i-1)].share
	}
	a, b := q[i-1], q[i]
	return a.share + (b.share-a.share)*(x-a.node)/(b.node-a.node)
}

// around estimates the numbers of eigenvalues within distances δ of σ, as ranks of the values −δ.
func (d *density) around(target float64) spectrum {
	distances := []float64{0}
	for _, rule := range d.rules {
		for _, q := range rule {
			distances = append(distances, math.Abs(q.node-target))
		}
	}
	slices.Sort(distances)
	points := make(spectrum, len(distances))
	for i, delta := range distances {
		points[i] = quantile{-delta, d.between(target-delta, target+delta)}
	}
	return points
}

package beliefs

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

const (
	damping   = 0.3
	rounds    = 15
	emRounds  = 8    // rounds of runs from whose beliefs R is estimated
	settled   = 5e-4 // a run ends below this mean change of a belief
	leastMean = 1e-9 // smallest element of F R, for a finite logarithm
)

const noFold = -1

// network is the graph with its labels, which all runs share.
type network struct {
	g      *graph.Graph
	team   *sparse.Team
	op     *sparse.Operator[float32]
	unit   float64 // mean weight of an entry
	total  float64 // Σd
	count  int     // number of nodes with an edge
	seeds  cwk.Seeds
	seedOf []int32 // position of each row in seeds; −1: no label
	fold   []int

	memory   int64     // in bytes; 0: no limit
	turns    []float32 // squared weights of each row, summed; nil: not computed
	computed map[ratiosKey]*mat.Dense

	sweeps int // number of sweeps so far
}

// newNetwork returns the network of a graph. Weights are divided by their mean, so that results do not depend on their unit.
func newNetwork(g *graph.Graph, seeds cwk.Seeds, fold []int) *network {
	n := &network{g: g, team: g.Team(), seeds: seeds, fold: fold, unit: 1,
		computed: map[ratiosKey]*mat.Dense{},
		seedOf:   slices.Repeat([]int32{-1}, len(g.Degrees))}
	sums := make([]float64, 2) // degrees, and nodes with an edge
	for lo, hi := range n.team.CountingRows(0, len(g.Degrees)) {
		for _, d := range g.Degrees[lo:hi] {
			sums[0] += d
			if d > 0 {
				sums[1]++
			}
		}
	}
	n.team.Sum(sums)
	n.total = sums[0]
	n.count = int(sums[1])
	if entries := sparse.EntriesOf(g.A); entries > 0 && n.total > 0 {
		n.unit = n.total / float64(entries)
	}
	n.total /= n.unit
	n.op = &sparse.Operator[float32]{A: g.A, Scale: 1 / n.unit, Workers: g.Workers}
	for i, row := range seeds.Row {
		n.seedOf[row] = int32(i)
	}
	return n
}

// known returns the class of a row. If the row has no label outside the fold, it returns −1.
func (n *network) known(row, fold int) int {
	i := n.seedOf[row]
	if i < 0 || fold != noFold && n.fold[i] == fold {
		return -1
	}
	return n.seeds.Class[i]
}

// sharesOf returns the class shares among the labels outside a fold. One more label is divided equally among the classes.
func (n *network) sharesOf(fold int) []float64 {
	shares := make([]float64, n.seeds.Classes)
	sum := 1.0
	for c := range shares {
		shares[c] = 1 / float64(len(shares))
	}
	for i, c := range n.seeds.Class {
		if fold == noFold || n.fold[i] != fold {
			shares[c]++
			sum++
		}
	}
	for c := range shares {
		shares[c] /= sum
	}
	return shares
}

// run holds the beliefs of one candidate while it makes rounds.
type run struct {
	*network
	strength float64 // of homophily; 0: factors have other ratios
	t        float32 // weight of the evidence of an edge
	beliefs  *sparse.Block[float32]
	field    []float32              // log(f R)
	prior    []float32              // log shares
	shares   []float64              // class shares of the known labels
	hidden   int                    // held-out fold; noFold: none
	evidence *sparse.Block[float32] // A log(F R)
	logs     *sparse.Block[float32] // log(F R), for the columns of a sweep

	factors   []float32 // R by columns; for homophily strength/share of each class
	continued bool      // beliefs come from another run
	active    bool      // beliefs have not settled
	rounds    int
	sums      sched.Sums // Σ d_i F_i of each class, then the sum of changes
}

func newRun(n *network, ratios *mat.Dense, strength, t float64, fold int) *run {
	rows := len(n.g.Degrees)
	c := n.seeds.Classes
	q := &run{
		network: n, t: float32(t),
		hidden: fold, shares: n.sharesOf(fold),
		beliefs: blocks.NewDense[float32](rows, c), field: make([]float32, c),
		active:   true,
		evidence: blocks.NewDense[float32](rows, c),
		logs:     sparse.NewBlock[float32](len(n.g.Degrees), Workspace(rows, c).Width(n.memory)),
	}
	q.prior = logsOf(q.shares)
	if ratios == nil {
		q.strength = strength
	}
	for i, share := range q.shares {
		if ratios == nil {
			q.factors = append(q.factors, float32(strength/share))
		} else {
			for j := range c {
				q.factors = append(q.factors, float32(ratios.At(j, i)))
			}
		}
	}
	return q
}

func logsOf(shares []float64) (logs []float32) {
	for _, share := range shares {
		logs = append(logs, float32(math.Log(share)))
	}
	return logs
}

// neighbourSharesTo stores (f R)_j for the classes j = first, first+1, …: the expected share of class j at a neighbour of a
// node with belief f, relative to the class share of j. f must add up to 1.
func (q *run) neighbourSharesTo(dst, f []float32, first int) {
	if q.strength > 0 {
		base := float32(1 - q.strength)
		for j := range dst {
			dst[j] = max(float32(f[first+j]*q.factors[first+j])+base, leastMean)
		}
		return
	}
	for j := range dst {
		var sum float32
		for i, r := range q.factors[(first+j)*len(f) : (first+j+1)*len(f)] {
			sum += float32(f[i] * r)
		}
		dst[j] = max(sum, leastMean)
	}
}

// advance makes rounds until the beliefs have settled, at most limit rounds.
func (q *run) advance(ctx context.Context, limit int) error {
	if err := q.begin(ctx); err != nil {
		return err
	}
	for round := 1; round <= limit && q.active; round++ {
		// Each row is updated while it is in cache.
		q.sums.Begin(len(q.field) + 1)
		if err := q.sweep(ctx, q.logsTo, q.updateRows); err != nil {
			return err
		}
		q.rounds++
		q.sumUp()
	}
	return nil
}

// begin sets the beliefs of labelled nodes to their labels. If the run does not continue another run, it sets other beliefs
// to the class shares.
func (q *run) begin(ctx context.Context) error {
	q.sums.Begin(len(q.field) + 1)
	err := blocks.EachNodeChunk(ctx, q.g.Workers, q.beliefs.Rows, func(piece, lo, hi int) {
		for i := lo; i < hi; i++ {
			f := q.beliefs.Row(i)
			for c := range f {
				if !q.continued {
					f[c] = float32(q.shares[c])
				}
			}
			q.finish(i, f, q.sums.Of(piece))
		}
	})
	q.sumUp()
	return err
}

// finish sets the belief f of a labelled row to the label. If the row counts in this process, finish adds f, times the
// degree, to sums.
func (q *run) finish(row int, f []float32, sums []float64) {
	if c := q.known(row, q.hidden); c >= 0 {
		clear(f)
		f[c] = 1
	}
	if !q.team.Counts(row) {
		return
	}
	d := q.g.Degrees[row] / q.unit
	for j, v := range f {
		sums[j] += float64(d * float64(v))
	}
}

// sumUp computes the field of the next round from q.sums. If the beliefs have settled, sumUp sets active to false.
func (q *run) sumUp() {
	c := len(q.field)
	total := make([]float64, c+1)
	q.sums.TotalTo(total)
	q.team.Sum(total)
	if q.rounds > 0 && total[c] < settled*float64(q.count*c) {
		q.active = false
	}
	mean := make([]float32, c)
	for i := range mean {
		mean[i] = float32(total[i] / max(q.total, math.SmallestNonzeroFloat64))
	}
	q.neighbourSharesTo(q.field, mean, 0)
	for j, e := range q.field {
		q.field[j] = log32(e)
	}
}

// sweep computes q.evidence = A·logs, a group of columns in each sweep. Before each sweep, fill must store the columns lo ≤
// j < hi of logs in q.logs. The last sweep calls visit with the rows that it has completed.
func (q *run) sweep(ctx context.Context, fill func(ctx context.Context, lo, hi int) error,
	visit func(sparse.Rows)) error {
	for lo := 0; lo < len(q.field); lo += q.logs.Cols {
		hi := min(lo+q.logs.Cols, len(q.field))
		if err := fill(ctx, lo, hi); err != nil {
			return err
		}
		step := sparse.Step[float32]{Alpha: 1}
		if hi == len(q.field) {
			step.Visit = visit
		}
		if err := q.op.StepTo(ctx, q.evidence.Columns(lo, hi),
			q.logs.Columns(0, hi-lo), step); err != nil {
			return err
		}
		q.sweeps++
	}
	return nil
}

// logsTo stores the columns lo ≤ j < hi of log(F·R) in q.logs, for the beliefs F.
func (q *run) logsTo(ctx context.Context, lo, hi int) error {
	return blocks.EachNodeChunk(ctx, q.g.Workers, q.beliefs.Rows, func(_, first, last int) {
		for i := first; i < last; i++ {
			q.messageTo(q.logs.Row(i)[:hi-lo], q.beliefs.Row(i), lo)
		}
	})
}

// updateRows updates the beliefs of rows, whose evidence must be complete.
func (q *run) updateRows(rows sparse.Rows) {
	sums := q.sums.Of(rows.Range)
	for i := rows.Lo; i < rows.Hi; i++ {
		f := q.beliefs.Row(i)
		change := q.update(i, f)
		if q.team.Counts(i) {
			sums[len(q.field)] += change
		}
		q.finish(i, f, sums)
	}
}

// pairs returns FᵀAF/2 for the beliefs F. It overwrites q.evidence. Cost: a sweep.
func (q *run) pairs(ctx context.Context) (*mat.Dense, error) {
	c := len(q.field)
	var sums sched.Sums
	sums.Begin(c * c)
	err := q.op.StepTo(ctx, q.evidence, q.beliefs, sparse.Step[float32]{Alpha: 0.5, Visit: func(rows sparse.Rows) {
		if !q.team.Counts(rows.Lo) {
			return
		}
		sums := sums.Of(rows.Range)
		for i := rows.Lo; i < rows.Hi; i++ {
			row := q.evidence.Row(i)
			for a, f := range q.beliefs.Row(i) {
				for b, y := range row {
					sums[a*c+b] += float64(f * y)
				}
			}
		}
	}})
	if err != nil {
		return nil, err
	}
	q.sweeps++
	total := make([]float64, c*c)
	sums.TotalTo(total)
	q.team.Sum(total)
	return halfSum(mat.NewDense(c, c, total)), nil
}

func (q *run) takeLogits(row int, evidence []float32) {
	d := float32(q.g.Degrees[row] / q.unit)
	for j, e := range evidence {
		evidence[j] = q.prior[j] + float32(q.t*(e-float32(d*q.field[j])))
	}
}

// update moves the belief f of an unlabelled row towards the softmax of its logits, and returns the sum of the absolute
// changes. It overwrites the evidence of the row.
func (q *run) update(row int, f []float32) (change float64) {
	if q.known(row, q.hidden) >= 0 {
		return 0
	}
	evidence := q.evidence.Row(row)
	q.takeLogits(row, evidence)
	sum := exponentials(evidence)
	for j, e := range evidence {
		v := float32(damping*f[j]) + float32((1-damping)*e/sum)
		change += math.Abs(float64(v - f[j]))
		f[j] = v
	}
	return change
}

package propagation

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

const (
	// No further folds are predicted after enoughLabels labels, which determine an accuracy to 1.5 %, or after harmonicWork
	// entries × columns, some seconds: a fold of a road map takes 350 sweeps, a fold of a social network 20.
	enoughLabels = 1000
	harmonicWork = 6_000_000_000

	// Walks without a fold take mostComparedSteps, where a thousand might be needed to settle. If a fold would take more
	// than comparedWork entries × columns, walks take fewer steps, at least leastComparedSteps. No further folds are
	// predicted after comparedWork.
	mostComparedSteps  = 100
	leastComparedSteps = 40
	comparedWork       = 500_000_000

	widest = 64
)

// comparedSteps returns the number of steps of the walks that predict a held-out fold. If l solves a system instead, it
// returns 0.
func comparedSteps(l *Propagation) int {
	if !walks(l) || l.Steps > 0 {
		return l.Steps
	}
	work := sparse.EntriesOf(l.P.A) * int64(len(l.P.Names))
	return int(min(mostComparedSteps,
		max(leastComparedSteps, comparedWork/max(1, work))))
}

// HeldOut has the scores at each label, computed without its fold. If the fold was left out, the scores are nil. If no
// label outside the fold reaches the label, the scores are the prior.
type HeldOut struct {
	Scores [][]float32

	// Center states that scores are centred, because these predict significantly more held-out labels.
	Center bool

	reduction *iterative.Reduction // graph reduced to the labelled nodes by elimination; nil: none
}

// OutOfFold returns the scores at each label, computed without its fold. After enough labels, further folds are left out.
// Errors come from [Propagation.ScoresTo]. Cost: a prediction for each fold.
func (l *Propagation) OutOfFold(ctx context.Context, t *choose.Task) (*HeldOut, error) {
	return outOfFold(ctx, l, t, func(int) bool { return false })
}

// outOfFold returns the result of [Propagation.OutOfFold], but ends after the first fold f for which ends(f) is true. It
// compares centred with plain scores and returns the better.
func outOfFold(ctx context.Context, l *Propagation, t *choose.Task,
	ends func(f int) bool) (*HeldOut, error) {
	limit := int64(harmonicWork)
	if walks(l) {
		limit = comparedWork
	}
	p := l.P
	gathered := int64(0)
	predicted := 0
	l.better = 0
	l.worse = 0
	answers := make([][]float32, len(p.Row))
	means := make([][]float64, t.Folds())
	reduction, err := l.reduction(ctx)
	if err != nil {
		return nil, err
	}
	for f := 0; f < t.Folds() && (f == 0 || predicted < enoughLabels && gathered < limit); f++ {
		foldSplit := t.Split(f)
		sub := *l
		sub.Center = false
		sub.Steps = comparedSteps(l)
		sub.heldOut = map[int][]float32{}
		sub.gathered = 0
		for _, i := range foldSplit.Test {
			answers[i] = make([]float32, len(p.Names))
			sub.heldOut[p.Row[i]] = answers[i]
		}
		sub.P = p.At(foldSplit.Train)
		reached, err := sub.P.Reachable(ctx, sub.P.Row, l.Workers, new(graph.Work))
		if err != nil {
			return nil, err
		}
		if reduction == nil {
			err = sub.ScoresTo(ctx, nil, reached, new(graph.Work))
		} else {
			sub.reached = reached
			err = sub.answerReduced(ctx, reduction, l.P, foldSplit)
		}
		if err != nil {
			return nil, err
		}
		gathered += sub.gathered
		means[f] = sub.centeredBy
		for _, i := range foldSplit.Test {
			compareCentered(l, answers[i], means[f], p.Class[i])
		}
		predicted += len(foldSplit.Test)
		if ends(f) {
			break
		}
	}
	out := &HeldOut{Scores: answers, Center: !walks(l) && centerIsBetter(l), reduction: reduction}
	for i, row := range answers {
		if out.Center && row != nil {
			center(row, means[t.Fold[i]], len(row))
			scaleToOne(row)
		}
	}
	return out, nil
}

// reduces reports whether elimination of all unlabelled nodes, an [iterative.Reduction], may be tried. On road maps and
// lattices, iterations take several hundred steps for each fold, and one elimination is faster.
func reduces(l *Propagation) bool {
	p := l.P
	return !walks(l) && !p.Signed && p.Team() == nil && iterative.Reduces(len(p.Degrees), p.A.NNZ(), len(p.Row))
}

// reduction returns the reduction of the graph to the labelled nodes. If iterations are faster or the elimination fills in
// too much, it returns nil.
func (l *Propagation) reduction(ctx context.Context) (*iterative.Reduction, error) {
	p := l.P
	switch {
	case l.heldOut != nil || !reduces(l):
		return nil, nil
	case l.HeldOut != nil:
		return l.HeldOut.reduction, nil
	}
	components, err := p.FindComponents(ctx, l.Workers, new(graph.Work))
	if err != nil {
		return nil, err
	}
	if iterative.IsForest(len(p.Degrees), p.A.NNZ(), len(components.Sizes)) {
		return nil, nil
	}
	r, err := iterative.Reduce(ctx, p.A, p.Row, p.Degrees, l.room())
	if errors.Is(err, iterative.ErrFill) {
		return nil, nil
	}
	return r, err
}

// answerReduced stores the scores at the test labels of a fold, and the means of the classes, computed on the
// reduced graph.
func (l *Propagation) answerReduced(ctx context.Context, r *iterative.Reduction, p *problem.Problem, fold choose.Split) error {
	f := sparse.NewBlock[float64](len(p.Row), len(p.Names))
	for _, i := range fold.Train {
		f.Row(i)[p.Class[i]] = 1
	}
	var free []int
	prior := l.Prior.Distributions(l.P.Seeds())
	for _, i := range fold.Test {
		if l.reached.Contains(uint32(p.Row[i])) {
			free = append(free, i)
		} else {
			simd.ConvertTo(l.heldOut[p.Row[i]], prior(p.Row[i]))
		}
	}
	if err := r.HarmonicTo(ctx, f, free); err != nil {
		return err
	}
	for _, i := range free {
		simd.ConvertTo(l.heldOut[p.Row[i]], f.Row(i))
	}
	total := 0.0
	l.centeredBy = make([]float64, len(p.Names))
	for i, row := range p.Row {
		if l.reached.Contains(uint32(row)) {
			total += r.Mass[i]
			blocks.AddScaled(l.centeredBy, r.Mass[i], f.Row(i))
		}
	}
	floats.Scale(1/max(total, math.SmallestNonzeroFloat64), l.centeredBy)
	normalise(l)
	return nil
}

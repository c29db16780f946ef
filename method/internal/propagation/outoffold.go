package propagation

import (
	"cmp"
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/sparse"
)

const (
	// enoughLabels is the number of predicted labels that determines an accuracy to 1.5 %. Further
	// folds are left out, also after harmonicWork entries × columns, some seconds: a road map needs
	// 350 sweeps for a fold, a social network 20.
	enoughLabels = 1000
	harmonicWork = 6_000_000_000
)

// needsFold reports whether fold f is to be predicted after folds with the given number of labels and work.
func needsFold(f, labels int, work problem.Work) bool {
	return f == 0 || labels < enoughLabels && work.EntryColumns < harmonicWork
}

// OutOfFold returns the scores of label propagation at labels, each without the labels of its own
// fold, and nil at labels of folds that are left out because there are enough others. Labels that
// no other label reaches have the scores of such nodes. The error is that of
// [Propagation.ScoresTo]. Cost: a prediction for each fold; on a directed graph see
// walkedOutOfFold.
func (l *Propagation) OutOfFold(ctx context.Context, fold []int, folds int, isolated []bool) (answers [][]float32, err error) {
	if walks(l) {
		return walkedOutOfFold(ctx, l, fold, folds, isolated)
	}
	p, work := l.P, problem.Work{}
	l.better, l.worse, l.centered = 0, 0, make([]int, len(p.Row))
	answers = make([][]float32, len(p.Row))
	asked := 0
	for f := 0; f < folds && needsFold(f, asked, work); f++ {
		predicted, err := predictFold(ctx, l, fold, f, answers, &work)
		if err != nil {
			return nil, err
		}
		asked += predicted
	}
	return answers, nil
}

// predictFold stores the scores of the labels of fold f, predicted from the other labels, in answers, compares
// centred scores with plain ones at these labels, and returns their number.
func predictFold(ctx context.Context, l *Propagation, fold []int, f int, answers [][]float32, work *problem.Work) (int, error) {
	p := l.P
	foldSplit, sub := split.OfFold(fold, f), *l
	sub.Center, sub.heldOut = false, map[int][]float32{}
	for _, i := range foldSplit.Test {
		answers[i] = make([]float32, len(p.Names))
		sub.heldOut[p.Row[i]] = answers[i]
	}
	sub.P = p.At(foldSplit.Train)
	reached, err := sub.P.Reached(ctx, sub.P.Row, l.Workers, work)
	if err != nil {
		return 0, err
	}
	if _, err := sub.ScoresTo(ctx, nil, nil, reached, work); err != nil {
		return 0, err
	}
	for _, i := range foldSplit.Test {
		l.centered[i] = compareCentered(l, answers[i], sub.centeredBy, p.Class[i])
	}
	return len(foldSplit.Test), nil
}

const (
	// Walks of label propagation have mostComparedSteps steps, fewer if they would gather from more
	// than comparedWork entries × columns; then they walk for a single fold. If they leave too many
	// labels undecided, they take twice as many, up to mostSteps, while the work allows it, for fewer
	// folds if necessary.
	mostComparedSteps  = 100
	leastComparedSteps = 40
	comparedWork       = 500_000_000

	widest = 64 // columns that walk together
)

// walkedOutOfFold is OutOfFold on a graph with directions, by walks that need not have
// settled: the settled ones may take a thousand steps. Cost: as many sweeps as walks have
// steps, for each slab of the columns that fit the memory; where labels are far from each
// other, that of longer walks too.
func walkedOutOfFold(ctx context.Context, l *Propagation, fold []int, folds int, isolated []bool) ([][]float32, error) {
	work := sparse.EntriesOf(l.P.A) * int64(len(l.P.Names))
	steps := int(min(mostComparedSteps, max(leastComparedSteps, comparedWork/max(1, work))))
	for {
		walked := int(min(int64(folds), max(1, comparedWork/max(1, work*int64(steps)))))
		answers, err := l.WalkedFor(ctx, fold, walked, steps)
		if err != nil {
			return nil, err
		}
		undecided, count := 0, 0
		for i, row := range answers {
			if row != nil && !isolated[i] {
				count++
				if slices.Min(row) == slices.Max(row) {
					undecided++
				}
			}
		}
		if float64(undecided) <= problem.MostMissed*float64(count) || 2*steps > mostSteps || 2*int64(steps)*work > comparedWork {
			return answers, nil
		}
		steps *= 2
	}
}

// WalkedFor returns the scores of the labels of the first folds after the given number of steps of
// walks without the label's fold, and nil for other labels.
func (l *Propagation) WalkedFor(ctx context.Context, fold []int, folds, steps int) ([][]float32, error) {
	p, k := l.P, len(l.P.Names)
	w := walk[float32](l, steps)
	w.Variants = cwk.FoldVariants(1, fold)[1 : 1+folds]
	order, answers := make([]int, len(p.Row)), make([][]float32, len(p.Row))
	for i := range order {
		if order[i] = i; fold[i] < folds {
			answers[i] = make([]float32, k)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(p.Row[a], p.Row[b]) })
	width := comparedColumns(p, l.Memory)
	for lo := 0; lo < folds*k; lo += width {
		hi := min(lo+width, folds*k)
		err := w.Run(ctx, lo, hi, func(t int, rows sparse.Rows, x *sparse.Block[float32]) {
			if t < steps {
				return
			}
			next, _ := slices.BinarySearchFunc(order, rows.Lo, func(i, row int) int { return p.Row[i] - row })
			for ; next < len(order) && p.Row[order[next]] < rows.Hi; next++ {
				i := order[next]
				for c := range k {
					if j := fold[i]*k + c; lo <= j && j < hi {
						answers[i][c] = x.Row(p.Row[i])[j-lo]
					}
				}
			}
		}, nil)
		if err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// comparedColumns returns how many columns walk together within a limit, 0 for none.
func comparedColumns(p *problem.Problem, limit int64) int {
	return budget.Widest(min(widest, mostFolds*len(p.Names)), limit, func(width int) int64 { return comparedBytes(p, width) })
}

// mostFolds is the largest number of folds.
const mostFolds = 10

// comparedBytes returns the memory of the walks of [Propagation.Compare] with width columns.
func comparedBytes(p *problem.Problem, width int) int64 {
	n, m, k := len(p.Degrees), int64(len(p.Row)), int64(len(p.Names))
	return p.ComponentBytes() + 2*blocks.BlockBytes[float32](n, width) + 4*int64(n) + m*(4*k+mostFolds+64)
}

// WalkedBytes is the memory of [Propagation.WalkedFor] within a limit, 0 for none.
func WalkedBytes(p *problem.Problem, limit int64) int64 {
	return comparedBytes(p, comparedColumns(p, limit))
}

// CompareBytes is the memory of [Propagation.Compare].
func (l *Propagation) CompareBytes() int64 {
	p := l.P
	walked := WalkedBytes(p, l.Memory)
	if walks(l) {
		return walked
	}
	sub := *l
	sub.heldOut = map[int][]float32{}
	return max(walked, p.ComponentBytes()+sub.Bytes()+int64(len(p.Row))*int64(4*len(p.Names)+64))
}

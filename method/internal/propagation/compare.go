package propagation

import (
	"cmp"
	"context"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/internal/heldout"
	"github.com/heatwalk/heatwalk/method/internal/ledger"
	"github.com/heatwalk/heatwalk/method/internal/trial"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

const (
	// Walks of label propagation take so many steps, fewer where more than comparedWork
	// entries × columns would be gathered from; then they walk for a single fold. Where they
	// leave too many labels undecided they take twice as many, up to mostSteps, as long as
	// the work allows, for fewer folds if need be.
	mostComparedSteps  = 100
	leastComparedSteps = 40
	comparedWork       = 500_000_000

	widest = 64 // columns that walk together
)

// Compare measures how often label propagation and the largest class are right, on folds of
// the labels; blank is label propagation with no class for nodes that no label reaches. Cost:
// as many sweeps as walks have steps, for each slab of the columns that fit the memory; where
// labels are far from each other, that of longer walks too.
func (l *Propagation) Compare(ctx context.Context, fold []int, folds int) (lp, blank, majority problem.Estimate, err error) {
	p := l.P
	var found problem.Work
	reached, err := p.Reached(ctx, p.Row, l.Workers, &found)
	if err != nil {
		return lp, blank, majority, err
	}
	alone, err := heldout.Alone(ctx, p, fold, l.Workers, &found)
	if err != nil {
		return lp, blank, majority, err
	}
	work := p.A.NNZ() * int64(len(p.Names))
	steps := int(min(mostComparedSteps, max(leastComparedSteps, comparedWork/max(1, work))))
	var walked int
	var answers []int
	for {
		walked = int(min(int64(folds), max(1, comparedWork/max(1, work*int64(steps)))))
		if answers, err = l.outOfFold(ctx, fold, walked, steps); err != nil {
			return lp, blank, majority, err
		}
		undecided, of := 0, 0
		for i, answer := range answers {
			if fold[i] < walked && !alone[i] {
				of++
				if answer < 0 {
					undecided++
				}
			}
		}
		if float64(undecided) <= problem.MostMissed*float64(of) || 2*steps > mostSteps || 2*int64(steps)*work > comparedWork {
			break
		}
		steps *= 2
	}
	var propagation, largestClass heldout.Count
	weight := heldout.WeightsOf(p)
	for f := range folds {
		largest := trial.LargestWithout(p.Class, fold, f)
		for i, c := range p.Class {
			if fold[i] != f {
				continue
			}
			largestClass.Note(false, c == largest, weight[c])
			if f < walked {
				answer := max(0, answers[i])
				if alone[i] {
					answer = l.Prior.Likeliest(p.Row[i], largest)
				}
				propagation.Note(!alone[i], answer == c, weight[c])
			}
		}
	}
	lp, blank = propagation.Estimates(p, reached)
	labels := roaring.New()
	for _, row := range p.Row {
		labels.Add(uint32(row))
	}
	majority, _ = largestClass.Estimates(p, labels) // every other node is given the largest class
	return lp, blank, majority, nil
}

// outOfFold returns what label propagation answers to the labels of the first folds,
// each without its fold: −1 where all classes are as likely.
func (l *Propagation) outOfFold(ctx context.Context, fold []int, folds, steps int) ([]int, error) {
	p, k := l.P, len(l.P.Names)
	w := walk[float32](l, steps)
	w.Variants = cwk.FoldVariants(1, fold)[1 : 1+folds]
	order := make([]int, len(p.Row))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(p.Row[a], p.Row[b]) })
	scores, width := make([]float32, len(p.Row)*k), comparedColumns(p, l.Memory)
	for lo := 0; lo < folds*k; lo += width {
		hi := min(lo+width, folds*k)
		err := w.Run(ctx, lo, hi, func(t int, rows sparse.Rows, x *sparse.Block[float32]) {
			if t < steps {
				return
			}
			at, _ := slices.BinarySearchFunc(order, rows.Lo, func(i, row int) int { return p.Row[i] - row })
			for ; at < len(order) && p.Row[order[at]] < rows.Hi; at++ {
				i := order[at]
				for c := range k {
					if j := fold[i]*k + c; lo <= j && j < hi {
						scores[i*k+c] = x.Row(p.Row[i])[j-lo]
					}
				}
			}
		}, nil)
		if err != nil {
			return nil, err
		}
	}
	answers, row := make([]int, len(p.Row)), make([]float64, k)
	for i := range answers {
		simd.ConvertTo(row, scores[i*k:][:k])
		answers[i] = classify.ArgMax(row)
		if slices.Min(row) == row[answers[i]] {
			answers[i] = -1
		}
	}
	return answers, nil
}

// comparedColumns returns how many columns walk together within a limit, 0 for none.
func comparedColumns(p *problem.Problem, limit int64) int {
	width := min(widest, mostFolds*len(p.Names))
	for width > 1 && limit > 0 && comparedBytes(p, width) > limit {
		width--
	}
	return width
}

// mostFolds is the largest number of folds.
const mostFolds = 10

// comparedBytes is what [Propagation.Compare] takes with so many columns that walk together.
func comparedBytes(p *problem.Problem, width int) int64 {
	n, m, k := len(p.Degrees), int64(len(p.Row)), int64(len(p.Names))
	return ledger.Kept(p) + 2*sparse.BlockBytes[float32](n, width) + 4*int64(n) + m*(4*k+mostFolds+64)
}

// ComparedBytes bounds what [Propagation.Compare] takes beside the problem.
func ComparedBytes(p *problem.Problem, memory int64) int64 {
	return comparedBytes(p, comparedColumns(p, memory))
}

package method

import (
	"cmp"
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/method/internal/auto"
	"github.com/heatwalk/heatwalk/method/internal/heldout"
	"github.com/heatwalk/heatwalk/method/internal/ledger"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// Reference is what a prediction is better than, or not: estimates of label propagation
// and of the largest class, on the same folds.
type Reference struct {
	Propagation, Majority Estimate
	PropagationBlank      Estimate // with no class for nodes that no label reaches
}

const (
	// Walks of label propagation take so many steps, fewer where more than referenceWork
	// entries × columns would be gathered from; then they walk for a single fold.
	mostReferenceSteps  = 100
	leastReferenceSteps = 40
	referenceWork       = 500_000_000
)

// Refer measures label propagation and the largest class on the folds that a method
// measures itself on. Both are zero with too few labels, see [CrossValidate]. Cost: as many sweeps as walks have
// steps, for each slab of the columns that fit the memory of the settings.
func Refer(ctx context.Context, m Method, p *Problem, s *Settings) (*Reference, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	set := s.WithDefaults()
	r := new(Reference)
	if validate.TooFew(p.Class) {
		return r, nil
	}
	folds := set.folds(len(p.Row))
	if m == (evidence{}) {
		folds = auto.Folds
	}
	fold := validate.Folds(p.Class, folds, set.RNGSeed)
	out := &Prediction{}
	var err error
	if out.Reached, err = p.Reached(ctx, set.Workers, &out.Work); err != nil {
		return nil, err
	}
	alone, err := p.Alone(ctx, fold, set.Workers, &out.Work)
	if err != nil {
		return nil, err
	}
	work := p.A.NNZ() * int64(len(p.Names))
	steps := int(min(mostReferenceSteps, max(leastReferenceSteps, referenceWork/max(1, work))))
	walked := int(min(int64(folds), max(1, referenceWork/max(1, work*int64(steps)))))
	answers, err := propagateOut(ctx, p, &set, fold, walked, steps)
	if err != nil {
		return nil, err
	}
	var propagation, majority heldout.Count
	weight := heldout.WeightsOf(p.Class, len(p.Names))
	for f := range folds {
		var rest []int
		for i, c := range p.Class {
			if fold[i] != f {
				rest = append(rest, c)
			}
		}
		largest := validate.Majority(rest)
		for i, c := range p.Class {
			if fold[i] != f {
				continue
			}
			majority.Note(true, c == largest, weight[c])
			if f < walked {
				answer := answers[i]
				if alone[i] {
					answer = withoutLabels(set.Prior, p.Row[i], largest)
				}
				propagation.Note(!alone[i], answer == c, weight[c])
			}
		}
	}
	out.Estimate, out.Blank = propagation.Estimates(p, out.Reached)
	r.Propagation, r.PropagationBlank = out.Estimate, out.Blank
	out.Reached.AddRange(0, uint64(len(p.Degrees))) // every node is given the largest class
	out.Estimate, out.Blank = majority.Estimates(p, out.Reached)
	r.Majority = out.Estimate
	return r, nil
}

// propagateOut returns what label propagation answers to the labels of the first folds,
// each without its fold.
func propagateOut(ctx context.Context, p *Problem, set *Settings, fold []int, folds, steps int) ([]int, error) {
	k := len(p.Names)
	w := walkOf[float32](p, set, steps)
	w.Variants = cwk.FoldVariants(1, fold)[1 : 1+folds]
	order := make([]int, len(p.Row))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(p.Row[a], p.Row[b]) })
	scores, width := make([]float32, len(p.Row)*k), referenceColumns(p, set.Memory)
	for lo := 0; lo < folds*k; lo += width {
		hi := min(lo+width, folds*k)
		err := w.RunColumns(ctx, lo, hi, func(t int, rows sparse.Rows, x *sparse.Block[float32]) {
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
		})
		if err != nil {
			return nil, err
		}
	}
	answers, row := make([]int, len(p.Row)), make([]float64, k)
	for i := range answers {
		for c, v := range scores[i*k:][:k] {
			row[c] = float64(v)
		}
		answers[i] = classify.ArgMax(row)
	}
	return answers, nil
}

// referenceColumns returns how many columns walk together within a limit, 0 for none.
func referenceColumns(p *Problem, limit int64) int {
	width := min(widest, foldsOfReference*len(p.Names))
	for width > 1 && limit > 0 && referenceBytes(p, width) > limit {
		width--
	}
	return width
}

// foldsOfReference is the largest number of folds.
const foldsOfReference = 10

// referenceBytes is what Refer takes with so many columns that walk together.
func referenceBytes(p *Problem, width int) int64 {
	n, m, k := len(p.Degrees), int64(len(p.Row)), int64(len(p.Names))
	return ledger.Kept(p) + 2*sparse.BlockBytes[float32](n, width) + 4*int64(n) + m*(4*k+foldsOfReference+64)
}

// ReferMemory lists what [Refer] holds beside the problem.
func ReferMemory(p *Problem, s *Settings) []spec.Bytes {
	return []spec.Bytes{{What: "label propagation to compare with", Bytes: referenceBytes(p, referenceColumns(p, s.Memory)), Optional: true}}
}

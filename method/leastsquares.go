package method

import (
	"context"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/internal/trial"
)

// chooseSolved is choose for regularised least squares: every label is judged
// by the machines of all others, which one eigendecomposition of each kernel
// has for all λ. Chosen is the largest share of right answers less the mean
// squared error of one-hot targets, halved and summed over classes; the first
// among equals.
func (r *kernelPredictor) chooseSolved(ctx context.Context) error {
	t, err := r.tryOut(ctx)
	if err != nil {
		return err
	}
	lambdas := rls.strengths(r.settled)
	found := make([][]trial.Outcome, len(t.grams)*len(lambdas))
	squares := make([]float64, len(found))
	err = sched.Run(ctx, r.set.Workers, len(t.grams), func(_, i int) error {
		pairs, decisions, squared, err := classify.LeaveOneOutRLS(ctx, classify.DenseGram(t.grams[i]), t.class, len(r.p.Names), lambdas)
		if err != nil {
			return err
		}
		for l := range lambdas {
			if decisions[l] == nil {
				continue // rounding is larger than λ
			}
			found[i*len(lambdas)+l] = trial.LeftOut(t.grams[i], t.class, t.fold, pairs, decisions[l])
			// Targets are ±1, two apart where those of one-hot are one apart.
			squares[i*len(lambdas)+l] = squared[l] * float64(len(pairs)) / 4
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.chose(t, found, func(without int) int {
		best, most := -1, 0.0
		for i, list := range found {
			if list == nil {
				continue
			}
			right, of := trial.CountRight(list, without)
			if merit := float64(right)/float64(max(1, of)) - squares[i]/2; best < 0 || merit > most {
				best, most = i, merit
			}
		}
		return best
	})
	return nil
}

// maxSolved is the number of labels up to which least squares is solved by a
// Cholesky factor of the kernel among them. Beyond it no value of the kernel
// is made: conjugate gradients take some tens of products with a column for
// each class, where the block of all labels takes one with a column for each.
const maxSolved = 2000

// solve trains the machines on all labels.
func (r *kernelPredictor) solve(ctx context.Context) (err error) {
	if len(r.p.Row) > maxSolved {
		r.gram = nil
		r.dual, err = r.onLabels().LeastSquares(ctx, r.values.Number("lambda"))
		return err
	}
	k, err := r.seenAll(ctx)
	if err != nil {
		return err
	}
	r.dual, err = classify.FitRLS(ctx, k, r.p.Class, len(r.p.Names), r.values.Number("lambda"))
	return err
}

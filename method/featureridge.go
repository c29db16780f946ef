package method

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// featureRidge is ridge regression with a constant μ on features φ of nodes,
//
//	min Σ_i (w·φ_i + μ − y_i)² + r‖w‖²
//
// over the known nodes i, at most mostFitted of many. One decomposition of the features that do not depend on values serves all
// ridges and all folds.
type featureRidge struct {
	// fixed returns the features of known nodes, given by their positions, that do not depend on values.
	fixed func(ctx context.Context, p *Problem, positions []int, v param.Values, s *Settings) (*features, error)

	// moving returns the features that depend on the values at the positions train. r then is λ for each known node, and the engine has
	// no other parameter; nil: there are none, and r is λ times the mean of ‖φ‖².
	moving func(ctx context.Context, p *Problem, positions, train []int, s *Settings) (*features, error)

	name string // of the engine
	last ridgeFit
}

// ridgeFit is the decomposition of the fixed features of some known nodes.
type ridgeFit struct {
	p         *Problem
	positions []int
	*features
	path *classify.RidgePath
}

// features has a row of features for each of some known nodes. add adds φ·w to the value of each node.
type features struct {
	*sparse.Block[float64]
	add func(ctx context.Context, w, values []float64) error
}

// mostFitted is the number of values from which weights are learned.
const mostFitted = 5000

// groupRidges returns consecutive settings that differ in λ alone.
func groupRidges(settings []param.Values) (groups [][]param.Values) {
	var last param.Values // without λ
	for _, v := range settings {
		others := maps.Clone(v)
		delete(others, "lambda")
		if groups == nil || !maps.Equal(others, last) {
			groups = append(groups, nil)
			last = others
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], v)
	}
	return groups
}

// positions returns the positions of the values that a model is fitted to or tested on: all whose fold is not negative, and a sample
// of many others.
func (r *featureRidge) positions(fold []int, s *Settings) []int {
	if len(fold) <= mostFitted {
		return sched.UpTo(len(fold))
	}
	var tested, others []int
	for i, f := range fold {
		if f >= 0 {
			tested = append(tested, i)
		} else {
			others = append(others, i)
		}
	}
	return slices.Concat(tested, problem.Pick(others, sampleOf(len(others), mostFitted-len(tested), s.RNGSeed)))
}

// fit decomposes the fixed features of a setting, unless the last decomposition is the same.
func (r *featureRidge) fit(ctx context.Context, p *Problem, positions []int, v param.Values, s *Settings) (*ridgeFit, error) {
	f := &r.last
	if f.p == p && slices.Equal(f.positions, positions) && r.moving != nil { // it has no other parameter than λ
		return f, nil
	}
	fixed, err := r.fixed(ctx, p, positions, v, s)
	if err != nil {
		return nil, err
	}
	path, err := classify.NewRidgePath(ctx, fixed.Block, 0, mat.NewDense(len(positions), 1, problem.Pick(p.Value, positions)), s.Workers)
	*f = ridgeFit{p, positions, fixed, path}
	return f, err
}

// lambda returns λ of the path for a setting.
func (r *featureRidge) lambda(f *ridgeFit, v param.Values) float64 {
	if r.moving != nil {
		return v.Number("lambda") * float64(len(f.positions)) / f.path.Mean
	}
	return v.Number("lambda")
}

// predict predicts the value of every node.
func (r *featureRidge) predict(ctx context.Context, p *Problem, v param.Values, s *Settings) ([]float64, error) {
	positions := r.positions(slices.Repeat([]int{-1}, len(p.Row)), s)
	f, err := r.fit(ctx, p, positions, v, s)
	if err != nil {
		return nil, err
	}
	var moving *features
	var others *mat.Dense
	if r.moving != nil {
		if moving, err = r.moving(ctx, p, positions, sched.UpTo(len(p.Row)), s); err != nil {
			return nil, err
		}
		others = sparse.DenseOf(moving.Block)
	}
	w, beside, err := f.path.WeightsBeside(r.lambda(f, v), others)
	if err != nil {
		return nil, &problem.Error{Method: r.name, Err: err}
	}
	values := slices.Repeat([]float64{beside.At(0, 0)}, len(p.Degrees))
	if f.Cols > 0 {
		err = f.add(ctx, mat.Col(nil, 0, w)[:f.Cols], values)
	}
	if err == nil && moving != nil {
		err = moving.add(ctx, mat.Col(nil, 0, beside)[1:], values)
	}
	return values, err
}

// heldOut is the HeldOut of its engine.
func (r *featureRidge) heldOut(ctx context.Context, p *Problem, fold []int, settings []param.Values, s *Settings) (miss [][]float64, err error) {
	positions := r.positions(fold, s)
	parts := 1 + slices.Max(fold)
	var others []*mat.Dense
	for f := 0; f < parts && r.moving != nil; f++ {
		moving, err := r.moving(ctx, p, positions, choose.OfFold(fold, f).Train, s)
		if err != nil {
			return nil, err
		}
		others = append(others, sparse.DenseOf(moving.Block))
	}
	for _, group := range groupRidges(settings) {
		f, err := r.fit(ctx, p, positions, group[0], s)
		if err != nil {
			return nil, err
		}
		for _, v := range group {
			list, err := leaveFoldsOut(f.path, r.lambda(f, v), problem.Pick(fold, positions), parts, others, problem.Pick(p.Value, positions))
			if err != nil {
				return nil, err
			}
			errors := make([]float64, len(fold))
			for a, i := range positions {
				errors[i] = list[a]
			}
			miss = append(miss, errors)
		}
	}
	return miss, nil
}

// leaveFoldsOut returns the errors y − ŷ of models of all values outside the fold of a value, see [classify.RidgePath.LeavePartsOut];
// +Inf if their equations have no solution.
func leaveFoldsOut(path *classify.RidgePath, lambda float64, fold []int, parts int, others []*mat.Dense, value []float64) ([]float64, error) {
	predicted, err := path.LeavePartsOut(lambda, fold, parts, others)
	switch {
	case errors.Is(err, classify.ErrIndefinite):
		return slices.Repeat([]float64{math.Inf(1)}, len(value)), nil
	case err != nil:
		return nil, err
	}
	miss := make([]float64, len(value))
	floats.SubTo(miss, value, mat.Col(nil, 0, predicted))
	return miss, nil
}

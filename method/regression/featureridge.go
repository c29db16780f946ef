package regression

import (
	"context"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/internal/auto"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// featureRidge is ridge regression with a constant μ on features φ of nodes,
//
//	min Σ_i (w·φ_i + μ − y_i)² + r‖w‖²
//
// over the known nodes i, or mostFitted of them. One decomposition of fixed features, which do not depend on known values,
// serves all ridges and folds. Moving features, such as means over neighbours, do.
type featureRidge struct {
	// fixed returns the fixed features of the known nodes at positions.
	fixed func(ctx context.Context, j *engine.Job, p *engine.Problem, positions []int, v param.Values) (*features, error)

	// moving returns the moving features of the known nodes at positions, which depend on the values at train; nil: there are
	// none. If moving is not nil, r is λ times the number of known nodes and λ is the only parameter; otherwise r is λ times
	// the mean of ‖φ‖².
	moving func(ctx context.Context, p *engine.Problem, positions, train []int, s *engine.Settings) (*features, error)

	widens bool // see [engine.GraphMethod]
}

func (r featureRidge) method(spec *param.Spec, workspace func(p *engine.Problem) budget.Workspace) engine.GraphMethod {
	m := engine.Numeric(spec, nil, workspace)
	m.Predictions = r.predictions
	m.Scores = r.scores
	m.Prepare = func(_ context.Context, j *engine.Job, _ []param.Values) error {
		j.Shared = new(ridgeFit)
		return nil
	}
	m.Ridge = true
	m.Widens = r.widens
	return m
}

// ridgeFit is the decomposition of the fixed features of the known nodes at positions.
type ridgeFit struct {
	positions []int
	*features
	path *classify.RidgePath

	embedding *auto.Embedding // embedding with the columns that settings need so far; nil: none
	columns   int
}

// features has a row of features for each of some known nodes. add adds to values[v], for every node v, the product φ·w of
// its features and weights w.
type features struct {
	*sparse.Block[float64]
	add func(ctx context.Context, w, values []float64) error
}

const mostFitted = 5000

// groupRidges returns consecutive settings that differ in λ alone.
func groupRidges(settings []param.Values) (groups [][]param.Values) {
	var last param.Values // last values, without λ
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

// positions returns the positions of the values to fit or to test: all with a fold ≥ 0, and the others or, if there are
// more than mostFitted values, a sample of the others.
func (r featureRidge) positions(fold []int, s *engine.Settings) []int {
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
	return slices.Concat(tested, problem.Pick(others, engine.SampleOf(len(others), mostFitted-len(tested), s.RNGSeed)))
}

// fit returns the decomposition of the fixed features for setting v. If it is the same as in the last call, it is not
// computed again.
func (r featureRidge) fit(ctx context.Context, j *engine.Job, positions []int, v param.Values) (*ridgeFit, error) {
	f := j.Shared.(*ridgeFit)
	if slices.Equal(f.positions, positions) && r.moving != nil { // λ is the only parameter
		return f, nil
	}
	var err error
	if f.features, err = r.fixed(ctx, j, j.Problem, positions, v); err != nil {
		return nil, err
	}
	f.positions = positions
	f.path, err = classify.NewRidgePath(ctx, f.Block, 0, mat.NewDense(len(positions), 1, problem.Pick(j.Problem.Value, positions)), j.Settings.Workers)
	return f, err
}

func (r featureRidge) lambda(f *ridgeFit, v param.Values) float64 {
	if r.moving != nil {
		return v.Number("lambda") * float64(len(f.positions)) / f.path.Mean
	}
	return v.Number("lambda")
}

func (r featureRidge) scores(ctx context.Context, j *engine.Job, v param.Values) error {
	positions := r.positions(slices.Repeat([]int{-1}, len(j.Problem.Row)), j.Settings)
	f, err := r.fit(ctx, j, positions, v)
	if err != nil {
		return err
	}
	var moving *features
	var others *mat.Dense
	if r.moving != nil {
		if moving, err = r.moving(ctx, j.Problem, positions, sched.UpTo(len(j.Problem.Row)), j.Settings); err != nil {
			return err
		}
		others = sparse.DenseOf(moving.Block)
	}
	w, beside, err := f.path.WeightsBeside(r.lambda(f, v), others)
	if err != nil {
		return &problem.Error{Method: j.Declared.Name, Err: err}
	}
	j.Out.Value = slices.Repeat([]float64{beside.At(0, 0)}, len(j.Problem.Degrees))
	if f.Cols > 0 {
		err = f.add(ctx, mat.Col(nil, 0, w)[:f.Cols], j.Out.Value)
	}
	if err == nil && moving != nil {
		err = moving.add(ctx, mat.Col(nil, 0, beside)[1:], j.Out.Value)
	}
	return err
}

// predictions is the field Predictions of [engine.GraphMethod].
func (r featureRidge) predictions(ctx context.Context, j *engine.Job, settings []param.Values, groups []engine.Group, visit engine.FoldVisitor) error {
	fold := foldsOf(j.Problem, groups)
	positions := r.positions(fold, j.Settings)
	var others []*mat.Dense
	for f := 0; f < len(groups) && r.moving != nil; f++ {
		moving, err := r.moving(ctx, j.Problem, positions, choose.OfFold(fold, f).Train, j.Settings)
		if err != nil {
			return err
		}
		others = append(others, sparse.DenseOf(moving.Block))
	}
	setting := 0
	for _, list := range groupRidges(settings) {
		f, err := r.fit(ctx, j, positions, list[0])
		if err != nil {
			return err
		}
		var lambdas []float64
		for _, v := range list {
			lambdas = append(lambdas, r.lambda(f, v))
		}
		err = leaveFoldsOut(f.path, lambdas, problem.Pick(j.Problem.Row, positions), problem.Pick(fold, positions), len(groups), others, setting, visit)
		if err != nil {
			return err
		}
		setting += len(list)
	}
	return nil
}

// foldsOf returns the position of the group that tests each value of a problem, −1 for none.
func foldsOf(p *engine.Problem, groups []engine.Group) []int {
	position := map[int]int{} // row → position + 1
	for g := range groups {
		for _, row := range groups[g].Test.Row {
			position[row] = g + 1
		}
	}
	fold := make([]int, len(p.Row))
	for i, row := range p.Row {
		fold[i] = position[row] - 1
	}
	return fold
}

// leaveFoldsOut calls visit for each λ and fold with the predictions by models of all other rows. others has the moving
// features by fold. If equations have no solution, predictions are infinite. first is the setting of the first λ.
func leaveFoldsOut(path *classify.RidgePath, lambdas []float64, rows, fold []int, parts int, others []*mat.Dense, first int, visit engine.FoldVisitor) error {
	list, err := path.LeavePartsOut(lambdas, fold, parts, others)
	for l, predicted := range list {
		for f := range parts {
			visit(first+l, f, func(node int) engine.Guess {
				if predicted == nil {
					return engine.Guess{Value: math.Inf(1), Reached: true}
				}
				return engine.Guess{Value: predicted.At(slices.Index(rows, node), 0), Reached: true}
			})
		}
	}
	return err
}

package graphlearner

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/internal/piece"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/spectral"
	"github.com/heatwalk/heatwalk/validate"
)

// spectralLogistic is multinomial logistic regression on a spectral embedding: row i of
// the eigenvectors of S = D^-½AD^-½ with the d largest positive eigenvalues, without
// those that components have at 1, as x/√(‖x‖² + ε²): of about unit length (Ng, Jordan
// and Weiss 2002). ε is a hundredth of the root mean square of ‖x‖, below which rows of
// other components have only rounding. The eigenvectors are those of L̃ with the smallest
// values. d and λ are chosen by cross-validation.
type spectralLogistic struct{}

var spectralLogisticSpec = spec.Spec{
	Name: "spectral+logistic", Title: "multinomial logistic regression on eigenvectors of S", Works: spec.Undirected,
	Params: append([]spec.Param{{
		Name: "dimension", Symbol: "d", Meaning: "eigenvectors of S", Kind: spec.Whole, Range: spec.Range{Least: 1, Most: 1024}, Default: spec.Of(32),
		Grid: spec.Grid(8, 16, 32, 64, 128),
	}}, classify.Learners().Named("logistic").Params...),
}

// embeddingTolerance is that of the eigenvectors.
const embeddingTolerance = 1e-6

// shortRow is ε beside the root mean square of the lengths of rows.
const shortRow = 0.01

// Declaration implements [Learner].
func (spectralLogistic) Declaration() *spec.Spec { return &spectralLogisticSpec }

// Tune implements [Learner].
func (m spectralLogistic) Tune(ctx context.Context, p *problem.Problem, splits *validate.Splits, s *Settings) (*validate.Choice, problem.Work, error) {
	r, err := newEmbedder(ctx, p, s)
	if err != nil {
		return nil, problem.Work{}, err
	}
	c, err := validate.Choose(s.Tried, s.Given, nil, testedOn(splits), func(settings []spec.Values) ([]int64, error) {
		r.settings = settings
		return s.Count(len(settings), splits.Len, func(i int, right []int64) (int, error) {
			if r.x == nil {
				if err := r.embed(ctx); err != nil {
					return 0, err
				}
			}
			split := splits.At(i)
			found, err := r.replies(ctx, p.At(split.Train), p.At(split.Test))
			if err != nil {
				return 0, err
			}
			for at, list := range found {
				right[at] = rightOutside(list, nil, -1)
			}
			s.Progress("choose", float64(i+1)/float64(splits.Len))
			return len(split.Test), nil
		})
	})
	return c, r.out.Work, err
}

// Predict implements [Learner].
func (m spectralLogistic) Predict(ctx context.Context, p *problem.Problem, v spec.Values, s *Settings) (*Answer, error) {
	r, err := newEmbedder(ctx, p, s)
	if err != nil {
		return nil, err
	}
	if r.settings, err = s.list(v, p); err != nil {
		return nil, err
	}
	t := &r.out.Seconds
	err = piece.Phases(ctx, []piece.Phase{
		{Do: r.embed, Seconds: &t.Walk}, {Do: r.choose, Seconds: &t.Choose}, {Do: r.score, Seconds: &t.Classify},
	})
	if err != nil {
		return nil, err
	}
	r.out.Values, r.out.Settings = r.settings[r.best], len(r.settings)
	if r.held != nil {
		r.out.Estimate = r.held.Estimate(p, r.out.Reached)
	}
	return r.out, nil
}

// embedder makes one prediction.
type embedder struct {
	p   *problem.Problem
	g   *graph.Graph
	set *Settings
	out *Answer

	settings []spec.Values          // to choose from, those of one dimension one after the other
	x        *sparse.Block[float64] // eigenvectors, a row for each node; nil: there are none
	best     int
	held     *choose.Estimator // nil: there was no choice
}

// newEmbedder finds what is known of the graph.
func newEmbedder(ctx context.Context, p *problem.Problem, s *Settings) (*embedder, error) {
	g, out, err := graphOf(ctx, p, s)
	return &embedder{p: p, g: g, set: s, out: out}, err
}

// list returns the settings to choose from: the given ones, all usual ones or, with too few
// labels, the defaults.
func (s *Settings) list(v spec.Values, p *problem.Problem) ([]spec.Values, error) {
	if v == nil && !validate.TooFew(p.Class) {
		return validate.Settings(s.Tried, s.Given, nil)
	}
	var err error
	if v == nil {
		v, err = s.Tried.Resolve(s.Given, nil)
	}
	return []spec.Values{v}, err
}

// embeddingProblem is that of the eigenvectors.
var embeddingProblem = spectral.Problem{Matrix: spectral.AdjacencyNormalized, Which: lanczos.Largest, Beyond: true, Positive: true}

// embed finds as many eigenvectors as the largest dimension needs.
func (r *embedder) embed(ctx context.Context) error {
	most := 0
	for _, v := range r.settings {
		most = max(most, v.Int("dimension"))
	}
	if len(r.g.Components.Sizes) == len(r.p.Degrees) { // there are no edges
		return nil
	}
	pairs, err := embeddingProblem.Solve(ctx, r.g, min(most, len(r.p.Degrees)), &lanczos.Settings{Tolerance: embeddingTolerance, Workers: r.set.Workers, Memory: r.set.Memory})
	if errors.Is(err, lanczos.ErrIterationLimit) {
		err, r.out.Unfinished = nil, "a search for eigenvectors ended at the limit of its products, before its tolerance"
	}
	if err != nil {
		return err
	}
	r.out.Work.Add(problem.Work{Sweeps: pairs.Products, EntryColumns: 4 * int64(pairs.Products) * r.p.A.NNZ()})
	r.x = pairs.Vectors
	return nil
}

// columns returns how many columns the embedding has in a setting.
func (r *embedder) columns(v spec.Values) int {
	if r.x == nil {
		return 0
	}
	return min(v.Int("dimension"), r.x.Cols)
}

// rowTo stores the embedding of a node in as many columns as dst has.
func (r *embedder) rowTo(dst []float64, v int) {
	if len(dst) == 0 {
		return
	}
	squares := shortRow * shortRow * float64(len(dst)) / float64(r.x.Rows)
	for j, x := range r.x.Row(v)[:len(dst)] {
		dst[j] = x
		squares += float64(x * x)
	}
	scale := 1 / math.Sqrt(squares)
	for j := range dst {
		dst[j] *= scale
	}
}

// fit fits the settings from lo on that have its dimension to labels; none where these
// have one class.
func (r *embedder) fit(ctx context.Context, train *problem.Problem, lo int) ([]*classify.LinearModel, error) {
	d := r.settings[lo].Int("dimension")
	var falling []float64 // take the fewest steps
	for _, v := range r.settings[lo:] {
		if v.Int("dimension") == d {
			falling = append(falling, v.Number("lambda"))
		}
	}
	slices.Reverse(falling)
	cols := r.columns(r.settings[lo])
	f := &sparse.Block[float64]{Rows: len(train.Row), Cols: cols, Stride: cols, Data: make([]float64, len(train.Row)*cols)}
	for i, row := range train.Row {
		r.rowTo(f.Row(i), row)
	}
	models, err := classify.LogisticPath(ctx, nil, f, train.Class, len(train.Names), falling)
	switch {
	case errors.Is(err, classify.ErrOneClass):
		return make([]*classify.LinearModel, len(falling)), nil
	case errors.Is(err, classify.ErrIterationLimit):
		err, r.out.Unfinished = nil, "a logistic regression ended at the limit of its steps, before its tolerance"
	}
	slices.Reverse(models)
	return models, err
}

// replies returns what models of some labels say of others, for each setting. A node
// that none of these labels reaches is given the largest class.
func (r *embedder) replies(ctx context.Context, train, tests *problem.Problem) ([][]reply, error) {
	reached, largest := r.g.Components.Reached(train.Row), validate.Majority(train.Class)
	found := make([][]reply, 0, len(r.settings))
	for len(found) < len(r.settings) {
		models, err := r.fit(ctx, train, len(found))
		if err != nil {
			return nil, err
		}
		x := make([]float64, r.columns(r.settings[len(found)]))
		for _, m := range models {
			list := make([]reply, len(tests.Row))
			for i, row := range tests.Row {
				answer := largest
				if list[i].reached = reached.Contains(uint32(row)); list[i].reached && m != nil {
					r.rowTo(x, row)
					answer = m.Pairs[classify.ArgMax(m.ScoresTo(nil, x, nil))].Positive
				}
				list[i].right = answer == tests.Class[i]
			}
			found = append(found, list)
		}
	}
	return found, nil
}

// choose finds the setting with most right answers out of fold, the first among equals,
// on a sample of many labels.
func (r *embedder) choose(ctx context.Context) error {
	if validate.TooFew(r.p.Class) {
		return nil
	}
	p := r.p.At(validate.Sample(r.p.Class, r.set.Sample, r.set.RNGSeed, 0))
	folds := r.set.Folds(len(p.Row))
	fold := validate.Folds(p.Class, folds, r.set.RNGSeed, 0)
	found := make([][]reply, len(r.settings))
	for at := range found {
		found[at] = make([]reply, len(p.Row))
	}
	for f := range folds {
		var rest, hidden []int
		for i, of := range fold {
			if of == f {
				hidden = append(hidden, i)
			} else {
				rest = append(rest, i)
			}
		}
		if len(rest) == 0 || len(hidden) == 0 {
			continue
		}
		replies, err := r.replies(ctx, p.At(rest), p.At(hidden))
		if err != nil {
			return err
		}
		for at, list := range replies {
			for j, i := range hidden {
				found[at][i] = list[j]
			}
		}
		r.set.Progress("choose", float64(f+1)/float64(folds))
	}
	hits := make([]int64, len(found))
	for at, list := range found {
		hits[at] = rightOutside(list, fold, -1)
	}
	r.best = slices.Index(hits, slices.Max(hits))
	r.held = judged(p, found, fold, folds)
	return nil
}

// score gives every node its probabilities.
func (r *embedder) score(ctx context.Context) error {
	n, k := len(r.p.Degrees), len(r.p.Names)
	r.settings, r.best = r.settings[r.best:r.best+1], 0
	models, err := r.fit(ctx, r.p, 0)
	if err != nil {
		return err
	}
	model, cols := models[0], r.columns(r.settings[0])
	prior, largest := Shares.Of(cwk.Seeds{Row: r.p.Row, Class: r.p.Class, Classes: k}), validate.Majority(r.p.Class)
	r.out.Scores, r.out.Class = piece.Block[float32](n, k), make([]int, n)
	err = piece.Run(ctx, r.set.Workers, n, func(_, lo, hi int) {
		x, z := make([]float64, cols), []float64(nil)
		for v := lo; v < hi; v++ {
			to := r.out.Scores.Row(v)
			if model == nil || !r.out.Reached.Contains(uint32(v)) {
				simd.ConvertTo(to, prior(v))
				r.out.Class[v] = largest
				continue
			}
			r.rowTo(x, v)
			z = model.ScoresTo(z, x, nil)
			r.out.Class[v] = model.Pairs[classify.ArgMax(z)].Positive
			for a, q := range classify.Softmax(z, z) {
				to[model.Pairs[a].Positive] = float32(q)
			}
		}
	})
	for i, row := range r.p.Row {
		r.out.Class[row] = r.p.Class[i]
	}
	return err
}

// Bytes implements [Learner]: eigenvectors, and models that learn from the labels.
func (spectralLogistic) Bytes(p *problem.Problem, labels int, s *Settings) (int64, error) {
	n, k := len(p.Degrees), len(p.Names)
	settings, err := validate.Settings(s.Tried, s.Given, nil)
	if err != nil {
		return 0, err
	}
	most := 0
	for _, v := range settings {
		most = max(most, min(n, v.Int("dimension")))
	}
	list := embeddingProblem.Memory(n, p.A.NNZ(), 1, min(n, most+1), &lanczos.Settings{Memory: s.Memory})
	embedding := tall.BlockBytes[float64](n, most)
	fit := 8*int64(labels)*int64(most) + spec.Sum(classify.LogisticMemory(labels, most, k))
	scores := tall.BlockBytes[float32](n, k) + 8*int64(n)
	return graphVectors*8*int64(n) + max(spec.Sum(list), embedding+fit, embedding+scores), nil
}

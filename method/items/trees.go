package items

import (
	"context"
	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// Trees declares boosted trees on the columns of items, see [classify.Boosting].
var Trees = param.Spec{
	Name: "trees", Title: "boosted trees on the columns of records", Works: param.Undirected,
	Source: "Friedman, Greedy function approximation: a gradient boosting machine, 2001; Chen and Guestrin, XGBoost, 2016; " +
		"Ke et al., LightGBM, 2017",
	Params: []param.Param{{
		Name: "rounds", Meaning: "rounds of boosting, each with a tree for each class and fold",
		Symbol: "r", Kind: param.Whole, Range: param.Range{Least: 0, Most: 10_000}, Default: param.Of(0),
		Otherwise: "at most 200, chosen by held-out labels",
	}},
}

// Columns are columns of items: a row for each item, NaN where a value is missing.
type Columns struct {
	*sparse.Block[float32]
	IsCategory []bool // whether the numbers of a column are categories without an order
}

// Trees returns boosted trees on the columns of c as a source. c.Columns must not be nil.
func (c *Collection) Trees() *Source {
	return &Source{Spec: Trees, Items: c.IDs.N, columns: c.Columns}
}

// treesEngine returns the engine of boosted trees. If result is not nil, the engine stores the result of its last prediction
// there.
func (s *Source) treesEngine(result *Classified) *engine.Engine {
	return &engine.Engine{Name: s.Spec.Name, Takes: s.Takes(), Specs: []*param.Spec{&s.Spec},
		Fit: func(ctx context.Context, p *engine.Problem, par *engine.Parameters, settings *engine.Settings) (*engine.Prediction, error) {
			if err := p.Validate(); err != nil {
				return nil, err
			}
			set := settings.WithDefaults()
			given := set.Given
			if par != nil && par.Declared != nil {
				given = par.Declared.Values
			}
			v, err := s.Resolve(s.Own(given), nil)
			if err != nil {
				return nil, err
			}
			c, err := s.growTrees(ctx, p, v, &set)
			if err != nil {
				return nil, err
			}
			if result != nil {
				*result = *c
			}
			out := &engine.Prediction{Class: c.Class, Settings: 1, Held: c.Held, Estimate: c.Estimate, Reached: roaring.New(),
				Scores:     sparse.NewBlock[float32](s.Items, len(p.Names)),
				Parameters: engine.Parameters{Declared: &engine.Setting{Spec: &s.Spec, Values: c.Values}}}
			out.Reached.AddRange(0, uint64(s.Items))
			shares := make([]float64, len(p.Names))
			for i := range s.Items {
				simd.ConvertTo(out.Scores.Row(i), c.SharesTo(shares, i))
			}
			return out, nil
		}}
}

// growTrees fits a model without each of five folds of labels, whose mean predicts all items. The models without the fold of a
// label predict it as held out.
func (s *Source) growTrees(ctx context.Context, p *engine.Problem, v param.Values, set *engine.Settings) (*Classified, error) {
	columns := s.columns()
	task := choose.FitTaskOf(p, set.RNGSeed)
	x := sparse.NewBlock[float32](len(p.Row), columns.Cols)
	for i, item := range p.Row {
		copy(x.Row(i), columns.Row(item))
	}
	set.Progress("learning", 0, 0)
	b := &classify.Boosting{X: x, IsCategory: columns.IsCategory, Class: p.Class, Classes: len(p.Names), Fold: task.Fold,
		Hidden: classify.HideEach(task.Folds()), Rounds: v.Int("rounds"), Workers: set.Workers}
	m, held, err := b.Fit(ctx)
	if err != nil {
		return nil, err
	}
	c := &Classified{Values: param.Values{"rounds": param.Of(m.Rounds)}, Settings: 1, Held: new(choose.Held),
		Class: make([]int, s.Items), Scores: sparse.NewBlock[float64](s.Items, m.Outputs()),
		probabilities: m.PredictionTo}
	for i := range p.Row {
		shares := m.PredictionTo(nil, held.Row(i))
		c.Held.Add(i, classify.ArgMax(shares), true, shares)
	}
	c.Estimate = estimateOf(p, c.Held.Rows)
	for _, class := range m.Class[max(0, len(m.Class)-m.Outputs()):] {
		name := p.Names[class]
		if m.Outputs() == 1 && len(m.Class) == 2 {
			name += " vs " + p.Names[m.Class[0]]
		}
		c.ScoreNames = append(c.ScoreNames, name)
	}
	shares := make([]float64, len(p.Names))
	for i := range s.Items {
		m.ScoresTo(c.Scores.Row(i), columns.Row(i))
		c.Class[i] = classify.ArgMax(c.SharesTo(shares, i))
	}
	for i, item := range p.Row {
		c.Class[item] = p.Class[i]
	}
	return c, nil
}

// estimateOf returns the accuracy of predictions of held-out labels.
func estimateOf(p *engine.Problem, rows []choose.HeldRow) problem.Estimate {
	right := 0.0
	for _, row := range rows {
		if row.Class == p.Class[row.Label] {
			right++
		}
	}
	return problem.EstimateShare(right, len(rows))
}

// ClassifyBest classifies with each source, see [Source.Classify]. It returns the result of the source whose predictions of
// held-out labels are right most often, with this source. Of equal sources it takes the first, and without held-out labels too.
// The accuracy of the result is of the labels that all sources hold out: for each fold, the other folds choose the source.
func ClassifyBest(ctx context.Context, sources []*Source, p *engine.Problem, set *engine.Settings) (*Classified, *Source, error) {
	var results []*Classified
	var held []*choose.Held // by source
	for _, s := range sources {
		c, err := s.Classify(ctx, p, set)
		if err != nil {
			return nil, nil, err
		}
		if len(sources) == 1 || c.Held == nil && len(results) == 0 {
			return c, s, nil
		}
		results = append(results, c)
		held = append(held, c.Held)
	}
	best, rows := choose.BestOf(p, held, set.WithDefaults().RNGSeed)
	c := results[best]
	c.Held = rows
	c.Estimate = estimateOf(p, c.Held.Rows)
	return c, sources[best], nil
}

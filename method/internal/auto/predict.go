package auto

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/internal/chunks"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// model is a mixture that predicts every node.
type model struct {
	features   *features
	settings   []heldOutSetting
	mixture    []component
	calibrated calibration
}

// fit fits the components to all learned labels.
func (m *model) fit(ctx context.Context) error {
	f := m.features
	y := f.targets(f.full, -1)
	for i := range m.mixture {
		c := &m.mixture[i]
		if c.setting < 0 || !m.settings[c.setting].candidate.isModel() {
			continue
		}
		s := m.settings[c.setting].setting
		models, err := f.fit(ctx, s.candidate, f.full, y, []float64{s.lambda}, nil)
		if err != nil {
			return err
		}
		if models != nil {
			c.model = models[0]
		}
	}
	return nil
}

// predict returns the probabilities of every node. The walks are made once more, from all labels, and each filter is
// multiplied by its weights when it is complete: the features of a node are never there together.
func (m *model) predict(ctx context.Context) (*sparse.Block[float32], error) {
	in := m.features.in
	n, k := len(in.p.Degrees), len(in.p.Names)
	w, err := m.walkScores(ctx)
	if err != nil {
		return nil, err
	}
	var scores *sparse.Block[float32]
	if i := slices.IndexFunc(w.scores, func(b *sparse.Block[float32]) bool { return b != nil }); i >= 0 {
		scores = w.scores[i] // each row is read before it is overwritten
	}
	if m.uses(candidate.isBeliefs) {
		b := m.features.believed
		if w.believed, err = b.Predict(ctx); err != nil {
			return nil, err
		}
		in.work.Add(problem.Work{Sweeps: b.Sweeps, EntryColumns: int64(b.Columns) * sparse.EntriesOf(in.p.A)})
	}
	if m.uses(candidate.isPropagation) {
		scores = chunks.Block[float32](n, k)
		if _, err := propagationOf(in.p, in.set, in.memory).ScoresTo(ctx, scores, nil, m.features.reached, in.work); err != nil {
			return nil, err
		}
	} else if scores == nil {
		scores = chunks.Block[float32](n, k)
	}
	err = chunks.Run(ctx, in.set.Workers, n, func(_, lo, hi int) {
		p := m.newPredictor(w)
		for v := lo; v < hi; v++ {
			row := scores.Row(v)
			simd.ConvertTo(row, p.probabilities(v, row))
		}
	})
	return scores, err
}

// uses reports whether the mixture has a component of a kind.
func (m *model) uses(isKind func(candidate) bool) bool {
	return slices.ContainsFunc(m.mixture, func(c component) bool { return c.isOf(m.settings, isKind) })
}

// predictor predicts single nodes. It is not safe for concurrent use.
type predictor struct {
	*model
	walked            *walkScores
	shared, free, row []float64
	attributes, links []float64
	input             []float64 // shared columns that a model uses
	scores            []float64 // of kernels
	missed            []float64 // probabilities of nodes that no walk reaches
	one               []float64 // probabilities of one component
	usesPropagation   bool
}

func (m *model) newPredictor(w *walkScores) *predictor {
	f, k := m.features, m.features.columns.classes
	p := &predictor{
		model: m, walked: w, shared: make([]float64, f.in.sharedCount()*k), free: make([]float64, f.columns.freeCount()),
		row: make([]float64, k), scores: make([]float64, kernels*k), missed: f.priorOfMissed(-1), one: make([]float64, k),
		usesPropagation: m.uses(candidate.isPropagation),
	}
	if f.attributes != nil {
		p.attributes = make([]float64, f.attributes.blocks*k)
	}
	if f.links != nil {
		p.links = make([]float64, f.links.blocks*k)
	}
	return p
}

// probabilities returns those of node v, given its scores of label propagation. They stay
// valid until the next call.
func (p *predictor) probabilities(v int, propagated []float32) []float64 {
	f := p.features
	isKnown := f.attributes != nil || p.walked.visited[v]
	if !isKnown && !(p.usesPropagation && f.reached.Contains(uint32(v))) {
		copy(p.row, p.missed)
		return p.row
	}
	if f.attributes != nil {
		f.attributes.nodeTo(p.attributes, v)
	}
	if f.links != nil {
		f.links.nodeTo(p.links, v)
	}
	clear(p.row)
	for i, c := range p.mixture {
		switch {
		case c.isOf(p.settings, candidate.isPropagation):
			slackenTo(p.one, propagated, f.columns.prior, p.settings[c.setting].lambda)
		case !isKnown:
			copy(p.one, p.missed)
		case c.isOf(p.settings, candidate.isBeliefs):
			if isKnown {
				multiplyTo(p.row, p.row, p.walked.believed.Row(v), c.weight)
			}
			continue
		case c.isOf(p.settings, candidate.isInRounds):
			simd.ConvertTo(p.one, f.rounds.all().Row(v))
		case c.setting < 0:
			simd.ConvertTo(p.one, p.walked.scores[i].Row(v))
			classify.Softmax(p.one, p.one)
		case c.model == nil:
			copy(p.one, f.columns.prior)
		default:
			p.predictOne(c, v, p.walked.scores[i])
		}
		for class, q := range p.one {
			p.row[class] += float64(c.weight * q)
		}
	}
	p.calibrated.apply(p.row)
	return p.row
}

// predictOne stores the probabilities of one component, whose scores by walks are in a block, nil for none.
func (p *predictor) predictOne(term component, v int, walked *sparse.Block[float32]) {
	columns := p.features.columns
	c := p.settings[term.setting].candidate
	columns.sharedWithoutWalks(p.shared, columns.diffusionRow(p.scores, v))
	p.input = c.input(p.input[:0], p.shared, p.attributes, p.links, columns.classes)
	var free []float64
	if c.free {
		columns.freeWithoutWalks(p.free, v)
		free = p.free
	}
	term.model.ScoresTo(p.one, free, p.input)
	if walked != nil {
		for class, s := range walked.Row(v) {
			p.one[class] += float64(s)
		}
	}
	classify.Softmax(p.one, p.one)
}

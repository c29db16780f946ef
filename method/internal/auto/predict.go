package auto

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/internal/piece"
	"github.com/heatwalk/heatwalk/sparse"
)

// model is a mixture that predicts every node.
type model struct {
	features   *features
	settings   []heldOutSetting
	mixture    []component
	calibrated calibration
}

// fit fits the components to all labels.
func (m *model) fit(ctx context.Context) error {
	f := m.features
	y := f.targets(f.whole, -1)
	for i := range m.mixture {
		c := &m.mixture[i]
		if c.setting < 0 || isPropagation(m.settings, *c) || m.settings[c.setting].candidate.constant {
			continue
		}
		of := m.settings[c.setting].setting
		models, err := f.fit(ctx, of.candidate, f.whole, y, []float64{of.lambda}, nil)
		if err != nil {
			return err
		}
		if models != nil {
			c.model = models[0]
		}
	}
	return nil
}

// predict returns the probabilities and the class of every node.
func (m *model) predict(ctx context.Context) (*sparse.Block[float32], []int, error) {
	in := m.features.in
	n, k := len(in.p.Degrees), len(in.p.Names)
	scores, class := piece.Block[float32](n, k), make([]int, n)
	if slices.ContainsFunc(m.mixture, func(c component) bool { return isPropagation(m.settings, c) }) {
		if _, err := propagationOf(in.p, in.set, in.memory).ScoresTo(ctx, scores, nil, m.features.reached, in.work); err != nil {
			return nil, nil, err
		}
	}
	err := piece.Run(ctx, in.set.Workers, n, func(_, lo, hi int) {
		p := m.newPredictor()
		for v := lo; v < hi; v++ {
			to := scores.Row(v)
			simd.ConvertTo(to, p.probabilities(v, to))
			class[v] = classify.ArgMax(to)
		}
	})
	for i, row := range in.p.Row {
		class[row] = in.p.Class[i]
	}
	return scores, class, err
}

// predictor predicts single nodes. It is not safe for concurrent use.
type predictor struct {
	*model
	shared, free, row []float64
	attributes        []float64
	input             []float64 // shared columns that a model uses
	scores            []float64 // of kernels
	missed            []float64 // probabilities of nodes that no walk reaches
	one               []float64 // probabilities of one component
	usesFree          bool
	usesPropagation   bool
}

func (m *model) newPredictor() *predictor {
	f, k := m.features, m.features.columns.classes
	p := &predictor{
		model: m, shared: make([]float64, f.in.sharedCount()*k), free: make([]float64, f.columns.freeCount()),
		row: make([]float64, k), scores: make([]float64, kernels*k), missed: f.priorOfMissed(-1), one: make([]float64, k),
	}
	for _, c := range m.mixture {
		p.usesFree = p.usesFree || c.setting >= 0 && m.settings[c.setting].candidate.free
		p.usesPropagation = p.usesPropagation || isPropagation(m.settings, c)
	}
	if f.attributes != nil {
		p.attributes = make([]float64, f.attributes.blocks*k)
	}
	return p
}

// probabilities returns those of node v, given its scores of label propagation. They stay
// valid until the next call.
func (p *predictor) probabilities(v int, propagated []float32) []float64 {
	f := p.features
	full := f.walks.full.Row(v)
	known := f.isKnown(full)
	if !known && !(p.usesPropagation && f.reached.Contains(uint32(v))) {
		copy(p.row, p.missed)
		return p.row
	}
	if !f.in.tooFewLabels {
		f.columns.sharedTo(p.shared, full, f.columns.diffusionRow(p.scores, v))
		if p.usesFree {
			f.columns.freeTo(p.free, full, v)
		}
	}
	if f.attributes != nil {
		f.attributes.nodeTo(p.attributes, v)
	}
	clear(p.row)
	for _, c := range p.mixture {
		switch {
		case isPropagation(p.settings, c):
			slackenTo(p.one, propagated, f.columns.prior, p.settings[c.setting].lambda)
		case !known:
			copy(p.one, p.missed)
		default:
			p.predictOne(c, full)
		}
		for class, q := range p.one {
			p.row[class] += float64(c.weight * q)
		}
	}
	p.calibrated.apply(p.row)
	return p.row
}

// predictOne stores the probabilities of one component.
func (p *predictor) predictOne(of component, full []float32) {
	columns := p.features.columns
	switch {
	case of.setting < 0:
		columns.poissonProbabilities(p.one, full)
		return
	case of.model == nil:
		copy(p.one, columns.prior)
		return
	}
	c := p.settings[of.setting].candidate
	p.input = c.input(p.input[:0], p.shared, p.attributes, columns.classes)
	var free []float64
	if c.free {
		free = p.free
	}
	of.model.ScoresTo(p.one, free, p.input)
	classify.Softmax(p.one, p.one)
}

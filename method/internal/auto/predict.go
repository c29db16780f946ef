package auto

import (
	"context"
	"slices"
	"sync"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// model is the mixture that predicts all nodes.
type model struct {
	features   *features
	mixture    []component
	calibrated Calibration
	confidence *choose.Confidence // nil: too few labels, or the choice was given

	weights []*featureBlock // weights of free columns by component; nil: none
	beliefs *featureBlock   // nil: beliefs are no component
	trees   *featureBlock   // nil: boosted trees are no component

	propagated *featureBlock // scores of label propagation for explanations and new nodes; else nil

	forNew *model // mixture for new nodes; nil: this one

	missed []float64 // probabilities of nodes that no walk reaches
	shares []float64 // shares of the classes, shrunk
}

// fit fits the components to all learned labels.
func (m *model) fit(ctx context.Context) error {
	f := m.features
	y := f.targets(f.full, -1)
	for i := range m.mixture {
		c := &m.mixture[i]
		if !c.isModel() {
			continue
		}
		models, err := f.fit(ctx, c.candidate, f.full, y, []float64{c.Lambda}, nil)
		if err != nil {
			return err
		}
		if models != nil {
			c.model = models[0]
		}
	}
	return nil
}

func (m *model) predict(ctx context.Context, out *engine.Prediction) error {
	in := m.features.in
	n := len(in.p.Degrees)
	k := len(in.p.Names)
	m.missed = m.features.priorOfMissed(-1)
	m.shares = slices.Clone(m.features.columns.prior)
	choose.Shrink(m.shares, float64(len(in.p.Row)))
	if in.set.Top > 0 && !in.set.balanced {
		out.Highest = problem.NewHighest(n, in.p.Row, in.p.Class)
	} else {
		out.Scores = newBlock(n, k)
	}
	scores := out.Scores // label propagation writes its scores here; each row is read before probabilities overwrite it
	if m.uses(func(c candidate) bool { return c.Beliefs }) {
		b := m.features.believed
		var err error
		if m.beliefs, err = b.Predict(ctx); err != nil {
			return err
		}
		in.work.Sweeps += b.Sweeps
	}
	if m.uses(func(c candidate) bool { return c.Trees }) {
		if err := m.predictTrees(ctx); err != nil {
			return err
		}
	}
	if m.uses(func(c candidate) bool { return c.Propagation }) {
		l := propagationOf(in.p, in.set, in.memory)
		l.HeldOut = in.propagated
		l.Center = m.uses(func(c candidate) bool { return c.Center })
		if err := l.ScoresTo(ctx, scores, m.features.reached, in.work); err != nil {
			return err
		}
		if in.set.Explain || in.set.Columns {
			m.propagated = &featureBlock{Rows: n, Cols: scores.Cols,
				Stride: scores.Stride, Data: slices.Clone(scores.Data)}
		}
	}
	m.setWeights()
	var (
		mu        sync.Mutex
		predicted int
	)
	return blocks.EachNodeChunk(ctx, in.set.Workers, n, func(_, lo, hi int) {
		p := m.newPredictor()
		row := make([]float32, k)
		for v := lo; v < hi; v++ {
			if (v-lo)%storedRows == 0 {
				p.load(v, min(v+storedRows, hi))
			}
			if scores != nil {
				row = scores.Row(v)
			}
			simd.ConvertTo(row, p.probabilities(v, row))
			if out.Highest != nil {
				out.Highest.Set(v, row)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		predicted += hi - lo
		in.reportProgress(stagePredict, predicted, n)
	})
}

func (m *model) setWeights() {
	for _, c := range m.mixture {
		var weights *featureBlock
		if c.model != nil && c.Free {
			weights = newBlock(c.model.Features, m.features.columns.classes)
			for i, w := range c.model.Weights {
				weights.Row(i % c.model.Features)[i/c.model.Features] = float32(w)
			}
		}
		m.weights = append(m.weights, weights)
	}
}

func (m *model) uses(isKind func(candidate) bool) bool {
	return slices.ContainsFunc(m.mixture,
		func(c component) bool { return isKind(c.candidate) })
}

// predictor predicts nodes one by one, after load has read the features of consecutive nodes. It is not safe for
// concurrent use.
type predictor struct {
	*model
	shared, free, row []float64
	values, sums      []float32 // free columns, and their products with weights
	indices           []uint32  // 0, 1, 2, …: the free columns
	ridges            []float64
	input             []float64 // shared columns of a model
	one               []float64
	usesPropagation   bool

	first  int
	walked *featureBlock // rows of walks of loaded nodes
	ridged []*featureBlock
}

// load reads the rows of walks and the scores of ridges at nodes lo ≤ v < hi.
func (p *predictor) load(lo, hi int) {
	f := p.features
	p.first, p.walked = lo, newBlock(hi-lo, f.walks.cols)
	f.walks.readRowsTo(p.walked, lo)
	p.ridged = p.ridged[:0]
	for _, r := range f.ridges {
		scores := newBlock(hi-lo, len(p.row))
		r.nodes(scores, lo)
		p.ridged = append(p.ridged, scores)
	}
}

func (m *model) newPredictor() *predictor {
	f := m.features
	k := m.features.columns.classes
	free := m.features.columns.freeCount()
	p := &predictor{
		model: m, shared: make([]float64, f.in.sharedCount()*k),
		free: make([]float64, free), row: make([]float64, k),
		values: make([]float32, free), sums: make([]float32, k),
		indices: countTo(free), one: make([]float64, k),
		usesPropagation: m.uses(func(c candidate) bool { return c.Propagation }),
	}
	p.ridges = make([]float64, len(f.ridges)*k)
	return p
}

// probabilities returns the calibrated probabilities of node v, which must be loaded. The result is valid until the next
// call. propagated has the scores of label propagation at v.
func (p *predictor) probabilities(v int, propagated []float32) []float64 {
	f := p.features
	row := p.walked.Row(v - p.first)
	isKnown := f.isKnown(row)
	if !isKnown && !(p.usesPropagation && f.reached.Contains(uint32(v))) {
		copy(p.row, p.missed)
		return p.row
	}
	if isKnown {
		p.read(v, row)
		for i, scores := range p.ridged {
			simd.ConvertTo(p.ridges[i*len(p.row):][:len(p.row)],
				scores.Row(v-p.first))
		}
		f.ridges.scale(p.ridges)
	}
	clear(p.row)
	for i, c := range p.mixture {
		if c.isFactor() {
			if isKnown {
				multiplyTo(p.row, p.beliefs.Row(v), c.Weight)
			}
			continue
		}
		if isKnown || c.Propagation {
			p.predictBy(i, v, row, propagated)
		} else {
			copy(p.one, p.missed)
		}
		for class, q := range p.one {
			p.row[class] += float64(c.Weight * q)
		}
	}
	p.calibrated.apply(p.row)
	return p.row
}

// predictBy stores in p.one the probabilities of node v by component i. row is its row of walks, propagated its scores
// of label propagation. p.read must have read v.
func (p *predictor) predictBy(i, v int, row, propagated []float32) {
	prior := p.features.columns.prior
	switch c := p.mixture[i]; {
	case c.Propagation:
		slackenTo(p.one, propagated, prior, c.Lambda)
	case c.Beliefs:
		simd.ConvertTo(p.one, p.beliefs.Row(v))
	case c.Trees:
		simd.ConvertTo(p.one, p.trees.Row(v))
	case c.Poisson:
		poissonProbabilities(p.one, p.features.columns, row)
	case c.Majority:
		copy(p.one, p.shares)
	case c.model == nil:
		copy(p.one, prior)
	default:
		p.logits(c, p.weights[i])
		classify.Softmax(p.one, p.one)
	}
}

func (p *predictor) read(v int, row []float32) {
	f := p.features
	f.columns.sharedTo(p.shared, row)
	f.columns.freeTo(p.free, row, v)
	simd.ConvertTo(p.values, p.free)
}

func (p *predictor) logits(term component, weights *featureBlock) {
	k := p.features.columns.classes
	p.input = p.features.ridges.input(p.input[:0], term.candidate, p.shared,
		p.ridges, k)
	clear(p.sums)
	if term.Free {
		addProduct(p.sums, weights, p.indices, p.values)
	}
	for class, y := range p.sums {
		p.one[class] = float64(y) + term.model.Bias[class]
	}
	for i, w := range term.model.Shared {
		for class, x := range p.input[i*k:][:k] {
			p.one[class] += float64(w * x)
		}
	}
}

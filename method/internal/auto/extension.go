package auto

import (
	"context"
	"encoding/json"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/internal/beliefs"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/spread"
)

// extended has what new nodes need of a model. The columns of a node are its row of walks, 1/degree in the column of its class if
// it has a label, its degree, the columns of ridges, its scores of label propagation and its messages of beliefs.
//
// A step of a filter Σ_j c_j·T^j of walks is exact up to the last term: a new node has 0.85 times the mean of decay85, and the mean of
// third as fourth.
type extended struct {
	Instead string          `json:"instead,omitempty"` // name of the engine that predicts alone; "": a mixture predicts
	Alone   json.RawMessage `json:"alone,omitempty"`   // what the engine has kept

	Filters     []filter          `json:"filters,omitempty"`
	Shared      []filter          `json:"shared,omitempty"`
	Free        []filter          `json:"free,omitempty"`
	IsLean      bool              `json:"is_lean,omitempty"` // see design.manyClasses
	Prior       []float64         `json:"prior,omitempty"`
	Share       []float64         `json:"share,omitempty"`
	Logs        []float64         `json:"logs,omitempty"`
	Epsilon     [filters]float64  `json:"epsilon"`
	SharedScale []float64         `json:"shared_scale,omitempty"`
	Mean        []float64         `json:"mean,omitempty"`
	Scale       []float64         `json:"scale,omitempty"`
	Unit        float64           `json:"unit,omitempty"` // of degrees; 0: no columns of degrees
	Missed      []float64         `json:"missed,omitempty"`
	Shares      []float64         `json:"shares,omitempty"`
	Calibration Calibration       `json:"calibration"`
	Components  []extendedModel   `json:"components,omitempty"`
	Ridges      []*ridgeExtension `json:"ridges,omitempty"`
	Attributes  *attributeScales  `json:"attributes,omitempty"` // nil: none
	Beliefs     *beliefs.Messages `json:"beliefs,omitempty"`
}

type extendedModel struct {
	Component
	Model *classify.LinearModel `json:"model,omitempty"`
}

// extension predicts new nodes with the components whose columns have an equation. If links or trees are in the mixture, the other
// components are mixed and calibrated anew.
var extension = &engine.Extension{
	Count: func(p *engine.Problem, s *engine.Settings) int {
		d := designOf(p, &settings{Settings: *s})
		return (len(d.filters)+3+5)*len(p.Names) + 1 + spectralPairs
	},
	Restore: func(kept []byte, classes, columns int) (func() engine.Step, error) {
		e := new(extended)
		if json.Unmarshal(kept, e) != nil {
			return nil, engine.ErrChanged
		}
		for _, m := range []*engine.Engine{spread.Propagation, spread.Beliefs, lgc()} {
			if m.Name == e.Instead {
				return m.Extension.Restore(e.Alone, classes, columns)
			}
		}
		if !e.isValid(classes, columns) {
			return nil, engine.ErrChanged
		}
		return func() engine.Step { return newExtender(e).step }, nil
	},
}

// isValid reports whether the lists fit k classes and the number of columns.
func (e *extended) isValid(k, columns int) bool {
	isProportional := !slices.ContainsFunc([][]float64{e.Prior, e.Share, e.Logs, e.Missed, e.Shares}, func(list []float64) bool { return len(list) != k })
	for _, f := range slices.Concat(e.Filters, e.Shared, e.Free) {
		isProportional = isProportional && slices.Contains(e.Filters, f) && f >= 0 && int(f) < undirectedFilters
	}
	columns -= (len(e.Filters)+1)*k + 1
	for _, r := range e.Ridges {
		isProportional = isProportional && r != nil && r.Width >= 0
		if isProportional {
			columns -= r.Width
		}
	}
	if e.Beliefs != nil {
		isProportional = isProportional && e.Beliefs.IsValid(k)
		columns -= k
	}
	if slices.ContainsFunc(e.Components, func(c extendedModel) bool { return c.Propagation }) {
		columns -= k
	}
	return isProportional && len(e.Components) > 0 && columns == 0
}

// keepAlone makes columns of the engine called name columns of auto.
func keepAlone(name string, c *engine.Columns) error {
	if c == nil {
		return nil
	}
	kept, err := json.Marshal(c.Kept)
	c.Kept = &extended{Instead: name, Alone: kept}
	return err
}

// extends reports whether a new node can have the columns of a component.
func (m *model) extends(c component) bool {
	for _, r := range m.features.ridges {
		if c.isModel() && c.takes(r) && r.extension == nil {
			return false
		}
	}
	return !c.Trees
}

// mixForNew sets m.forNew to the likeliest mixture of components that new nodes can have. Beliefs and label propagation are in it only
// if m has them.
func (m *model) mixForNew(h *heldOut) {
	if !slices.ContainsFunc(m.mixture, func(c component) bool { return !m.extends(c) }) {
		return
	}
	left := *h
	left.components = nil
	for _, c := range h.components {
		isComputed := m.uses(func(o candidate) bool { return o.Beliefs == c.Beliefs && o.Propagation == c.Propagation })
		if m.extends(c) && (isComputed || !c.Beliefs && !c.Propagation) {
			left.components = append(left.components, c)
		}
	}
	m.forNew = &model{features: m.features, mixture: left.combine(all)}
	m.forNew.calibrated = left.calibrate(m.forNew.mixture)
}

// columns returns the columns of all nodes.
func (m *model) columns(ctx context.Context) (*engine.Columns, error) {
	f := m.features
	in := f.in
	c := f.columns
	k := c.classes
	forNew := m
	if m.forNew != nil {
		forNew = m.forNew
		if err := forNew.fit(ctx); err != nil {
			return nil, err
		}
	}
	e := &extended{Filters: in.filters, Shared: in.shared, Free: in.free, IsLean: in.manyClasses, Prior: c.prior, Share: c.share, Logs: c.logs,
		Epsilon: c.epsilon, SharedScale: c.sharedScale, Mean: c.mean, Scale: c.scale, Missed: m.missed, Shares: m.shares, Calibration: forNew.calibrated}
	out := &engine.Columns{Kept: e}
	choice := m.choice()
	total := 0.0
	for i, term := range m.mixture {
		if !m.extends(term) {
			out.Omitted = append(out.Omitted, (&Choice{Mixture: choice.Mixture[i : i+1]}).Models()...)
		}
	}
	for _, term := range forNew.mixture {
		if !m.extends(term) {
			continue
		}
		e.Components = append(e.Components, extendedModel{term.Component, term.model})
		if !term.isFactor() {
			total += term.Weight
		}
	}
	if total == 0 || in.arcs != nil {
		return nil, engine.ErrNoColumns
	}
	for i := range e.Components {
		if t := &e.Components[i]; !t.isFactor() {
			t.Weight /= total
		}
	}
	width := len(in.filters)*k + k + 1
	if c.graph != nil {
		e.Unit = c.graph.unit
	}
	if m.beliefs != nil {
		e.Beliefs = f.believed.Messages
		width += k
	}
	if m.propagated != nil {
		width += k
	}
	for _, r := range f.ridges {
		if r.extension != nil {
			r.extension.RidgeKind = r.kind
			r.extension.RidgeScale = r.scale
			e.Ridges = append(e.Ridges, r.extension)
			width += r.extension.Width
		}
	}
	if in.p.Attributes != nil {
		e.Attributes = f.scales
	}
	out.Values = newBlock(len(in.p.Degrees), width)
	for v := range out.Values.Rows {
		row := out.Values.Row(v)
		row = row[copy(row, f.walks.row(v)):]
		row[k] = float32(in.p.Degrees[v])
		row = row[k+1:]
		for _, r := range e.Ridges {
			r.columns(row[:r.Width], v)
			row = row[r.Width:]
		}
		if m.propagated != nil {
			row = row[copy(row, m.propagated.Row(v)):]
		}
		if m.beliefs != nil {
			copy(row, e.Beliefs.Values.Row(v))
		}
	}
	for i, v := range in.p.Row {
		out.Values.Row(v)[len(in.filters)*k+in.p.Class[i]] = f.seeds.startAt(v)
	}
	return out, sched.Cause(ctx)
}

// extender computes the inputs of one node and predicts it as a node of the graph.
type extender struct {
	*extended
	*predictor
	graph      *graphColumns
	propagated []float32
	message    func(message []float64, dst []float32, mean []float64, degree float64, isReached bool)
	attributes *attributeRow
	products   []nodeScores // of attributes and weights, by ridge
}

func newExtender(e *extended) *extender {
	k := len(e.Prior)
	p := &problem.Problem{Graph: new(graph.Graph), Names: make([]string, k)}
	in := &input{p: p, design: design{filters: e.Filters, shared: e.Shared, free: e.Free, manyClasses: e.IsLean}}
	x := &extender{extended: e, propagated: make([]float32, k)}
	if e.Unit > 0 {
		x.graph = &graphColumns{degrees: []float64{0}, unit: e.Unit, neighbourDegrees: []float32{0}}
	}
	f := &features{in: in, reached: roaring.BitmapOf(0), columns: &columns{design: &in.design, classes: k, prior: e.Prior, share: e.Share,
		logs: e.Logs, epsilon: e.Epsilon, graph: x.graph, sharedScale: e.SharedScale, mean: e.Mean, scale: e.Scale}}
	m := &model{features: f, calibrated: e.Calibration, missed: e.Missed, shares: e.Shares}
	for _, t := range e.Components {
		m.mixture = append(m.mixture, component{Component: t.Component, model: t.Model})
	}
	for _, r := range e.Ridges {
		f.ridges = append(f.ridges, &ridgeScores{kind: r.RidgeKind, scale: r.RidgeScale})
	}
	m.setWeights()
	if e.Beliefs != nil {
		m.beliefs = newBlock(1, k)
		x.message = e.Beliefs.Step()
	}
	if e.Attributes != nil {
		x.attributes = newAttributeRow(e.Attributes)
		p.Attributes = x.attributes.a.Table
	}
	for _, r := range e.Ridges {
		products := nodeScores(nil)
		if x.attributes != nil && r.Weights != nil && r.Form != ofEmbedding && r.Form != ofMeans {
			products = x.attributes.productOf(r.Weights)
		}
		x.products = append(x.products, products)
	}
	x.predictor = m.newPredictor()
	x.walked = newBlock(1, len(e.Filters)*k)
	for range e.Ridges {
		x.ridged = append(x.ridged, newBlock(1, k))
	}
	return x
}

func (x *extender) step(node *engine.NewNode) {
	k := len(x.Prior)
	mean := node.Mean
	columns := node.Columns
	clear(columns)
	start := mean[len(x.Filters)*k:][:k]
	row := x.walked.Row(0)
	for i, f := range x.Filters {
		weight, previous := stepTo(f)
		for c := range k {
			y := start[c]
			switch {
			case previous == f:
				y = weight * mean[i*k+c]
			case previous >= 0:
				y = mean[slices.Index(x.Filters, previous)*k+c]
			}
			row[i*k+c] = float32(y)
			columns[i*k+c] = y
		}
	}
	mean, columns = mean[(len(x.Filters)+1)*k:], columns[(len(x.Filters)+1)*k:]
	columns[0] = node.Degree
	if x.graph != nil {
		x.graph.degrees[0] = node.Degree
		x.graph.neighbourDegrees[0] = float32(math.Log1p(mean[0] / x.Unit))
	}
	mean, columns = mean[1:], columns[1:]
	if x.attributes != nil {
		x.attributes.set(node.Attributes)
	}
	for i, r := range x.Ridges {
		r.step(x.ridged[i].Row(0), columns[:r.Width], mean[:r.Width], node.Degree, x.products[i])
		mean, columns = mean[r.Width:], columns[r.Width:]
	}
	if x.usesPropagation {
		simd.ConvertTo(x.propagated, mean[:k])
		copy(columns, mean[:k])
		mean, columns = mean[k:], columns[k:]
	}
	if x.message != nil {
		x.message(columns[:k], x.beliefs.Row(0), mean[:k], node.Degree, node.Reached)
	}
	copy(node.Scores, x.probabilities(0, x.propagated))
	node.Reached = node.Reached || node.Attributes != nil
}

// stepTo returns the filter whose mean over the neighbours of a new node is filter f of the node, and its factor. For the first step,
// the filter is −1: the starts of walks.
func stepTo(f filter) (factor float64, previous filter) {
	switch {
	case f == first:
		return 1, -1
	case f > first && int(f) < undirectedFilters:
		return 1, f - 1
	}
	return float64(stepWeights(1)[f]), f
}

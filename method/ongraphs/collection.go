package ongraphs

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/graphfile"
	"github.com/heatwalk/heatwalk/kernel/graphs"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// Collection is a collection of graphs to classify: its graphs are the nodes of problems
// without edges, see [Collection.Problem].
type Collection struct {
	Graphs *graphfile.Collection
	Kernel *graphs.Settings
	Cosine bool // values are divided by the norms of the graphs

	making sync.Mutex
	made   map[string]*valued // by the kernel and its values, as far as they were given
}

// valued are the values of a kernel between all graphs.
type valued struct {
	gram   *classify.DenseGram[float64]
	values spec.Values // of its parameters, complete
}

// Problem returns the problem of classifying the graphs, of which those at row have the
// given classes.
func (c *Collection) Problem(row, class []int, names []string) (*method.Problem, error) {
	n := len(c.Graphs.Graphs)
	a, err := sparse.FromTriplets(n, n, nil)
	return &method.Problem{A: a, Degrees: make([]float64, n), Row: row, Class: class, Names: names}, err
}

// graphsMethod is a learner on a kernel between the graphs of a collection.
type graphsMethod struct {
	spec.Spec  // the parameters of the kernel, and then those of the learner
	collection *Collection
	kernel     *graphs.Kernel
	learner    *classify.Learner
}

// New returns the method of a learner on a kernel between the graphs of c, a learner
// that learns from kernel values. The
// collection keeps the values of every setting that is tried, n² numbers each.
func New(c *Collection, k *graphs.Kernel, l *classify.Learner) method.Declared {
	return &graphsMethod{
		Spec: spec.Spec{
			Name: k.Name + "+" + l.Name, Title: l.Title + ", on " + k.Title, Works: spec.Graphs,
			Params: slices.Concat(k.Params, l.Params),
		},
		collection: c, kernel: k, learner: l,
	}
}

// ValueBytes returns what methods of a kernel keep: the values between so many graphs, of
// all settings of the kernel that are tried beside the given ones.
func ValueBytes(graphs, settings int) int64 {
	return 8 * int64(graphs) * int64(graphs) * int64(settings)
}

// Name implements [method.Method].
func (m *graphsMethod) Name() string { return m.Spec.Name }

// Declarations implements [method.Declared].
func (m *graphsMethod) Declarations() []*spec.Spec { return []*spec.Spec{&m.Spec} }

// Tune implements [method.Method]: parameters are chosen inside each training set.
func (*graphsMethod) Tune(context.Context, *method.Problem, *validate.Splits, *method.Settings) (*method.Choice, error) {
	return nil, nil
}

// gram returns the values of the kernel with the given parameters, and all of these.
func (m *graphsMethod) gram(ctx context.Context, given spec.Values) (*classify.DenseGram[float64], spec.Values, error) {
	given = m.kernel.Spec.Own(given)
	c, text := m.collection, m.kernel.Name+" "+m.kernel.Text(given)
	c.making.Lock()
	defer c.making.Unlock()
	if v := c.made[text]; v != nil {
		return v.gram, v.values, nil
	}
	n := len(c.Graphs.Graphs)
	prepared, err := m.kernel.Prepare(ctx, c.Graphs, given, c.Kernel)
	if err != nil {
		return nil, nil, err
	}
	g := &classify.DenseGram[float64]{N: n, Stride: n, Data: make([]float64, n*n)}
	if err := prepared.RowsTo(ctx, sparse.BlockOf(n, n, g.Data), 0); err != nil {
		return nil, nil, err
	}
	if c.Cosine {
		diagonal := make([]float64, n)
		for i := range n {
			diagonal[i] = g.Data[i*n+i]
		}
		for i := range n {
			graphs.Cosine(g.Data[i*n:][:n], diagonal, i)
		}
	}
	if c.made == nil {
		c.made = map[string]*valued{}
	}
	c.made[text] = &valued{g, prepared.Values}
	return g, prepared.Values, nil
}

// Predict implements [method.Method]. Parameters are chosen by cross-validation, those of the
// kernel with the learner's defaults and then those of the learner.
func (m *graphsMethod) Predict(ctx context.Context, p *method.Problem, par *method.Parameters, s *method.Settings) (*method.Prediction, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	set := s.WithDefaults()
	out := &method.Prediction{Reached: roaring.New()}
	out.Reached.AddRange(0, uint64(len(p.Degrees)))
	r := &graphsRun{graphsMethod: m, p: p, fold: validate.Folds(p.Class, min(graphFolds, len(p.Class)), set.RNGSeed)}
	var chosen spec.Values
	if par != nil {
		chosen = par.Declared.Values
	} else {
		var err error
		if chosen, err = r.choose(ctx, set.Given, out); err != nil {
			return nil, err
		}
	}
	k, values, err := m.gram(ctx, chosen)
	if err != nil {
		return nil, err
	}
	learner, err := m.learner.Resolve(m.learner.Spec.Own(chosen), nil)
	if err != nil {
		return nil, err
	}
	out.Parameters = method.Parameters{Declared: &method.Setting{Spec: &m.Spec, Values: joined(values, learner)}}
	return out, r.scores(ctx, k, learner, out)
}

// graphFolds is the number of folds that parameters are chosen by.
const graphFolds = 5

// graphsRun makes one prediction.
type graphsRun struct {
	*graphsMethod
	p    *method.Problem
	fold []int // of each label
}

// joined returns the values of both, of one name those of b.
func joined(a, b spec.Values) spec.Values {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// choose returns the given values with those that have most right answers out of fold.
// With too few labels it takes the defaults.
func (r *graphsRun) choose(ctx context.Context, given spec.Values, out *method.Prediction) (spec.Values, error) {
	chosen := joined(r.kernel.Spec.Own(given), r.learner.Spec.Own(given))
	out.Settings = 1
	if validate.TooFew(r.p.Class) {
		return chosen, nil
	}
	c := r.collection
	for _, by := range []struct {
		*spec.Spec
		on spec.Graph
	}{{&r.kernel.Spec, r.kernel.On(ctx, c.Graphs, c.Kernel)}, {&r.learner.Spec, nil}} {
		choice, err := validate.Choose(ctx, by.Spec, by.Spec.Own(chosen), by.on, len(r.p.Row), func(ctx context.Context, settings []spec.Values) ([]int, error) {
			out.Settings *= len(settings)
			return r.right(ctx, chosen, settings)
		})
		if err != nil {
			return nil, err
		}
		chosen = joined(chosen, choice.Values)
		out.Accuracy, out.Stderr, out.Tested = choice.Accuracy, choice.Stderr, choice.Tested
	}
	return chosen, nil
}

// classes returns the class of every graph, −1 for those without a label and those in a
// fold, unless that is −1.
func (r *graphsRun) classes(without int) []int {
	y := make([]int, len(r.p.Degrees))
	for i := range y {
		y[i] = -1
	}
	for i, row := range r.p.Row {
		if without < 0 || r.fold[i] != without {
			y[row] = r.p.Class[i]
		}
	}
	return y
}

// right counts for each setting, beside the chosen values, the right answers out of fold.
// A learner that does not come to its tolerance has none.
func (r *graphsRun) right(ctx context.Context, chosen spec.Values, settings []spec.Values) ([]int, error) {
	hits := make([]int, len(settings))
	for s, v := range settings {
		values := joined(chosen, v)
		k, _, err := r.gram(ctx, values)
		if err != nil {
			return nil, err
		}
		learner, err := r.learner.Resolve(r.learner.Spec.Own(values), nil)
		if err != nil {
			return nil, err
		}
		for fold := range slices.Max(r.fold) + 1 {
			model, err := r.learner.Fit(ctx, k, r.classes(fold), len(r.p.Names), learner)
			if errors.Is(err, classify.ErrIterationLimit) {
				hits[s] = 0
				break
			}
			if err != nil {
				return nil, err
			}
			for i, row := range r.p.Row {
				if r.fold[i] == fold && model.Outputs().Predict(scoresOf(model, k, row)) == r.p.Class[i] {
					hits[s]++
				}
			}
		}
	}
	return hits, nil
}

// scoresOf returns the scores of a graph.
func scoresOf(m classify.Model, k *classify.DenseGram[float64], i int) []float64 {
	row := k.Data[i*k.Stride:][:k.N]
	return m.ScoresTo(nil, row, row[i])
}

// scores learns from all labels and gives every graph a class and probabilities, which are
// fitted to held-out labels where a learner has none of its own.
func (r *graphsRun) scores(ctx context.Context, k *classify.DenseGram[float64], v spec.Values, out *method.Prediction) error {
	n, classes := len(r.p.Degrees), len(r.p.Names)
	y := r.classes(-1)
	model, err := r.learner.Fit(ctx, k, y, classes, v)
	if errors.Is(err, classify.ErrIterationLimit) && model != nil {
		out.Unfinished = "the iteration limit came before the tolerance"
	} else if err != nil {
		return err
	}
	probabilities := r.learner.Probabilities
	if probabilities == nil {
		c, err := classify.Calibrate(ctx, r.learner, model, k, y, classes, v)
		if err != nil {
			return err
		}
		probabilities = c.ProbabilitiesTo
	}
	out.Class, out.Scores = make([]int, n), sparse.NewBlock[float32](n, classes)
	row := make([]float64, classes)
	for i := range n {
		scores := scoresOf(model, k, i)
		if out.Class[i] = model.Outputs().Predict(scores); y[i] >= 0 {
			out.Class[i] = y[i]
		}
		for c, x := range probabilities(row, scores) {
			out.Scores.Row(i)[c] = float32(x)
		}
	}
	return nil
}

// Sum returns a sum over all that the values between the graphs depend on beside the
// parameters of kernels and the number that randomness is drawn from.
func (c *Collection) Sum() string {
	h, all := sha256.New(), c.Graphs
	numbers := func(lists ...any) {
		for _, x := range lists {
			_ = binary.Write(h, binary.LittleEndian, x) // a hash takes all
		}
	}
	for _, texts := range [][]string{all.IDs, all.Labels, all.EdgeLabels} {
		fmt.Fprintf(h, "%q", texts)
	}
	numbers(c.Cosine, all.Directed, c.Kernel.Measure)
	if base := c.Kernel.Base; base != nil {
		numbers(base.Data)
	}
	for i := range all.Graphs {
		m := &all.Graphs[i]
		numbers(int64(m.Len()), int64(len(m.To)), m.Ptr, m.To, m.EdgeLabel, m.Label, m.Attributes)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

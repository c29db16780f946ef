package ongram

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
	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/kernel/graphs"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// Collection is a collection of graphs to classify: its graphs are the nodes of problems
// without edges, see [Collection.Problem].
type Collection struct {
	Graphs *graphfile.Collection
	Kernel *graphs.Settings

	making sync.Mutex
	cache  map[string]*kernelValues // by the kernel and its values, as far as they were given
}

// kernelValues are the values of a kernel between all graphs.
type kernelValues struct {
	gram   *sparse.Block[float64]
	values param.Values // of the kernel's parameters, complete
}

// Labels returns the classes that the collection says its graphs have, nil for none. file is
// what messages call it.
func (c *Collection) Labels(file string) *nodefile.Labels {
	if c.Graphs.Class == nil {
		return nil
	}
	l := &nodefile.Labels{File: file}
	number := map[string]int{}
	for i, name := range c.Graphs.Class {
		if name == "" {
			continue
		}
		class, isNumbered := number[name]
		if !isNumbered { // in the order of first appearance, as [nodefile.Labels.Sort] does
			class = len(l.Names)
			number[name] = class
			l.Names = append(l.Names, name)
		}
		l.Row, l.Class = append(l.Row, i), append(l.Class, class)
	}
	return l
}

// Problem returns the problem of classifying the graphs. Graph row[i] has class class[i].
func (c *Collection) Problem(row, class []int, names []string) (*method.Problem, error) {
	n := len(c.Graphs.Graphs)
	a, err := sparse.FromTriplets(n, n, nil)
	return &method.Problem{Graph: &graph.Graph{A: a, Degrees: make([]float64, n)}, Row: row, Class: class, Names: names}, err
}

// graphsMethod is a learner on a kernel between the graphs of a collection.
type graphsMethod struct {
	param.Spec // the parameters of the kernel, and then those of the learner
	collection *Collection
	kernel     *graphs.Kernel
	learner    *classify.Learner
}

// Method returns the method of a learner on a kernel between the graphs of c, a learner
// that learns from kernel values. The
// collection keeps the values of every setting that is tried, n² numbers each.
func (c *Collection) Method(k *graphs.Kernel, l *classify.Learner) method.Method {
	return &graphsMethod{
		Spec: param.Spec{
			Name: k.Name + "+" + l.Name, Title: l.Title + ", on " + k.Title, Works: param.Graphs,
			Params: slices.Concat(k.Params, l.Params),
		},
		collection: c, kernel: k, learner: l,
	}
}

// Name implements [method.Method].
func (m *graphsMethod) Name() string { return m.Spec.Name }

// Declarations implements [method.Method].
func (m *graphsMethod) Declarations() []*param.Spec { return []*param.Spec{&m.Spec} }

// Tune implements [method.Method]: parameters are chosen inside each training set.
func (*graphsMethod) Tune(context.Context, *method.Problem, *split.Splits, *method.Settings) (*method.Choice, error) {
	return nil, nil
}

// gram returns the values of the kernel with the given parameters, and all of these.
func (m *graphsMethod) gram(ctx context.Context, values param.Values) (*sparse.Block[float64], param.Values, error) {
	values = m.kernel.Spec.Own(values)
	c, text := m.collection, m.kernel.Name+" "+m.kernel.Text(values)
	c.making.Lock()
	defer c.making.Unlock()
	if v := c.cache[text]; v != nil {
		return v.gram, v.values, nil
	}
	n := len(c.Graphs.Graphs)
	prepared, err := m.kernel.Prepare(ctx, c.Graphs, values, c.Kernel)
	if err != nil {
		return nil, nil, err
	}
	g := sparse.BlockOf(n, n, make([]float64, n*n))
	if err := prepared.RowsTo(ctx, g, 0); err != nil {
		return nil, nil, err
	}
	if c.cache == nil {
		c.cache = map[string]*kernelValues{}
	}
	c.cache[text] = &kernelValues{g, prepared.Values}
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
	var chosen param.Values
	if par != nil {
		chosen = par.Declared.Values
	} else {
		search := &search{
			Kernel: &m.kernel.Spec, On: m.kernel.On(ctx, m.collection.Graphs, m.collection.Kernel), Learner: m.learner,
			Items: len(p.Degrees), Row: p.Row, Class: p.Class, Classes: len(p.Names), RNGSeed: set.RNGSeed,
			Gram: func(ctx context.Context, v param.Values) (classify.Gram, error) {
				k, _, err := m.gram(ctx, v)
				if err != nil {
					return nil, err
				}
				return classify.DenseGram(k), nil
			},
		}
		choice, err := search.choose(ctx, set.Given)
		if err != nil {
			return nil, err
		}
		chosen = choice.Values
		out.Settings, out.Accuracy, out.Stderr, out.Tested = choice.Settings, choice.Accuracy, choice.Stderr, choice.Tested
	}
	k, values, err := m.gram(ctx, chosen)
	if err != nil {
		return nil, err
	}
	learner, err := m.learner.Resolve(m.learner.Spec.Own(chosen), nil)
	if err != nil {
		return nil, err
	}
	settings := maps.Clone(values)
	maps.Copy(settings, learner)
	out.Parameters = method.Parameters{Declared: &method.Setting{Spec: &m.Spec, Values: settings}}
	return out, m.scores(ctx, p, k, learner, out)
}

// scores learns from all labels and gives every graph a class and what its scores say of
// each class, see learn. Where an iteration came to its limit these are votes.
func (m *graphsMethod) scores(ctx context.Context, p *method.Problem, k *sparse.Block[float64], v param.Values, out *method.Prediction) error {
	n, classes := len(p.Degrees), len(p.Names)
	y := slices.Repeat([]int{-1}, n)
	for i, row := range p.Row {
		y[row] = p.Class[i]
	}
	model, err := learn(ctx, m.learner, classify.DenseGram(k), y, classes, v, true)
	if model != nil && errors.Is(err, classify.ErrIterationLimit) {
		out.Unfinished = "the iteration limit came before the tolerance"
	} else if err != nil {
		return err
	}
	out.Class, out.Scores = make([]int, n), sparse.NewBlock[float32](n, classes)
	row := make([]float64, classes)
	for i := range n {
		values := k.Row(i)
		scores := model.ScoresTo(nil, values, values[i])
		if out.Class[i] = model.Pairs.Predict(scores); y[i] >= 0 {
			out.Class[i] = y[i]
		}
		simd.ConvertTo(out.Scores.Row(i), model.sharesTo(row, scores))
	}
	return nil
}

// Sum returns a checksum of everything that determines the values between the graphs, but for the
// parameters of kernels and the random seed.
func (c *Collection) Sum() string {
	h, collection := sha256.New(), c.Graphs
	numbers := func(lists ...any) {
		for _, x := range lists {
			_ = binary.Write(h, binary.LittleEndian, x) // a hash takes all
		}
	}
	for _, texts := range [][]string{collection.IDs, collection.Labels, collection.EdgeLabels} {
		fmt.Fprintf(h, "%q", texts)
	}
	numbers(c.Kernel.Cosine, collection.Directed, c.Kernel.Measure)
	if base := c.Kernel.Base; base != nil {
		numbers(base.Data)
	}
	for i := range collection.Graphs {
		m := &collection.Graphs[i]
		numbers(int64(m.Len()), int64(len(m.To)), m.Ptr, m.To, m.EdgeLabel, m.Label, m.Attributes)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

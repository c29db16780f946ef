package ongram

import (
	"context"
	"sync"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/papers/graphs"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// Collection is a collection of graphs to classify: its graphs are the items of problems.
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
		l.Row = append(l.Row, i)
		l.Class = append(l.Class, class)
	}
	return l
}

// Source returns the kernel between the graphs of c with a learner. The
// collection keeps the values of every setting that is compared, n² numbers each.
func (c *Collection) Source(k *graphs.Kernel, l *classify.Learner) *Source {
	s := newSource(param.Graphs, &k.Spec, l, len(c.Graphs.Graphs))
	s.graph = k.On(context.Background(), c.Graphs, c.Kernel)
	s.Calibrate = true
	s.gram = func(ctx context.Context, v param.Values, _ []int) (classify.Gram, param.Values, error) {
		gram, complete, err := c.gram(ctx, k, v)
		return classify.DenseGram(gram), complete, err
	}
	return s
}

// gram returns the values of the kernel with the given parameters, and all of these.
func (c *Collection) gram(ctx context.Context, k *graphs.Kernel,
	values param.Values) (*sparse.Block[float64], param.Values, error) {
	text := k.Name + " " + k.Text(values)
	c.making.Lock()
	defer c.making.Unlock()
	if v := c.cache[text]; v != nil {
		return v.gram, v.values, nil
	}
	n := len(c.Graphs.Graphs)
	prepared, err := k.Prepare(ctx, c.Graphs, values, c.Kernel)
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

// CollectionBytes is the memory of methods of every kernel with every learner on a collection
// of the given shape whose graphs have classes, with the given parameters of both: the values
// between all graphs, n² numbers for each setting of a kernel, and the largest of the blocks
// that these are computed from and of a fit. c, if not nil, is the collection itself.
func CollectionBytes(ctx context.Context, s *graphfile.Shape,
	c *graphfile.Collection, kernels []*graphs.Kernel, learners []*classify.Learner,
	values param.Values, classes, workers int) (bytes int64, err error) {
	var largest int64
	for _, k := range kernels {
		settings, err := split.Settings(&k.Spec, k.Own(values), nil)
		if err != nil {
			return 0, err
		}
		n := int64(s.Graphs)
		bytes += 8 * n * n * int64(len(settings))
		for _, v := range settings {
			need, err := k.Bytes(ctx, s, c, v, workers)
			if err != nil {
				return 0, err
			}
			largest = max(largest, need)
		}
	}
	for _, l := range learners {
		largest = max(largest, l.FitBytes(s.Graphs, classes))
	}
	return bytes + largest + (graphBytes+4*int64(classes))*int64(s.Graphs), nil
}

// graphBytes is the memory of a graph in addition to its probabilities: its class, its place in
// training and test sets, its predicted class and its place in a ranking.
const graphBytes = 112

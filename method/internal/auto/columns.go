package auto

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"

	"gonum.org/v1/gonum/floats"
)

// sharedFilters are the filters of shared columns. A shared column has a value for each class, and one weight for all
// classes.
var sharedFilters = []filter{decay85, decay95, source}

// nearFilters are filters of shared columns too if there are at least nearLabels labels, enough to learn a weight for each
// step.
var nearFilters = []filter{first, second}

const nearLabels = 1000

// freeFilters are the filters of free columns. Free columns have a weight for each pair of classes, and so learn which
// classes are adjacent.
var freeFilters = []filter{first, second, third, fourth}

const (
	priorMass = 0.05 // ε of shares, relative to the mean mass of a filter

	sharedLimit = 5 // shared columns are clipped to ±5 root mean squares
	freeLimit   = 6 // free columns are clipped to ±6 standard deviations
)

// columns computes the inputs of models. The shared columns of node v and class c begin with the scores (q_c − ȳ_c·Σq)/(Σq +
// ε) of Poisson learning, for the values q of the filter source. Next is log(share_c/π_c) for each shared filter, where
//
//	share_c = (q_c + ε·π_c)/(Σ_c q_c + ε)
//
// for the values q of the filter. The last shared column is log π_c less its mean. The free columns are the shares of the
// free filters, and the [graphColumns], which do not depend on labels.
type columns struct {
	design  *design
	classes int
	prior   []float64 // π_c = (N_c + 1)/(m + k)
	share   []float64 // ȳ_c = N_c/m
	logs    []float64 // log π_c less its mean
	epsilon [filters]float64

	graph *graphColumns // nil: none

	sharedScale []float64 // 1 / root mean square of each shared column
	mean, scale []float64 // mean and 1 / standard deviation of each free column
}

// newColumns returns the columns of walks w for count[c] labels of class c. It measures the scales at a sample of the nodes.
func newColumns(ctx context.Context, in *input, count []float64, w *walkFeatures,
	graph *graphColumns) (*columns, error) {
	p := in.p
	c := (&columns{design: &in.design, classes: len(in.p.Names), graph: graph}).withCounts(count)
	if err := c.measureMass(ctx, p, w, in.set.Workers); err != nil {
		return nil, err
	}
	return c, c.measureSpread(ctx, p, w, in.set.Workers)
}

// withCounts returns a copy of c whose class shares follow from count, the number of labels of each class.
func (c *columns) withCounts(count []float64) *columns {
	k := c.classes
	out := *c
	out.prior = make([]float64, k)
	out.share = make([]float64, k)
	out.logs = make([]float64, k)
	total := floats.Sum(count)
	mean := 0.0
	for class, labels := range count {
		out.prior[class] = (labels + 1) / (total + float64(k))
		out.share[class] = labels / total
		out.logs[class] = math.Log(out.prior[class])
		mean += out.logs[class] / float64(k)
	}
	for class := range out.logs {
		out.logs[class] -= mean
	}
	return &out
}

func (c *columns) of(row []float32, f filter) []float32 {
	return row[c.design.position(f)*c.classes:][:c.classes]
}

// measureMass computes ε of each filter from a sample of the nodes.
func (c *columns) measureMass(ctx context.Context, p *problem.Problem,
	w *walkFeatures, workers int) error {
	total, err := blocks.NodeSums(ctx, p.Team(), workers, len(p.Degrees), 2*filters, func(sums []float64, lo, hi int) {
		for v := lo; v < hi; v++ {
			if !isMeasured(p, v) {
				continue
			}
			row := w.row(v)
			for _, f := range c.design.filters {
				if mass := massOf(c.of(row, f)); mass > leastMass {
					sums[2*f] += mass
					sums[2*f+1]++
				}
			}
		}
	})
	for f := range c.epsilon {
		c.epsilon[f] = 1
		if total[2*f+1] > 0 {
			c.epsilon[f] = priorMass * total[2*f] / total[2*f+1]
		}
	}
	return err
}

const mostMeasured = 8192

func isMeasured(p *problem.Problem, v int) bool {
	return p.Team().Row(v)%(1+p.Nodes()/mostMeasured) == 0
}

const leastMass = 1e-12

func massOf(values []float32) (sum float64) {
	for _, v := range values {
		sum += float64(v)
	}
	return sum
}

// measureSpread computes the scales of all columns from a sample of the nodes.
func (c *columns) measureSpread(ctx context.Context, p *problem.Problem,
	w *walkFeatures, workers int) error {
	shared := c.design.sharedCount()
	free := c.freeCount()
	total, err := blocks.NodeSums(ctx, p.Team(), workers, len(p.Degrees), 1+shared+2*free, func(sums []float64, lo, hi int) {
		s := make([]float64, shared*c.classes)
		x := make([]float64, free)
		squares := sums[1 : 1+shared]
		means := sums[1+shared : 1+shared+free]
		spreads := sums[1+shared+free:]
		for v := lo; v < hi; v++ {
			if p.Degrees[v] == 0 || !isMeasured(p, v) {
				continue
			}
			sums[0]++
			row := w.row(v)
			c.rawShared(s, row)
			for i, y := range s {
				squares[i/c.classes] += float64(y * y)
			}
			c.rawFree(x, row, v)
			for i, y := range x {
				means[i] += y
				spreads[i] += float64(y * y)
			}
		}
	})
	count := max(1, total[0])
	c.sharedScale = make([]float64, shared)
	c.mean = make([]float64, free)
	c.scale = make([]float64, free)
	for i := range shared {
		c.sharedScale[i] = 1 / math.Sqrt(total[1+i]/(count*float64(c.classes))+1e-9)
	}
	for i := range free {
		c.mean[i] = total[1+shared+i] / count
		variance := total[1+shared+free+i]/count - float64(c.mean[i]*c.mean[i])
		c.scale[i] = 1 / (math.Sqrt(max(0, variance)) + 1e-6)
	}
	return err
}

func (c *columns) freeCount() int {
	count := len(c.design.free) * c.classes
	if c.graph != nil {
		count += c.graph.count()
	}
	return count
}

func (c *columns) sharesTo(dst []float64, row []float32, f filter) {
	values := c.of(row, f)
	mass := massOf(values)
	epsilon := c.epsilon[f]
	for class, v := range values {
		dst[class] = (float64(v) +
			float64(epsilon*c.prior[class])) / (mass + epsilon)
	}
}

func (c *columns) poissonTo(dst []float64, row []float32) {
	values := c.of(row, source)
	mass := massOf(values)
	for class, v := range values {
		dst[class] = (float64(v) - float64(c.share[class]*mass)) / (mass +
			c.epsilon[source])
	}
}

// rawShared stores in dst the unscaled shared columns of a node, k values for each column. row is the node's row of walks.
func (c *columns) rawShared(dst []float64, row []float32) {
	k := c.classes
	c.poissonTo(dst[:k], row)
	dst = dst[k:]
	for _, f := range c.design.shared {
		c.sharesTo(dst[:k], row, f)
		for class, v := range dst[:k] {
			dst[class] = math.Log(v / c.prior[class])
		}
		dst = dst[k:]
	}
	copy(dst, c.logs)
}

func (c *columns) sharedTo(dst []float64, row []float32) {
	c.rawShared(dst, row)
	for i, v := range dst {
		dst[i] = clip(v*c.sharedScale[i/c.classes], sharedLimit)
	}
}

func (c *columns) rawFree(dst []float64, row []float32, v int) {
	k := c.classes
	for i, f := range c.design.free {
		c.sharesTo(dst[i*k:][:k], row, f)
	}
	if c.graph != nil {
		c.graph.rowTo(dst[len(c.design.free)*k:], v)
	}
}

func (c *columns) freeTo(dst []float64, row []float32, v int) {
	c.rawFree(dst, row, v)
	for i, x := range dst {
		dst[i] = clip((x-c.mean[i])*c.scale[i], freeLimit)
	}
}

func clip(x, limit float64) float64 {
	return max(-limit, min(x, limit))
}

// degree returns a standardized column of node v: log(1 + degree) for index 0, log(1 + mean degree of the neighbours) for
// index 1.
func (c *columns) degree(v, index int) float64 {
	values := make([]float64, structureColumns)
	c.graph.structureTo(values, v)
	column := len(c.design.free)*c.classes + 2*index
	return clip((values[2*index]-c.mean[column])*c.scale[column], freeLimit)
}

const structureColumns = 4

// graphColumns computes the columns that do not depend on labels: log(1 + d) of a node, log(1 + mean d) of its neighbours,
// the squares of both, and the columns of [arcs] in directed graphs. Degrees d are in units of the mean weight.
type graphColumns struct {
	degrees          []float64
	unit             float64
	neighbourDegrees []float32 // log(1 + mean degree) of the neighbours
	arcs             *arcs
}

func newGraphColumns(ctx context.Context, p *problem.Problem, workers int,
	work *graph.Work) (*graphColumns, error) {
	n := len(p.Degrees)
	g := &graphColumns{degrees: p.Degrees, unit: blocks.WeightUnit(p.A, p.Degrees),
		neighbourDegrees: make([]float32, n)}
	means := sparse.NewBlock[float64](n, 1)
	op := sparse.NewOperator[float64](sparse.Transition, p.A, p.Degrees)
	op.Workers = workers
	if err := op.ApplyTo(ctx, means, sparse.BlockOf(n, 1, p.Degrees)); err != nil {
		return nil, err
	}
	work.Sweeps++
	for v := range n {
		g.neighbourDegrees[v] = float32(math.Log1p(means.Row(v)[0] / g.unit))
	}
	return g, nil
}

func (g *graphColumns) count() int {
	count := structureColumns
	if g.arcs != nil {
		count += arcColumns
	}
	return count
}

func (g *graphColumns) structureTo(dst []float64, v int) {
	degree := math.Log1p(g.degrees[v] / g.unit)
	neighbours := float64(g.neighbourDegrees[v])
	dst[0] = degree
	dst[1] = degree * degree
	dst[2] = neighbours
	dst[3] = neighbours * neighbours
}

func (g *graphColumns) rowTo(dst []float64, v int) {
	g.structureTo(dst, v)
	dst = dst[structureColumns:]
	if g.arcs != nil {
		// The columns are log(1 + d) and its square, for the arcs that leave v and then for the arcs that enter v.
		// d is the sum of weights in units of the mean weight.
		for i, degrees := range g.arcs.degrees {
			d := math.Log1p(degrees[v] / g.arcs.unit)
			dst[2*i] = d
			dst[2*i+1] = d * d
		}
	}
}

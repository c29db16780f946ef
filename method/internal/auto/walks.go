package auto

import (
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

const (
	slabColumns = 64 // columns that are swept together; more do not save time per column
	cacheLine   = 16 // float32 in a cache line; a narrower slab reads as many lines
	leastWidth  = 4
)

// slabWidth returns the number of columns of a slab: slabColumns, or fewer if count blocks of n rows would exceed the limit.
// Results do not depend on the width.
func slabWidth(limit int64, n, count int) int {
	if limit <= 0 {
		return slabColumns
	}
	width := min(slabColumns, limit/max(1, 4*int64(n)*int64(count)))
	lanes := int64(cacheLine)
	for lanes > leastWidth && width < lanes {
		lanes /= 2
	}
	return int(max(leastWidth, width/lanes*lanes))
}

// walk computes all filters, for the cells of a few classes at a time. The walks from the cells of a class add up to the
// walk from all labels of the class. Cost: a sweep for each slab and step.
func (s *seeds) walk(ctx context.Context) (w *walkFeatures, err error) {
	in := s.in
	n := len(in.p.Degrees)
	k := len(in.p.Names)
	filters := len(in.filters)
	w = &walkFeatures{honest: newBlock(len(in.places),
		filters*len(s.cells))}
	if w.rowStore, err = in.files.newStore(filters * k); err != nil {
		return nil, err
	}
	count := 2
	if in.files != nil { // the sums are written to a file afterwards
		count += len(in.filters)
	}
	width := slabWidth(in.memory, n, count)
	for first := 0; first < k; {
		last := first + 1 // end of the classes with at most width cells
		for last < k && last-first < width &&
			s.start[last+1]-s.start[first] <= width {
			last++
		}
		c := &classSlab{s, first, last,
			newBlock(n, filters*(last-first))}
		columns := max(1, s.start[last]-s.start[first])
		x := [2]*featureBlock{sparse.NewBlock[float32](n, columns),
			sparse.NewBlock[float32](n, columns)}
		for i, pass := range s.walks() {
			if err := c.walk(ctx, w, pass, x, i == 0); err != nil {
				return nil, err
			}
		}
		if err := w.putSlab(first, k, c.sum); err != nil {
			return nil, err
		}
		first = last
	}
	return w, nil
}

// walks returns the kinds of walks: on the graph without directions, and, for directed graphs, along and
// against arcs.
func (s *seeds) walks() []walk {
	op := sparse.NewOperator[float32](sparse.Transition, s.in.p.A, s.in.p.Degrees)
	op.Workers = s.in.set.Workers
	list := []walk{{op, s.steps, stepWeights}}
	if slices.Contains(s.in.filters, alongArcs) {
		list = append(list, walk{s.in.arcs.step[0], arcSteps,
			arcWeights(alongArcs)},
			walk{s.in.arcs.step[1], arcSteps, arcWeights(againstArcs)})
	}
	return list
}

// walk is one kind of walk: on edges, along arcs or against arcs. weights(j) returns the weight of step j in each filter.
type walk struct {
	op      *sparse.Operator[float32]
	steps   int
	weights func(j int) weights
}

type classSlab struct {
	*seeds
	first, last int
	sum         *featureBlock // sums of filters × classes by node
}

// walk adds all steps of pass to c.sum and to the honest rows of learned labels. x is workspace. If reports is set, walk
// reports progress.
func (c *classSlab) walk(ctx context.Context, w *walkFeatures, pass walk,
	x [2]*featureBlock, reports bool) error {
	first := c.start[c.first]
	columns := x[0].Cols
	if c.start[c.last] == first {
		return nil
	}
	clear(x[0].Data)
	for i, row := range c.in.p.Row {
		if column := c.cell[i] - first; column >= 0 && column < columns {
			x[0].Row(row)[column] = c.startAt(row)
		}
	}
	for _, row := range c.in.p.Row {
		c.addStep(w, x[0], sparse.Rows{Lo: row, Hi: row + 1}, pass.weights(0))
	}
	for j := 1; j <= pass.steps; j++ {
		weight := pass.weights(j)
		err := pass.op.StepTo(ctx, x[1], x[0],
			sparse.Step[float32]{Alpha: 1,
				Visit: func(rows sparse.Rows) { c.addStep(w, x[1], rows, weight) }})
		if err != nil {
			return err
		}
		x[0], x[1] = x[1], x[0]
		if reports {
			c.in.reportProgress(stageWalk, first*c.steps+j*columns,
				len(c.cells)*c.steps)
		}
	}
	c.in.work.Sweeps += pass.steps
	return nil
}

// isZero reports whether all numbers have no bits. Walks have not reached most nodes of a road map yet.
func isZero(x []float32) bool {
	bits := math.Float32bits
	for ; len(x) >= 8; x = x[8:] {
		y := (*[8]float32)(x)
		if bits(y[0])|bits(y[1])|bits(y[2])|bits(y[3])|bits(y[4])|bits(y[5])|bits(y[6])|bits(y[7]) != 0 {
			return false
		}
	}
	return !slices.ContainsFunc(x, func(y float32) bool { return y != 0 })
}

// addStep adds weight·m(v) to the sums of every filter at nodes v of rows, where m(v) is the mass of each class at v: the
// sum of x over the cells of the class.
func (c *classSlab) addStep(w *walkFeatures, x *featureBlock, rows sparse.Rows,
	weight weights) {
	start, scale := c.scaleOf(weight)
	if len(scale) == 0 {
		return
	}
	first := c.start[c.first]
	mass := make([]float32, c.last-c.first)
	for v := rows.Lo; v < rows.Hi; v++ {
		row := x.Row(v)
		if isZero(row) {
			continue
		}
		for i := range mass {
			sum := float32(0)
			for _, y := range row[c.start[c.first+i]-first : c.start[c.first+i+1]-first] {
				sum += y
			}
			mass[i] = sum
		}
		sums := simd.Rows[float32]{Data: c.sum.Row(v)[start*len(mass):],
			Stride: len(mass)}
		simd.AddRows(sums, len(scale), len(mass), sums, scale,
			simd.Rows[float32]{Data: mass})
	}
	c.addHonest(w, x, first, rows, start, scale)
}

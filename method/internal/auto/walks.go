package auto

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/internal/chunks"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

const (
	slabColumns = 64 // columns that are swept together, because the time of a sweep grows in proportion to more
	cacheLine   = 16 // of float32; narrower slabs read as many lines, so that they take longer
	leastWidth  = 4
)

// slabWidth returns the number of columns that are swept together: slabColumns, or fewer within a limit for the given
// bytes of each. The results are the same.
func slabWidth(limit, bytes int64) int {
	if limit <= 0 {
		return slabColumns
	}
	width, lanes := min(slabColumns, limit/max(1, bytes)), int64(cacheLine)
	for lanes > leastWidth && width < lanes {
		lanes /= 2
	}
	return int(max(leastWidth, width/lanes*lanes))
}

// walk returns the filters of all walks. The columns are the groups of some classes at a time; the sum of the groups of
// a class is the walk from all its labels. Cost: as many sweeps as steps for each slab of columns.
func (s *seeds) walk(ctx context.Context) (w *walkFeatures, err error) {
	in := s.in
	n, k, filters := len(in.p.Degrees), len(in.p.Names), len(in.filters)
	w = &walkFeatures{honest: chunks.Block[float32](len(in.places), filters*len(s.cells))}
	if w.rowStore, err = in.files.newStore(filters * k); err != nil {
		return nil, err
	}
	width := slabWidth(in.memory, walkBytes(n, 1, filters, in.files != nil))
	for c := (&classSlab{seeds: s}); c.first < k; {
		last, end := c.extend(width)
		c.sum, c.ends = chunks.Block[float32](n, filters*(last-c.first)), make([]int, last-c.first)
		for i, g := range s.groups[c.group:end] {
			for class := g.class; class < last; class++ { // also those without labels
				c.ends[class-c.first] = i + 1
			}
		}
		columns := max(1, end-c.group)
		x := [2]*sparse.Block[float32]{sparse.NewBlock[float32](n, columns), sparse.NewBlock[float32](n, columns)}
		for i, pass := range s.walks() {
			if err := c.walk(ctx, w, pass, x, i == 0); err != nil {
				return nil, err
			}
		}
		if err := w.put(c.first, k, c.sum); err != nil {
			return nil, err
		}
		c.first, c.group = last, end
	}
	return w, nil
}

// walkBytes returns the size of the blocks of a slab of walks from the labels of the given number of groups, with sums
// that are stored in a file afterwards or without.
func walkBytes(n, groups, filters int, sums bool) int64 {
	return int64(n) * 4 * int64(groups) * (2 + boolean(sums)*int64(filters))
}

// mostGroups returns the largest number of groups of a class.
func mostGroups(p *problem.Problem, folds int) int {
	if !areSingle(len(p.Row), len(p.Names), folds) {
		return folds
	}
	return int(slices.Max(choose.CountsOf(p)))
}

// walks returns the kinds of walks: those on the graph without directions, and those along arcs and against
// them.
func (s *seeds) walks() []walk {
	op := sparse.NewOperator[float32](sparse.Transition, s.in.p.A, s.in.p.Degrees)
	op.Workers = s.in.set.Workers
	list := []walk{{op, s.steps, stepWeights}}
	if slices.Contains(s.in.filters, alongArcs) {
		list = append(list, walk{s.in.arcs.step[0], arcSteps, arcWeights(alongArcs)}, walk{s.in.arcs.step[1], arcSteps, arcWeights(againstArcs)})
	}
	return list
}

// walk is one kind of walk. Its step j adds to each filter with the weights of j.
type walk struct {
	op      *sparse.Operator[float32]
	steps   int
	weights func(j int) weights
}

// classSlab is walks from the labels of some classes.
type classSlab struct {
	*seeds
	first, group int                    // the first class, the first group
	ends         []int                  // of each class, the end of its groups
	sum          *sparse.Block[float32] // filters × classes
}

// extend returns the ends of the classes and of the groups from the first ones on with at most width columns, or of one
// class.
func (c *classSlab) extend(width int) (last, end int) {
	last, end = c.first, c.group
	for next := end; last < len(c.labels) && last-c.first < width; last, end = last+1, next {
		for next < len(c.groups) && c.groups[next].class == last {
			next++
		}
		if last > c.first && next-c.group > width {
			break
		}
	}
	return last, end
}

// walk adds all steps of a kind of walk to the sums of classes, and to the rows of learned labels. It overwrites both
// blocks.
func (c *classSlab) walk(ctx context.Context, w *walkFeatures, pass walk, x [2]*sparse.Block[float32], reports bool) error {
	groups := x[0].Cols
	if c.ends[len(c.ends)-1] == 0 {
		return nil
	}
	clear(x[0].Data)
	for i, row := range c.in.p.Row {
		if column := c.seeds.group[i] - c.group; column >= 0 && column < groups {
			x[0].Row(row)[column] = c.startAt(row)
		}
	}
	for _, row := range c.in.p.Row {
		c.add(w, x[0], sparse.Rows{Lo: row, Hi: row + 1}, pass.weights(0))
	}
	for j := 1; j <= pass.steps; j++ {
		weight := pass.weights(j)
		err := pass.op.StepTo(ctx, x[1], x[0], sparse.Step[float32]{Alpha: 1, Visit: func(rows sparse.Rows) { c.add(w, x[1], rows, weight) }})
		if err != nil {
			return err
		}
		x[0], x[1] = x[1], x[0]
		if reports {
			c.in.reportProgress(stageWalk, c.group*c.steps+j*groups, len(c.groups)*c.steps)
		}
	}
	c.in.work.Add(problem.Work{Sweeps: pass.steps, EntryColumns: int64(pass.steps) * sparse.EntriesOf(pass.op.A) * int64(groups)})
	return nil
}

// add adds a step at some rows.
func (c *classSlab) add(w *walkFeatures, x *sparse.Block[float32], rows sparse.Rows, weight weights) {
	start, scale := c.scaleOf(weight)
	if len(scale) == 0 {
		return
	}
	mass := make([]float32, len(c.ends))
	for v := rows.Lo; v < rows.Hi; v++ {
		row := x.Row(v)
		if !slices.ContainsFunc(row, func(y float32) bool { return y != 0 }) {
			continue
		}
		group := 0
		for class, end := range c.ends {
			sum := float32(0)
			for _, y := range row[group:end] {
				sum += y
			}
			mass[class], group = sum, end
		}
		sums := simd.Rows[float32]{Data: c.sum.Row(v)[start*len(mass):], Stride: len(mass)}
		simd.AddRows(sums, len(scale), len(mass), sums, scale, simd.Rows[float32]{Data: mass})
	}
	c.addHonest(w, x, c.group, rows, start, scale)
}

package auto

import (
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/method/internal/chunks"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// walkScores are the parts of the scores that columns of walks have, of each component of a mixture.
type walkScores struct {
	scores  []*sparse.Block[float32] // a row for each node; nil: the component has no column of walks
	visited []bool                   // nodes that walks reach

	believed *sparse.Block[float32] // beliefs of each node; nil: none
}

// direct reports whether a filter is a single step of a walk, so that it needs no block of its own.
func (f filter) direct() bool { return f >= first }

// walkPass is a walk with a column for each class, and the filters that are summed on its way.
type walkPass struct {
	walk
	filters []filter // each has a block of sums
	directs []filter
}

// passes returns the walks for the filters that a mixture uses.
func (m *model) passes() (list []walkPass) {
	walks := m.features.seeds.walks()
	pass := walkPass{walk: walks[0]}
	var summed []filter
	for f, isUsed := range m.usedFilters() {
		switch {
		case !isUsed:
		case filter(f) >= alongArcs:
			w := walks[1]
			if filter(f) >= againstArcs {
				w = walks[2]
			}
			if last := len(list) - 1; last >= 0 && list[last].op == w.op {
				list[last].directs = append(list[last].directs, filter(f))
			} else {
				list = append(list, walkPass{walk: w, directs: []filter{filter(f)}})
			}
		case filter(f).direct():
			pass.directs = append(pass.directs, filter(f))
		default:
			summed = append(summed, filter(f))
		}
	}
	width := summedFilters(len(m.features.in.p.Degrees), m.features.columns.classes)
	for len(summed) > 0 {
		pass.filters = summed[:min(len(summed), width)]
		list = append(list, pass)
		summed, pass.directs = summed[len(pass.filters):], nil
	}
	return list
}

// summedValues bounds the sums of filters of one walk.
const summedValues = 1 << 26

// summedFilters returns the largest number of filters that are summed in one walk.
func summedFilters(n, classes int) int {
	return int(max(1, min(int64(filters), summedValues/(int64(n)*int64(classes)+1))))
}

// columnsOf returns the number of classes that walk together: all if a filter is not summed, which needs all
// classes of a node at once.
func columnsOf(classes int, hasDirects bool) int {
	if hasDirects {
		return classes
	}
	return min(classes, walkColumns)
}

// walks reports whether a component has columns of walks.
func (m *model) walks(c component) bool {
	return c.setting < 0 || c.model != nil && !m.settings[c.setting].candidate.isAlone
}

// usedFilters reports which filters the mixture uses. The filter source shows which nodes are visited.
func (m *model) usedFilters() (uses [filters]bool) {
	columns := m.features.columns
	uses[source] = true
	for _, c := range m.mixture {
		if c.setting < 0 || !m.walks(c) {
			continue
		}
		for _, f := range columns.design.shared {
			uses[f] = true
		}
		if m.settings[c.setting].candidate.free {
			for _, f := range columns.design.free {
				uses[f] = true
			}
		}
	}
	return uses
}

// predictionBytes is the memory of a prediction by a number of components with columns of walks, without features.
func predictionBytes(d *design, n, classes, components int) int64 {
	walked := 2 * blocks.BlockBytes[float32](n, columnsOf(classes, len(d.free) > 0))
	summed := min(len(d.filters), summedFilters(n, classes))
	return int64(max(1, components)+summed)*chunks.Bytes[float32](n, classes) + walked + 9*int64(n)
}

// walkScores makes the walks and returns the scores.
func (m *model) walkScores(ctx context.Context) (*walkScores, error) {
	in := m.features.in
	n, k := len(in.p.Degrees), len(in.p.Names)
	w := &walkScores{scores: make([]*sparse.Block[float32], len(m.mixture)), visited: make([]bool, n)}
	var list []*filterScores
	for i, c := range m.mixture {
		if m.walks(c) {
			w.scores[i] = chunks.Block[float32](n, k)
			chosen := candidate{}
			if c.setting >= 0 {
				chosen = m.settings[c.setting].candidate
			}
			list = append(list, &filterScores{columns: m.features.columns, candidate: chosen, model: c.model, dst: w.scores[i], first: m.firstShared(chosen)})
		}
	}
	if len(list) == 0 && m.features.attributes != nil {
		return w, nil
	}
	for _, pass := range m.passes() {
		if err := m.walkPass(ctx, &pass, w, list); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// firstShared returns the position of Poisson learning among the shared columns of a candidate.
func (m *model) firstShared(c candidate) int {
	first := 0
	if c.attributes {
		first += m.features.attributes.blocks
	}
	if c.links {
		first += m.features.links.blocks
	}
	return first
}

// walkPass makes one walk and adds its filters to the scores.
func (m *model) walkPass(ctx context.Context, pass *walkPass, w *walkScores, list []*filterScores) error {
	n, k := len(m.features.in.p.Degrees), len(m.features.in.p.Names)
	sums := make([]*sparse.Block[float32], len(pass.filters))
	for i := range sums {
		sums[i] = chunks.Block[float32](n, k)
	}
	width := columnsOf(k, len(pass.directs) > 0)
	for lo := 0; lo < k; lo += width {
		if err := m.walkClasses(ctx, pass, sums, list, lo, min(k, lo+width)); err != nil {
			return err
		}
	}
	return chunks.Run(ctx, m.features.in.set.Workers, n, func(_, lo, hi int) {
		q := newScratch(k)
		for v := lo; v < hi; v++ {
			for i, f := range pass.filters {
				values := sums[i].Row(v)
				if f == source {
					w.visited[v] = massOf(values) > leastMass
				}
				for _, scores := range list {
					scores.add(v, f, values, q)
				}
			}
		}
	})
}

// walkClasses makes a walk from the labels of the classes lo ≤ c < hi and adds its steps to the sums.
func (m *model) walkClasses(ctx context.Context, pass *walkPass, sums []*sparse.Block[float32], list []*filterScores, lo, hi int) error {
	in, s := m.features.in, m.features.seeds
	n, k := len(in.p.Degrees), len(in.p.Names)
	x, next := sparse.NewBlock[float32](n, hi-lo), sparse.NewBlock[float32](n, hi-lo)
	for i, row := range in.p.Row {
		if c := in.p.Class[i]; lo <= c && c < hi {
			x.Row(row)[c-lo] = s.startAt(row)
		}
	}
	add := func(v int, values []float32, weight weights, q *scratch) {
		visited := slices.ContainsFunc(values, func(x float32) bool { return x != 0 })
		for i, f := range pass.filters {
			if c := weight[f]; c != 0 && visited {
				sum := sums[i].Row(v)[lo:hi]
				for class, x := range values {
					sum[class] += float32(c * x)
				}
			}
		}
		for _, f := range pass.directs {
			if weight[f] != 0 {
				for _, scores := range list {
					scores.add(v, f, values, q)
				}
			}
		}
	}
	start := newScratch(k)
	for _, row := range in.p.Row {
		add(row, x.Row(row), pass.weights(0), start)
	}
	for j := 1; j <= pass.steps; j++ {
		weight := pass.weights(j)
		err := pass.op.StepTo(ctx, next, x, sparse.Step[float32]{Alpha: 1, Visit: func(rows sparse.Rows) {
			q := newScratch(k)
			for v := rows.Lo; v < rows.Hi; v++ {
				add(v, next.Row(v), weight, q)
			}
		}})
		if err != nil {
			return err
		}
		x, next = next, x
		in.reportProgress(stageWalk, pass.steps*lo+j*(hi-lo), pass.steps*k)
	}
	in.work.Add(problem.Work{Sweeps: pass.steps, EntryColumns: int64(pass.steps) * sparse.EntriesOf(pass.op.A) * int64(hi-lo)})
	return nil
}

// scratch holds the columns of one filter at one node.
type scratch struct{ shares, free []float64 }

func newScratch(classes int) *scratch {
	return &scratch{make([]float64, classes), make([]float64, classes)}
}

// filterScores adds columns of walks, multiplied by the weights of a component, to its scores.
type filterScores struct {
	columns   *columns
	candidate candidate
	model     *classify.LinearModel // nil: Poisson learning
	first     int                   // of the shared columns of walks
	dst       *sparse.Block[float32]
}

// add adds the columns of one filter at node v.
func (s *filterScores) add(v int, f filter, values []float32, q *scratch) {
	c, row, k := s.columns, s.dst.Row(v), s.columns.classes
	if f == source {
		c.poissonTo(q.shares, values)
		for class, y := range q.shares {
			if s.model == nil {
				row[class] += float32(sharpness * c.sharedScale[0] * y)
			} else {
				row[class] += float32(s.model.Shared[s.first] * clip(y*c.sharedScale[0], sharedLimit))
			}
		}
	}
	if s.model == nil {
		return
	}
	shared, free := slices.Index(c.design.shared, f), -1
	if s.candidate.free {
		free = slices.Index(c.design.free, f)
	}
	if shared < 0 && free < 0 {
		return
	}
	c.sharesTo(q.shares, values, f)
	if shared >= 0 {
		weight, scale := s.model.Shared[s.first+1+shared], c.sharedScale[1+shared]
		for class, y := range q.shares {
			row[class] += float32(weight * clip(math.Log(y/c.prior[class])*scale, sharedLimit))
		}
	}
	if free < 0 {
		return
	}
	offset := free * k
	for class, y := range q.shares {
		q.free[class] = clip((y-c.mean[offset+class])*c.scale[offset+class], freeLimit)
	}
	for a := range row {
		sum := 0.0
		for class, weight := range s.model.Weights[a*s.model.Features+offset:][:k] {
			sum += float64(weight * q.free[class])
		}
		row[a] += float32(sum)
	}
}

// sharedWithoutWalks stores the shared columns of a node with 0 in those of walks.
func (c *columns) sharedWithoutWalks(dst, diffusion []float64) {
	k := c.classes
	walked := (1 + len(c.design.shared)) * k
	clear(dst[:walked])
	c.kernelsTo(dst[walked:], diffusion)
	for i := walked; i < len(dst); i++ {
		dst[i] = clip(dst[i]*c.sharedScale[i/k], sharedLimit)
	}
}

// freeWithoutWalks stores the free columns of node v with 0 in those of walks.
func (c *columns) freeWithoutWalks(dst []float64, v int) {
	walked := len(c.design.free) * c.classes
	clear(dst[:walked])
	if c.graph == nil {
		return
	}
	c.graph.rowTo(dst[walked:], v)
	for i := walked; i < len(dst); i++ {
		dst[i] = clip((dst[i]-c.mean[i])*c.scale[i], freeLimit)
	}
}

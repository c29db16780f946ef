package auto

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/internal/chunks"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/sparse"
)

// A filter is a weighted sum over the steps j of an unabsorbed walk from labels:
//
//	Σ_j c_j·T^j·D⁻¹·Y
//
// where Y has a one for the class of each label: the sums of PageRank from the labels.
type filter int

const (
	decay85 filter = iota // c_j = 0.85^j
	decay95               // 0.95^j
	source                // 1: Poisson learning
	first                 // 1 for j = 1 alone
	second                // and so on
	third
	fourth
	undirectedFilters int = iota
)

// Filters of walks along the arcs of a directed graph, and against them, one step of arcSteps
// each.
const (
	alongArcs       = filter(undirectedFilters)
	againstArcs     = alongArcs + arcSteps
	arcSteps        = 4
	filters     int = int(againstArcs) + arcSteps
)

// walkSteps is the number of steps of walks, which are longer where these miss too many nodes.
// Twice as many gained nothing on any graph, half as many lost 0.4 points of accuracy on Cora.
const walkSteps = 40

// group is a column of a walk: labels of one class and one fold, which are hidden together.
type group struct{ class, hidden, fold int }

// seeds are the labels that walks start at. Labels are in stratified folds for
// cross-validation. From the row of a label its own group is hidden: all labels of its
// fold or, if there are not too many of them, it alone.
type seeds struct {
	in     *input
	steps  int     // of walks
	unit   float64 // of weights
	fold   []int   // of each label
	hidden []int   // of each label: those with the same number are hidden from it
	groups []group // in the order of their classes
	group  []int   // the group of each label
	labels []int   // the number of labels of each class
	start  []int   // start[c] is the first group of class c; one more at the end
	order  []int   // learned labels in the order of their rows
	cells  []cell  // in the order of their classes
	first  []int   // first[c] is the first cell of class c; one more at the end
}

// cell is a fold and a class with labels in it.
type cell struct{ class, fold, labels int }

// newSeeds hides every label by itself where that takes no more columns than folds or
// than a few labels do, and folds elsewhere.
func newSeeds(in *input) *seeds {
	p := in.p
	m, k := len(p.Row), len(p.Names)
	s := &seeds{in: in, steps: walkSteps, unit: blocks.WeightUnit(p.A, p.Degrees), group: make([]int, m), start: make([]int, k+1), first: make([]int, k+1), labels: make([]int, k)}
	for _, c := range p.Class {
		s.labels[c]++
	}
	byGroup := make([]int, m)
	for i := range byGroup {
		byGroup[i] = i
	}
	s.fold = split.Folds(p.Class, in.folds, in.set.RNGSeed, 0)
	if s.hidden = s.fold; s.areSingle() {
		s.hidden = slices.Clone(byGroup)
	}
	slices.SortFunc(byGroup, func(a, b int) int {
		return cmp.Or(p.Class[a]-p.Class[b], s.fold[a]-s.fold[b], a-b)
	})
	for _, i := range byGroup {
		g := group{p.Class[i], s.hidden[i], s.fold[i]}
		if n := len(s.groups); n == 0 || s.groups[n-1] != g {
			s.groups = append(s.groups, g)
		}
		s.group[i] = len(s.groups) - 1
		if n := len(s.cells); n == 0 || s.cells[n-1].class != g.class || s.cells[n-1].fold != g.fold {
			s.cells = append(s.cells, cell{class: g.class, fold: g.fold})
		}
		s.cells[len(s.cells)-1].labels++
	}
	for _, g := range s.groups {
		s.start[g.class+1]++
	}
	for _, entry := range s.cells {
		s.first[entry.class+1]++
	}
	for c := range k {
		s.start[c+1] += s.start[c]
		s.first[c+1] += s.first[c]
	}
	s.order = make([]int, len(in.places))
	for i := range s.order {
		s.order[i] = i
	}
	slices.SortFunc(s.order, func(a, b int) int { return s.row(a) - s.row(b) })
	return s
}

// row returns the row of a learned label.
func (s *seeds) row(learned int) int { return s.in.learned.Row[learned] }

// learnedFolds returns the folds of the learned labels.
func (s *seeds) learnedFolds() []int {
	fold := make([]int, len(s.in.places))
	for i, label := range s.in.places {
		fold[i] = s.fold[label]
	}
	return fold
}

// areSingle reports whether every label is hidden by itself.
func (s *seeds) areSingle() bool { return areSingle(len(s.in.p.Row), len(s.in.p.Names), s.in.folds) }

func areSingle(labels, classes, folds int) bool {
	return labels <= max(folds*classes, fewestLabels)
}

// walkFeatures holds filtered walks.
type walkFeatures struct {
	// full has a row for each node, of walks from all labels: class c of a filter in
	// column position·classes + c, for the filter's position in the list.
	full *sparse.Block[float32]

	// honest has a row for each learned label, of walks from labels that are not hidden from
	// it: those of cell i have the filter at position f in column i·filters + f.
	honest *sparse.Block[float32]
}

// walkColumns bounds the columns that walk together, because the time of a sweep grows in proportion to more
// columns. A slab has a class at least.
const walkColumns = 64

// slabEnd returns the class that ends a slab of whole classes from lo on.
func (s *seeds) slabEnd(lo int) int {
	hi := lo + 1
	for hi < len(s.start)-1 && s.start[hi+1]-s.start[lo] <= walkColumns {
		hi++
	}
	return hi
}

// slabBytes returns the size of the blocks of the widest slab.
func slabBytes(d *design, p *problem.Problem) int64 {
	count, widest := make([]int, len(p.Names)), walkColumns
	for _, c := range p.Class {
		count[c]++
		if areSingle(len(p.Row), len(p.Names), d.folds) {
			widest = max(widest, count[c])
		}
	}
	return 2 * blocks.BlockBytes[float32](len(p.Degrees), widest)
}

// walk returns the filters of all walks. Cost:
// as many sweeps as steps for each slab of classes.
func (s *seeds) walk(ctx context.Context) (*walkFeatures, error) {
	in := s.in
	k := len(in.p.Names)
	w := &walkFeatures{
		full:   chunks.Block[float32](len(in.p.Degrees), len(in.filters)*k),
		honest: chunks.Block[float32](len(in.places), len(in.filters)*len(s.cells)),
	}
	walks := s.walks()
	for lo := 0; lo < k; {
		hi := s.slabEnd(lo)
		for i, pass := range walks {
			sweeps, err := s.walkSlab(ctx, pass, w, lo, hi, func(step int) {
				if i == 0 {
					in.reportProgress(stageWalk, lo*s.steps+step*(hi-lo), k*s.steps)
				}
			})
			if err != nil {
				return nil, err
			}
			in.work.Add(problem.Work{Sweeps: sweeps, EntryColumns: int64(sweeps) * sparse.EntriesOf(pass.op.A) * int64(s.start[hi]-s.start[lo])})
		}
		lo = hi
	}
	return w, nil
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

// walkSlab adds the walks of the classes lo ≤ c < hi to w and returns the number of
// sweeps.
func (s *seeds) walkSlab(ctx context.Context, pass walk, w *walkFeatures, lo, hi int, report func(step int)) (int, error) {
	offset := s.start[lo]
	groups := s.start[hi] - offset
	if groups == 0 {
		return 0, nil
	}
	n := len(s.in.p.Degrees)
	x, next := sparse.NewBlock[float32](n, groups), sparse.NewBlock[float32](n, groups)
	for i, row := range s.in.p.Row {
		if g := s.group[i]; g >= offset && g < offset+groups {
			x.Row(row)[g-offset] = s.startAt(row)
		}
	}
	for _, row := range s.in.p.Row {
		s.add(w, x, sparse.Rows{Lo: row, Hi: row + 1}, lo, hi, pass.weights(0))
	}
	for j := 1; j <= pass.steps; j++ {
		weight := pass.weights(j)
		err := pass.op.StepTo(ctx, next, x, sparse.Step[float32]{Alpha: 1, Visit: func(rows sparse.Rows) {
			s.add(w, next, rows, lo, hi, weight)
		}})
		if err != nil {
			return 0, err
		}
		x, next = next, x
		report(j)
	}
	return pass.steps, nil
}

// startAt returns d⁻¹ of a label, d in units of weights, so that the unit does not
// decide which mass counts as none. It is 0 without a neighbour.
func (s *seeds) startAt(row int) float32 {
	d := s.in.p.Degrees[row] / s.unit
	if d == 0 {
		return 0
	}
	return float32(1 / d)
}

// add adds a step at some rows, for the classes lo ≤ c < hi.
func (s *seeds) add(w *walkFeatures, x *sparse.Block[float32], rows sparse.Rows, lo, hi int, weight weights) {
	offset, k := s.start[lo], len(s.in.p.Names)
	masses := make([]float32, hi-lo)
	var scale []float32 // of the filters from the first to the last one that has a part in this step
	start := 0
	for i, f := range s.in.filters {
		y := weight[f]
		if y <= leastStepWeight {
			y = 0
		}
		if scale = append(scale, y); y == 0 && start == i {
			start++
		}
	}
	for len(scale) > start && scale[len(scale)-1] == 0 {
		scale = scale[:len(scale)-1]
	}
	if scale = scale[start:]; len(scale) == 0 {
		return
	}
	for v := rows.Lo; v < rows.Hi; v++ {
		row, dst, isVisited := x.Row(v), w.full.Row(v), false
		for c := range masses {
			var mass float32
			for _, y := range row[s.start[lo+c]-offset : s.start[lo+c+1]-offset] {
				mass += y
			}
			masses[c] = mass
			isVisited = isVisited || mass != 0
		}
		if !isVisited {
			continue
		}
		sums := simd.Rows[float32]{Data: dst[start*k+lo:], Stride: k}
		simd.AddRows(sums, len(scale), hi-lo, sums, scale, simd.Rows[float32]{Data: masses})
	}
	position, _ := slices.BinarySearchFunc(s.order, rows.Lo, func(i, row int) int { return s.row(i) - row })
	for ; position < len(s.order) && s.row(s.order[position]) < rows.Hi; position++ {
		s.addHonest(w, x, s.order[position], lo, hi, weight)
	}
}

// addHonest adds a step at a learned label, for the classes lo ≤ c < hi.
func (s *seeds) addHonest(w *walkFeatures, x *sparse.Block[float32], learned, lo, hi int, weight weights) {
	offset, label := s.start[lo], s.in.places[learned]
	groups, row := s.start[hi]-offset, x.Row(s.row(learned))
	for i, g := s.first[lo], 0; g < groups; i++ {
		var mass float32
		for entry := s.cells[i]; g < groups && s.groups[offset+g].fold == entry.fold && s.groups[offset+g].class == entry.class; g++ {
			if s.groups[offset+g].hidden != s.hidden[label] {
				mass += row[g]
			}
		}
		if mass == 0 {
			continue
		}
		dst := w.honest.Row(learned)[i*len(s.in.filters):]
		for position, f := range s.in.filters {
			if c := weight[f]; c > leastStepWeight {
				dst[position] += float32(c * mass)
			}
		}
	}
}

// leastStepWeight is the largest factor of a step that is left out of a filter.
const leastStepWeight = 1e-6

// weights are the factors of one step in each filter.
type weights [filters]float32

func stepWeights(j int) (w weights) {
	w[decay85], w[decay95], w[source] = float32(math.Pow(0.85, float64(j))), float32(math.Pow(0.95, float64(j))), 1
	if j >= 1 && j <= 4 {
		w[first+filter(j-1)] = 1
	}
	return w
}

// arcWeights returns the weights of steps along arcs, or against them.
func arcWeights(direction filter) func(j int) weights {
	return func(j int) (w weights) {
		if j > 0 {
			w[direction+filter(j-1)] = 1
		}
		return w
	}
}

// honestTo stores the filters of a learned label without the labels that are hidden from it and
// without a fold, −1 for none. Each class is multiplied by the number of its labels over that of
// those left, because a row that misses a fifth of its own class would otherwise have less mass
// of it than a node without a label has.
func (s *seeds) honestTo(dst []float32, w *walkFeatures, learned, hidden int) {
	k, filters, label := len(s.in.p.Names), len(s.in.filters), s.in.places[learned]
	single := s.areSingle()
	clear(dst)
	row := w.honest.Row(learned)
	for c := range k {
		total, left := s.labels[c], 0
		for i := s.first[c]; i < s.first[c+1]; i++ {
			entry := s.cells[i]
			if entry.fold == hidden {
				continue
			}
			switch {
			case entry.fold != s.fold[label]:
				left += entry.labels
			case single && c == s.in.p.Class[label]:
				left += entry.labels - 1
			case single:
				left += entry.labels
			}
			for f, v := range row[i*filters:][:filters] {
				dst[f*k+c] += v
			}
		}
		if left == 0 || left == total {
			continue
		}
		for f := range filters {
			dst[f*k+c] *= float32(float64(total) / float64(left))
		}
	}
}

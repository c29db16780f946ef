package auto

import (
	"cmp"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/simd"
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

// group is labels of one class that are hidden together.
type group struct{ class, hidden, fold int }

// cell is a fold and a class with labels in it.
type cell struct{ class, fold, labels int }

// seeds are the labels that walks start at. Labels are in stratified folds for
// cross-validation. From the row of a label its own group is hidden: all labels of its
// fold or, if there are not too many of them, it alone.
//
// A walk has a column for each group.
type seeds struct {
	in     *input
	steps  int     // of walks
	unit   float64 // of weights
	fold   []int   // of each label
	hidden []int   // of each label: those with the same number are hidden from it
	groups []group // in the order of their cells
	group  []int   // the group of each label
	labels []int   // the number of labels of each class
	order  []int   // learned labels in the order of their rows
	cells  []cell  // in the order of their classes
	cellOf []int   // the cell of each group
}

// newSeeds hides every label by itself where that takes no more columns than folds or
// than a few labels do, and folds elsewhere.
func newSeeds(in *input) *seeds {
	p := in.p
	m := len(p.Row)
	s := &seeds{in: in, steps: walkSteps, unit: blocks.WeightUnit(p.A, p.Degrees), group: make([]int, m), labels: make([]int, len(p.Names))}
	if in.manyClasses {
		s.steps = leanSteps
	}
	byGroup := make([]int, m)
	for i, c := range p.Class {
		byGroup[i] = i
		s.labels[c]++
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
		if n := len(s.cells); n == 0 || s.cells[n-1].class != g.class || s.cells[n-1].fold != g.fold {
			s.cells = append(s.cells, cell{class: g.class, fold: g.fold})
		}
		if n := len(s.groups); n == 0 || s.groups[n-1] != g {
			s.groups, s.cellOf = append(s.groups, g), append(s.cellOf, len(s.cells)-1)
		}
		s.group[i] = len(s.groups) - 1
		s.cells[len(s.cells)-1].labels++
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
	// rowStore has a row for each node, of walks from all labels: class c of a filter in column position·classes + c,
	// for the filter's position in the list.
	*rowStore

	// honest has a row for each learned label, of walks from labels that are not hidden from
	// it: those of cell i have the filter at position f in column f·cells + i.
	honest *sparse.Block[float32]
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

// scaleOf returns the factors of a step in the filters from start to the last one that it has a part in.
func (s *seeds) scaleOf(weight weights) (start int, scale []float32) {
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
	return start, scale[start:]
}

// addHonest adds a step at the learned labels in some rows. Columns are the groups from the given one on.
func (s *seeds) addHonest(w *walkFeatures, x *sparse.Block[float32], group int, rows sparse.Rows, start int, scale []float32) {
	groups, cellOf := s.groups[group:], s.cellOf[group:]
	masses := make([]float32, cellOf[x.Cols-1]-cellOf[0]+1)
	position, _ := slices.BinarySearchFunc(s.order, rows.Lo, func(i, row int) int { return s.row(i) - row })
	for ; position < len(s.order) && s.row(s.order[position]) < rows.Hi; position++ {
		learned := s.order[position]
		hidden := s.hidden[s.in.places[learned]]
		clear(masses)
		for g, y := range x.Row(s.row(learned)) {
			if groups[g].hidden != hidden {
				masses[cellOf[g]-cellOf[0]] += y
			}
		}
		sums := simd.Rows[float32]{Data: w.honest.Row(learned)[start*len(s.cells)+cellOf[0]:], Stride: len(s.cells)}
		simd.AddRows(sums, len(scale), len(masses), sums, scale, simd.Rows[float32]{Data: masses})
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
	k, label := len(s.in.p.Names), s.in.places[learned]
	single, left := s.areSingle(), make([]int, k)
	clear(dst)
	row := w.honest.Row(learned)
	for i, entry := range s.cells {
		c := entry.class
		if entry.fold == hidden {
			continue
		}
		switch {
		case entry.fold != s.fold[label]:
			left[c] += entry.labels
		case single && c == s.in.p.Class[label]:
			left[c] += entry.labels - 1
		case single:
			left[c] += entry.labels
		}
		for f := range s.in.filters {
			dst[f*k+c] += row[f*len(s.cells)+i]
		}
	}
	for c, total := range s.labels {
		if left[c] == 0 || left[c] == total {
			continue
		}
		for f := range s.in.filters {
			dst[f*k+c] *= float32(float64(total) / float64(left[c]))
		}
	}
}

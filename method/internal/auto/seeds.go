package auto

import (
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"

	"gonum.org/v1/gonum/stat"
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

// walkSteps is the number of steps of walks. If these miss too many nodes, walks are longer. Twice as many steps gained
// nothing on any graph, half as many lost 0.4 points of accuracy on Cora.
const walkSteps = 40

// cell is the labels of a class in a fold.
type cell struct{ class, fold, labels int }

// seeds are the labels that walks start at. Labels are in stratified folds for cross-validation. From the row of a label
// all labels of its fold are hidden.
//
// A walk has a column for each cell.
type seeds struct {
	in     *input
	steps  int     // of walks
	unit   float64 // of weights
	fold   []int   // of each label
	cells  []cell  // in the order of their classes
	start  []int   // of each class, the first of its cells; then the number of cells
	cell   []int   // of each label
	labels []int   // the number of labels of each class

	// evidence has the number of labels of each class that rows of a fold represent, see evidenceIn.
	evidence [][]float64

	order []int // learned labels in the order of their rows
}

// newSeeds divides the labels into folds and cells. Walks are shorter where labels are many,
// because most nodes are then near one.
func newSeeds(in *input) *seeds {
	p, k := in.p, len(in.p.Names)
	s := &seeds{
		in: in, steps: walkSteps, unit: blocks.WeightUnit(p.A, p.Degrees),
		fold:  choose.Folds(p.Class, in.folds, in.set.RNGSeed, 0),
		start: make([]int, k+1), cell: make([]int, len(p.Row)),
		labels: make([]int, k), order: sched.UpTo(len(in.places)),
	}
	switch {
	case in.manyClasses:
		s.steps = leanSteps
	case hasManyLabels(p):
		s.steps = max(leanSteps, min(walkSteps, in.p.Nodes()/len(p.Row)))
	}
	byCell := make([][]int, k*in.folds) // labels
	for i, c := range p.Class {
		j := c*in.folds + s.fold[i]
		byCell[j] = append(byCell[j], i)
		s.labels[c]++
	}
	for j, list := range byCell {
		for _, i := range list {
			s.cell[i] = len(s.cells)
		}
		if len(list) > 0 {
			s.cells = append(s.cells, cell{j / in.folds, j % in.folds, len(list)})
		}
		s.start[j/in.folds+1] = len(s.cells)
	}
	for fold := range in.folds {
		s.evidence = append(s.evidence, s.evidenceIn(fold))
	}
	slices.SortFunc(s.order, func(a, b int) int { return s.row(a) - s.row(b) })
	return s
}

// leastDispersion is the variance of the numbers of labels of classes, in units of their mean, below which labels were drawn
// class by class. Of random nodes it is about 1 for classes of equal size, more for others, and 0.2 for classes of three nodes of which
// 80 % are labelled.
const leastDispersion = 0.15

// evidenceIn returns the number of labels of each class that rows of a fold represent. If all classes have many labels,
// these are all. A label that is the only one of its class shows that there are small classes, whose numbers of labels are
// chance: then a label in a class of N labels is as a node in a class of N − 1, and each class with a label in the fold has one
// less. It is this number of each class in the fold, not of the label's alone, because that would name its class; with each label
// in a fold of its own, or as many labels of each class, it would do so too, and these are all labels again.
func (s *seeds) evidenceIn(fold int) []float64 {
	evidence := choose.CountsOf(s.in.p)
	mean, variance := stat.PopMeanVariance(evidence, nil)
	if s.in.tooFewLabels || !slices.Contains(s.labels, 1) || variance < leastDispersion*mean {
		return evidence
	}
	for _, cell := range s.cells {
		if cell.fold == fold {
			evidence[cell.class]--
		}
	}
	return evidence
}

// row returns the row of a learned label.
func (s *seeds) row(learned int) int {
	return s.in.learned.Row[learned]
}

// walkFeatures holds filtered walks.
type walkFeatures struct {
	// rowStore has a row for each node, of walks from all labels: class c of a filter in column position·classes + c,
	// for the filter's position in the list.
	*rowStore

	// honest has a row for each learned label, from walks of the labels that are not hidden from it: the row of cell i has
	// the filter at position f in column f·cells + i.
	honest *featureBlock

	gathered int64 // entries × columns of the steps of the walks
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

// scaleOf returns the factors of a step in consecutive filters, beginning with filter start; other filters
// omit the step.
func (s *seeds) scaleOf(weight weights) (start int, scale []float32) {
	for i, f := range s.in.filters {
		y := weight[f]
		if y <= leastStepWeight {
			y = 0
		}
		scale = append(scale, y)
		if y == 0 && start == i {
			start++
		}
	}
	for len(scale) > start && scale[len(scale)-1] == 0 {
		scale = scale[:len(scale)-1]
	}
	return start, scale[start:]
}

// addHonest adds a step at the learned labels in some rows. Columns are the cells from the given one on.
func (s *seeds) addHonest(w *walkFeatures, x *featureBlock, first int,
	rows sparse.Rows, start int, scale []float32) {
	masses := make([]float32, x.Cols)
	position, _ := slices.BinarySearchFunc(s.order, rows.Lo,
		func(i, row int) int { return s.row(i) - row })
	for ; position < len(s.order) && s.row(s.order[position]) < rows.Hi; position++ {
		learned := s.order[position]
		fold := s.fold[s.in.places[learned]]
		for i, y := range x.Row(s.row(learned)) {
			masses[i] = y
			if s.cells[first+i].fold == fold {
				masses[i] = 0
			}
		}
		sums := simd.Rows[float32]{Data: w.honest.Row(learned)[start*len(s.cells)+first:], Stride: len(s.cells)}
		simd.AddRows(sums, len(scale), len(masses), sums, scale,
			simd.Rows[float32]{Data: masses})
	}
}

// leastStepWeight is the largest factor of a step that is left out of a filter.
const leastStepWeight = 1e-6

// weights are the factors of a step in each filter.
type weights [filters]float32

// stepWeights returns the weights of step j of walks on the graph without directions.
func stepWeights(j int) (w weights) {
	w[decay85], w[decay95], w[source] = float32(math.Pow(0.85, float64(j))),
		float32(math.Pow(0.95, float64(j))), 1
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

// honestTo stores the filters of a learned label without the labels that are hidden from it and without a fold, −1 for none.
// Each class is multiplied by the number of labels that the row represents divided by the number of labels left. Otherwise a
// row that misses a fifth of its own class would have less mass of it than a node without a label.
func (s *seeds) honestTo(dst []float32, w *walkFeatures, learned, hidden int) {
	k := len(s.in.p.Names)
	fold := s.fold[s.in.places[learned]]
	clear(dst)
	row := w.honest.Row(learned)
	for c, total := range s.evidence[fold] {
		left := 0.0
		for i := s.start[c]; i < s.start[c+1]; i++ {
			if s.cells[i].fold == hidden || s.cells[i].fold == fold {
				continue
			}
			left += float64(s.cells[i].labels)
			for f := range s.in.filters {
				dst[f*k+c] += row[f*len(s.cells)+i]
			}
		}
		if left == 0 || left == total {
			continue
		}
		for f := range s.in.filters {
			dst[f*k+c] *= float32(total / left)
		}
	}
}

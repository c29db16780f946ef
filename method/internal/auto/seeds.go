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

// filter is a weighted sum over the steps j of walks from labels, which do not end at labels,
//
//	Σ_j c_j·T^j·D⁻¹·Y,
//
// where Y has a one for the class of each label.
type filter int

const (
	decay85 filter = iota // c_j = 0.85^j: PageRank from the labels
	decay95               // 0.95^j
	source                // 1: Poisson learning
	first                 // 1 for j = 1 alone
	second
	third
	fourth
	undirectedFilters int = iota
)

// Filters of one step along or against arcs, for steps 1 … arcSteps.
const (
	alongArcs       = filter(undirectedFilters)
	againstArcs     = alongArcs + arcSteps
	arcSteps        = 4
	filters     int = int(againstArcs) + arcSteps
)

// walkSteps is the number of steps of walks; [features.lengthen] doubles it if walks do not reach most nodes. Twice as many
// steps gained nothing on any graph; half as many lost 0.4 points of accuracy on Cora.
const walkSteps = 40

type cell struct{ class, fold, labels int }

// seeds holds the labels at which walks start. A cell is the labels of a class in a fold; folds are stratified. Walks have a
// column for each cell, so that the row of a label can be computed without the labels of its fold.
type seeds struct {
	in     *input
	steps  int
	unit   float64
	fold   []int
	cells  []cell // ordered by class
	start  []int  // position of the first cell of each class; then the number of cells
	cell   []int  // cell of each label
	labels []int  // number of labels by class

	evidence [][]float64

	order []int // learned labels, ordered by node
}

// newSeeds divides the labels into folds and cells. Walks from many labels are shorter, because most nodes are near a label.
func newSeeds(in *input) *seeds {
	p, k := in.p, len(in.p.Names)
	s := &seeds{
		in: in, steps: walkSteps, unit: blocks.WeightUnit(p.A, p.Degrees),
		fold:  choose.TaskIn(p, in.folds, in.set.RNGSeed, 0).Fold,
		start: make([]int, k+1), cell: make([]int, len(p.Row)),
		labels: make([]int, k), order: sched.UpTo(len(in.places)),
	}
	switch {
	case in.manyClasses:
		s.steps = leanSteps
	case hasManyLabels(p):
		s.steps = max(leanSteps, min(walkSteps, in.p.Nodes()/len(p.Row)))
	}
	byCell := make([][]int, k*in.folds)
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

// If the variance of the numbers of labels of the classes is below leastDispersion times their mean, labels were drawn class
// by class. For labels of random nodes the ratio is about 1 or more, and 0.2 if classes have three nodes of which 80 % are
// labelled.
const leastDispersion = 0.15

// evidenceIn returns how many labels of each class the rows of a fold represent, usually all labels of the class. If some
// class has only one label, one label is subtracted from every class with labels in the fold, so that a label in a class of
// N labels looks like a node in a class of N − 1 labels. A subtraction from the label's own class alone would reveal the
// class. If each label is a fold, or if classes have equal numbers of labels, nothing is subtracted, because any subtraction
// would reveal the class.
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

func (s *seeds) row(learned int) int {
	return s.in.learned.Row[learned]
}

// walkFeatures holds the filters of walks from labels, at all nodes and at the learned labels.
type walkFeatures struct {
	// rowStore has a row for each node, by walks from all labels. Column f·classes + c has class c of the filter at position f.
	*rowStore

	// honest has a row for each learned label, by walks from the labels outside its fold. Column f·cells + i has cell i of the
	// filter at position f.
	honest *featureBlock
}

// startAt returns the mass 1/d with which walks start at node row, for its degree d in units of the mean weight. It returns
// 0 for an isolated node.
func (s *seeds) startAt(row int) float32 {
	d := s.in.p.Degrees[row] / s.unit
	if d == 0 {
		return 0
	}
	return float32(1 / d)
}

// scaleOf returns as scale the weights of a step in the filters from position start on. In other filters the step has weight
// 0.
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

// addHonest adds the step x of walks to the honest rows of the learned labels whose nodes are in rows. The columns of x are
// cells, from cell first on. start and scale are the weights of the step, see [seeds.scaleOf].
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

// Weights up to leastStepWeight count as 0.
const leastStepWeight = 1e-6

type weights [filters]float32

func stepWeights(j int) (w weights) {
	w[decay85], w[decay95], w[source] = float32(math.Pow(0.85, float64(j))),
		float32(math.Pow(0.95, float64(j))), 1
	if j >= 1 && j <= 4 {
		w[first+filter(j-1)] = 1
	}
	return w
}

func arcWeights(direction filter) func(j int) weights {
	return func(j int) (w weights) {
		if j > 0 {
			w[direction+filter(j-1)] = 1
		}
		return w
	}
}

// honestTo stores in dst the filters of a learned label, computed without the labels of its fold and of fold hidden. If
// hidden is −1, only its fold is left out. honestTo multiplies the mass of a class by the number of labels that the row
// represents, see [seeds.evidenceIn], over the number of labels used, because a row misses labels of its own class.
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

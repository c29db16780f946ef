package auto

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// ridgeScores are the scores of a ridge as columns with one weight for all classes: the scores of a node less their mean
// over the classes, divided by their root mean square. The scores of a label come from a ridge that has not learned from the
// label.
type ridgeScores struct {
	kind    ridgeKind
	nodes   nodeScores
	scale   float64
	leftOut [][]float64
	inFold  [][][]float64 // scores by fold and label, of a ridge that has learned from neither; nil: leftOut is used
	cosines []float64     // cosines of left-out scores with classes: over all labels, then outside each fold

	extension *ridgeExtension // nil: new nodes have no scores
}

type ridgeKind int

const (
	ofAttributes ridgeKind = iota
	ofLinks
	ofDiffusion
	ofSquares
	ofSpectral
	ridgeKinds
)

const (
	ridgeLimit = 5 // scores are clipped to ±5 root mean squares

	// With at most nestedLabels labels, ridges are also fitted without each fold. In a ridge of more labels, a fold hardly
	// makes a difference.
	nestedLabels = 1000
)

type ridgeBlock struct {
	lambdas []float64

	path func(ctx context.Context, targets *mat.Dense) (*classify.RidgePath, error)

	scores func(ctx context.Context, path *classify.RidgePath, lambda float64) (nodeScores, error)

	extension *ridgeExtension // set by scores; nil: new nodes have no scores
}

// nodeScores stores the scores of consecutive nodes, from node lo on, in the rows of dst.
type nodeScores func(dst *featureBlock, lo int)

func scoresIn(full *featureBlock) nodeScores {
	return func(dst *featureBlock, lo int) { blocks.Copy(dst, blocks.Range(full, lo, lo+dst.Rows)) }
}

func (s nodeScores) of(v, classes int) []float64 {
	one := newBlock(1, classes)
	s(one, v)
	return toFloat64(one.Row(0))
}

// ridgeLabels are the labels that a ridge learns from.
type ridgeLabels struct {
	p         *problem.Problem // problem with these labels alone
	learned   []int            // position of each label among the learned labels, or −1
	positions []int            // position of each label among all labels
}

func newRidgeLabels(in *input, positions []int) *ridgeLabels {
	labels := &ridgeLabels{in.p.At(positions),
		make([]int, len(positions)), positions}
	for i, label := range positions {
		learned, isLearned := slices.BinarySearch(in.places, label)
		labels.learned[i] = learned
		if !isLearned {
			labels.learned[i] = -1
		}
	}
	return labels
}

func sampleLabels(in *input, limit int) *ridgeLabels {
	var positions []int
	for _, i := range choose.Sample(in.learned.Class, limit, in.set.RNGSeed, 0) {
		positions = append(positions, in.places[i])
	}
	return newRidgeLabels(in, positions)
}

func addRidge(ctx context.Context, f *features, labels *ridgeLabels,
	block *ridgeBlock, kind ridgeKind) error {
	in, k := f.in, len(f.in.p.Names)
	r := &ridgeScores{kind: kind, leftOut: make([][]float64, len(f.fold))}
	f.ridges = append(f.ridges, r)
	folds := 0
	if len(labels.learned) == len(f.fold) && len(f.fold) <= nestedLabels {
		folds = in.folds
	}
	// For a fold, labels outside the fold choose λ and the best ridge, by models without the fold. Otherwise two labels that
	// predict each other by chance would choose the ridge that predicts both.
	takes := make([][]bool, 1+folds)
	targets := mat.NewDense(len(labels.learned), k, nil)
	for position, i := range labels.learned {
		targets.Set(position, labels.p.Class[position], 1)
		for hidden := range takes {
			takes[hidden] = append(takes[hidden], i >= 0 && f.hasOthers[i] &&
				(hidden == 0 || f.fold[i] != hidden-1))
		}
	}
	path, err := block.path(ctx, targets)
	if err != nil {
		return err
	}
	best, cosines := path.Choose(block.lambdas, takes)
	if r.nodes, err = block.scores(ctx, path, best[0]); err != nil {
		return err
	}
	r.extension = block.extension
	if err := r.measure(ctx, in); err != nil {
		return err
	}
	left := path.LeaveOneOut(best[0])
	if len(f.fold) > nestedLabels { // the columns of labels that measure a model must not tell them
		fold := make([]int, len(labels.learned))
		for position := range fold {
			fold[position] = f.seeds.fold[labels.positions[position]]
		}
		if left, err = path.LeaveFoldsOut(best[0], fold); err != nil {
			return err
		}
	}
	for position, i := range labels.learned {
		if i >= 0 {
			r.leftOut[i] = r.columnsOf(left.RawRowView(position))
		}
	}
	for i, row := range in.learned.Row {
		if r.leftOut[i] == nil {
			r.leftOut[i] = r.columnsOf(r.nodes.of(row, k))
		}
	}
	foldScores, foldCosines, err := path.WithoutParts(best[1:], f.fold, takes[1:])
	r.cosines = append(cosines[:1], foldCosines...)
	for _, scores := range foldScores {
		rows := make([][]float64, len(f.fold))
		for i := range rows {
			rows[i] = r.columnsOf(scores.RawRowView(i))
		}
		r.inFold = append(r.inFold, rows)
	}
	return err
}

// measure sets r.scale to 1 / root mean square of the scores of a sample of nodes, each less the node's mean over the
// classes.
func (r *ridgeScores) measure(ctx context.Context, in *input) error {
	k := len(in.p.Names)
	square, err := blocks.NodeSums(ctx, in.p.Team(), in.set.Workers, len(in.p.Degrees), 2, func(sums []float64, lo, hi int) {
		for v := lo; v < hi; v++ {
			if !isMeasured(in.p, v) {
				continue
			}
			sums[0] += stat.PopVariance(r.nodes.of(v, k), nil)
			sums[1]++
		}
	})
	r.scale = 1 / (math.Sqrt(square[0]/max(1, square[1])) + 1e-9)
	return err
}

func (r *ridgeScores) columnsOf(scores []float64) []float64 {
	mean := stat.Mean(scores, nil)
	for c, s := range scores {
		scores[c] = clip((s-mean)*r.scale, ridgeLimit)
	}
	return scores
}

// ridgeList holds ridges on attributes, link rows, kernels and eigenvectors, in this order.
type ridgeList []*ridgeScores

// rowOf returns the columns of all ridges for a label, by ridges that have not learned from the label and from fold hidden.
// If hidden is −1, only the label is left out.
func (l ridgeList) rowOf(label, hidden int) (row []float64) {
	for _, r := range l {
		if hidden >= 0 && r.inFold != nil {
			row = append(row, r.inFold[hidden][label]...)
		} else {
			row = append(row, r.leftOut[label]...)
		}
	}
	return row
}

// best returns the position of the ridge of the given kind whose leave-one-out scores have the largest cosine with the
// classes, over the labels outside fold hidden. If hidden is −1, all labels count.
func (l ridgeList) best(kind ridgeKind, hidden int) (best int) {
	highest := math.Inf(-1)
	for i, r := range l {
		if r.inFold == nil {
			hidden = -1
		}
		if r.kind == kind && r.cosines[1+hidden] > highest {
			best = i
			highest = r.cosines[1+hidden]
		}
	}
	return best
}

func (l ridgeList) scoresOf(v, classes int) (scores []float64) {
	for _, r := range l {
		scores = append(scores, r.nodes.of(v, classes)...)
	}
	return scores
}

func (l ridgeList) scale(scores []float64) {
	for i, r := range l {
		k := len(scores) / len(l)
		r.columnsOf(scores[i*k:][:k])
	}
}

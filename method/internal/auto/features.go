package auto

import (
	"context"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/internal/beliefs"
	"github.com/heatwalk/heatwalk/method/trees"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

type featureBlock = sparse.Block[float32]

func newBlock(rows, cols int) *featureBlock { return blocks.NewDense[float32](rows, cols) }

func boolean(x bool) int {
	if x {
		return 1
	}
	return 0
}

// features holds the columns of all nodes. It also holds the columns of each learned label, computed without the labels of
// its fold.
type features struct {
	in         *input
	seeds      *seeds
	walks      *walkFeatures
	columns    *columns
	inFold     []*columns // by fold: columns of the fold's labels, with the class shares of the other folds
	ridges     ridgeList
	attributes *attributeForm   // nil: no attributes, or no explanations
	scales     *attributeScales // nil: no attributes
	kernels    []*nodeKernel
	believed   *beliefs.Model
	boosted    *trees.Model
	poisson    component

	boostedLabels []int // labels that boosted has learned from

	reached          *roaring.Bitmap // nodes that labels or attributes reach
	labelsOutOfReach bool            // walks miss most nodes, or most labels

	// Of each learned label:
	fold      []int
	hasOthers []bool // another label has the same class
	isolated  []bool // no label outside its fold reaches it

	full *examples // columns of each label, without the labels of its fold
}

func newFeatures(ctx context.Context, in *input) (*features, error) {
	f := &features{in: in, seeds: newSeeds(in)}
	count := choose.CountsOf(in.p)
	for _, label := range in.places {
		f.fold = append(f.fold, f.seeds.fold[label])
		f.hasOthers = append(f.hasOthers, count[in.p.Class[label]] > 1)
	}
	if err := f.walk(ctx); err != nil {
		return nil, err
	}
	var graph *graphColumns
	if !in.tooFewLabels && len(in.free) > 0 {
		var err error
		if graph, err = newGraphColumns(ctx, in.p, in.set.Workers, in.work); err != nil {
			return nil, err
		}
		graph.arcs = in.arcs
	}
	var err error
	if f.columns, err = newColumns(ctx, in, count, f.walks, graph); err != nil {
		return nil, err
	}
	for _, evidence := range f.seeds.evidence {
		f.inFold = append(f.inFold, f.columns.withCounts(evidence))
	}
	if in.p.Attributes != nil {
		if err := addAttributes(ctx, f); err != nil {
			return nil, err
		}
		if f.reached, err = in.p.Reachable(ctx, informedNodes(in.p), in.set.Workers,
			in.work); err != nil {
			return nil, err
		}
	}
	f.poisson = predictPoisson(f)
	if in.links && in.set.choice == nil && in.p.Nodes() > mostLinked && in.set.Effort != engine.HighEffort {
		// Where neighbours agree, link rows gained nothing (PubMed, DBLP) and took a quarter of the time.
		in.links = !neighboursAgree(f.poisson.rows, in.learned.Class,
			len(in.p.Names))
	}
	if in.links {
		if err := addLinks(ctx, f); err != nil {
			return nil, err
		}
	}
	if in.diffusion {
		if err := f.addKernels(ctx); err != nil {
			return nil, err
		}
	}
	if in.spectral {
		if err := addSpectral(ctx, f); err != nil {
			return nil, err
		}
	}
	f.full = f.examples(-1)
	return f, nil
}

// Neighbours agree if Poisson learning is right agreementErrors standard errors more often than the largest class.
const agreementErrors = 2

// neighboursAgree reports whether Poisson learning with the given held-out probabilities is right
// significantly more often than predictions of the largest class.
func neighboursAgree(rows [][]float32, class []int, classes int) bool {
	count := make([]float64, classes)
	right := 0.0
	tested := float64(len(class))
	for i, c := range class {
		count[c]++
		if classify.ArgMax(rows[i]) == c {
			right++
		}
	}
	p := (right + 1) / (tested + 2)
	return right > slices.Max(count)+agreementErrors*math.Sqrt(tested*p*(1-p))
}

// examples holds the columns of each learned label, computed without the labels of its fold.
type examples struct {
	shared      *sparse.Block[float64]
	free        *featureBlock
	hasFeatures []bool // whether another label reaches the label, or there are attributes
	ridges      [][]float64
	hidden      int // further fold without which the columns are computed; −1: none
}

// examples computes the columns of learned labels without the labels of their own fold and of fold hidden. If hidden is −1,
// only their own fold is left out.
func (f *features) examples(hidden int) *examples {
	p := f.in.learned
	m := len(p.Row)
	shared := f.in.sharedCount() * f.columns.classes
	free := f.columns.freeCount()
	e := &examples{
		shared: sparse.BlockOf(m, shared, make([]float64, m*shared)),
		free: &featureBlock{Rows: m, Cols: free, Stride: free,
			Data: make([]float32, m*free)},
		hasFeatures: make([]bool, m), ridges: make([][]float64, m), hidden: hidden,
	}
	x := make([]float64, free)
	filtered := make([]float32, f.walks.cols)
	for i, row := range p.Row {
		f.seeds.honestTo(filtered, f.walks, i, hidden)
		e.hasFeatures[i] = f.isKnown(filtered)
		e.ridges[i] = f.ridges.rowOf(i, hidden)
		c := f.inFold[f.fold[i]]
		c.sharedTo(e.shared.Row(i), filtered)
		c.freeTo(x, filtered, row)
		simd.ConvertTo(e.free.Row(i), x)
	}
	return e
}

func (f *features) isKnown(row []float32) bool {
	return f.in.p.Attributes != nil || massOf(f.columns.of(row, source)) > leastMass
}

// missedPrior is the weight of the class shares of all labels, in labels.
const missedPrior = 10

// priorOfMissed returns the probabilities of a node that no walk reaches: the class shares of the labels that no other
// label reaches, smoothed by the shares of all labels. Labels in fold hidden are left out. The two shares differ, because
// small components may have other classes.
func (f *features) priorOfMissed(hidden int) []float64 {
	shares := make([]float64, f.columns.classes)
	sum := float64(missedPrior)
	for c, q := range f.columns.prior {
		shares[c] = missedPrior * q
	}
	for i, c := range f.in.learned.Class {
		if !f.in.tooFewLabels && !f.full.hasFeatures[i] && f.fold[i] != hidden {
			shares[c]++
			sum++
		}
	}
	for c := range shares {
		shares[c] /= sum
	}
	choose.Shrink(shares, float64(len(f.in.p.Row)))
	return shares
}

// targets returns the class of each learned label outside fold hidden, and −1 for labels that a model does not learn from.
// A label that is alone in its class is no target: its features lack the label, so that a model would learn that the class
// does not occur.
func (f *features) targets(e *examples, hidden int) []int {
	y := make([]int, len(f.fold))
	left := make([]int, f.columns.classes) // labels outside the fold
	for label, c := range f.in.p.Class {
		left[c] += int(boolean(f.seeds.fold[label] != hidden))
	}
	for i, c := range f.in.learned.Class {
		y[i] = -1
		if e.hasFeatures[i] && left[c] > 1 && f.fold[i] != hidden {
			y[i] = c
		}
	}
	return y
}

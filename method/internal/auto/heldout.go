package auto

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/internal/propagation"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse/blocks"

	"gonum.org/v1/gonum/floats"
)

// heldOut holds the probabilities of each candidate at the learned labels. Each label is predicted without the labels of its
// fold.
type heldOut struct {
	p           *problem.Problem
	class       []int // class of each learned label; the other lists have the same order
	places      []int // position of each label in the labels of p
	classes     int
	fold        []int
	folds       int
	hasFeatures []bool
	hasOthers   []bool // another label has the same class
	isolated    []bool // no label outside its fold reaches it
	attributed  bool   // attributes reach every label
	seed        uint64

	tooFewLabels bool
	fewLabels    bool
	balanced     bool        // probabilities will be reweighed for balanced classes
	components   []component // every candidate with every λ except Poisson learning
	poisson      component
}

func predictHeldOut(ctx context.Context, f *features) (*heldOut, error) {
	in := f.in
	h := &heldOut{
		p: in.p, class: in.learned.Class, places: in.places, classes: f.columns.classes, fold: f.fold,
		folds:       in.folds,
		hasFeatures: f.full.hasFeatures, hasOthers: f.hasOthers,
		isolated: f.isolated, attributed: in.p.Attributes != nil,
		seed:         in.set.RNGSeed,
		tooFewLabels: in.tooFewLabels,
		fewLabels:    in.tooFewLabels || in.fewLabels && !f.labelsOutOfReach,
		balanced:     in.p.Reweigher(in.set.balanced) != nil, poisson: f.poisson,
	}
	if !in.tooFewLabels {
		h.components = componentsOf(f)
		for fold := range h.folds {
			if err := h.predictFold(ctx, f, fold); err != nil {
				return nil, err
			}
			f.in.reportProgress(stageChoose, fold+1, h.folds)
			if fold == 0 {
				h.race()
			}
		}
	}
	h.addMajority()
	if err := h.addBeliefs(ctx, f); err != nil {
		return nil, err
	}
	if err := h.addTrees(ctx, f); err != nil {
		return nil, err
	}
	return h, h.addPropagation(ctx, f)
}

// predictPoisson returns the component of Poisson learning with its held-out probabilities.
func predictPoisson(f *features) component {
	out := newComponent(candidate{Poisson: true}, 0, len(f.fold))
	row := make([]float64, f.columns.classes)
	filtered := make([]float32, f.walks.cols)
	for i := range f.fold {
		f.seeds.honestTo(filtered, f.walks, i, -1)
		if f.isKnown(filtered) {
			poissonProbabilities(row, f.inFold[f.fold[i]], filtered)
		} else {
			copy(row, f.inFold[f.fold[i]].prior)
		}
		out.set(i, row)
	}
	return out
}

// sharpness turns scores of root mean square 1 into logits.
const sharpness = 2

func poissonProbabilities(dst []float64, c *columns, row []float32) {
	c.poissonTo(dst, row)
	for class := range dst {
		dst[class] *= sharpness * c.sharedScale[0]
	}
	classify.Softmax(dst, dst)
}

func componentsOf(f *features) (list []component) {
	for _, c := range candidatesOf(&f.in.design, f.in.p) {
		for _, lambda := range c.lambdas(&f.in.design) {
			list = append(list, newComponent(c, lambda, len(f.fold)))
		}
	}
	return list
}

// addMajority adds the component that predicts the class shares among the labels of other folds, shrunk by [choose.Shrink].
func (h *heldOut) addMajority() {
	counts := make([][]float64, h.folds)
	for fold := range counts {
		counts[fold] = slices.Repeat([]float64{1}, h.classes)
		for i, c := range h.class {
			if h.fold[i] != fold {
				counts[fold][c]++
			}
		}
	}
	t := newComponent(candidate{Majority: true}, 0, len(h.class))
	t.Weight = 1
	for i := range h.class {
		row := slices.Clone(counts[h.fold[i]])
		total := floats.Sum(row)
		floats.Scale(1/total, row)
		choose.Shrink(row, total)
		t.set(i, row)
	}
	h.components = append(h.components, t)
}

const (
	// If the first fold has raceLabels labels, components that are less likely than the best by raceErrors standard errors
	// are dropped.
	raceErrors = 2
	raceLabels = 20
)

// race drops components that are unlikely in the first fold.
func (h *heldOut) race() {
	labels := h.selectLabels(func(i int) bool { return h.fold[i] == 0 })
	if len(labels) < raceLabels {
		return
	}
	winner := likeliestOf(h, h.components, labels)
	h.components = slices.DeleteFunc(h.components, func(c component) bool {
		sum := 0.0
		squares := 0.0
		for _, i := range labels {
			loss := math.Log(h.truth(&winner, i)+leastTruth) -
				math.Log(h.truth(&c, i)+leastTruth)
			sum += loss
			squares += float64(loss * loss)
		}
		return sum > raceErrors*math.Sqrt(squares-sum*sum/float64(len(labels)))
	})
}

var slacks = []float64{0.01, 0.03, 0.1, 0.3}

// addPropagation adds label propagation. With f_c the probability that the first label that a walk meets has class c, it
// predicts
//
//	(f_c + s·π_c)/(1 + s)
//
// for each slack s. Label propagation reaches nodes that other walks miss, as on roads and grids. If held-out scores of a
// label were not computed, its row is nil.
func (h *heldOut) addPropagation(ctx context.Context, f *features) error {
	in := f.in
	if !in.propagation || in.tooFewLabels && !f.labelsOutOfReach { // too few labels, and walks reach most nodes
		return nil
	}
	held, err := propagateOutOfFold(ctx, in.p, in.set, in.memory)
	if held == nil || err != nil {
		return err
	}
	in.propagated = held
	rows := held.Scores
	for _, slack := range slacks {
		t := newComponent(candidate{Propagation: true, Center: held.Center}, slack, len(h.class))
		row := make([]float64, h.classes)
		for i, label := range in.places {
			switch {
			case rows[label] == nil:
				continue
			case f.isolated[i]:
				copy(row, f.priorOfMissed(f.fold[i]))
			default:
				slackenTo(row, rows[label], f.inFold[f.fold[i]].prior, slack)
			}
			t.set(i, row)
		}
		h.components = append(h.components, t)
	}
	return nil
}

// propagateOutOfFold returns the held-out scores of label propagation. It takes them from the baselines if these were
// measured. If label propagation does not converge, it returns nil.
func propagateOutOfFold(ctx context.Context, p *problem.Problem, set *settings,
	memory int64) (*propagation.HeldOut, error) {
	if b := set.Baselines; b != nil && b.Held != nil {
		return b.Held, nil
	}
	folds := choose.MixtureFolds(len(p.Row)) // folds of the baselines, which differ from in.folds with many classes
	held, err := propagationOf(p, set, memory).OutOfFold(ctx, choose.TaskIn(p, folds, set.RNGSeed, 0))
	if failed := new(problem.Error); errors.As(err, &failed) {
		return nil, nil
	}
	return held, err
}

func slackenTo(dst []float64, scores []float32, prior []float64, slack float64) {
	for class, v := range scores {
		dst[class] = (max(0, float64(v)) +
			float64(slack*prior[class])) / (1 + slack)
	}
}

// choiceSubsets returns the subset of each label, out of as many subsets as folds. To predict the labels of a subset,
// estimate chooses the weights of components by the labels of the other subsets. If every fold has labels that all
// candidates predict, the subsets are the folds. Otherwise the labels are divided anew: if beliefs predicted only two folds,
// half of the labels or none would be left to choose weights.
func choiceSubsets(h *heldOut, mixture []component) []int {
	candidates := append(slices.Clip(mixture), h.poisson)
	for _, c := range h.components {
		if !c.isFactor() {
			candidates = append(candidates, c)
		}
	}
	hasPredicted := make([]bool, h.folds)
	for i, fold := range h.fold {
		hasPredicted[fold] = hasPredicted[fold] || h.hasOthers[i] && isPredicted(candidates, i)
	}
	if !slices.Contains(hasPredicted, false) {
		return h.fold
	}
	const draw = 1
	return choose.TaskIn(h.p.At(h.places), h.folds, h.seed, draw).Fold
}

// estimate returns the confidence in mixture, with its calibrated held-out predictions. If balanced is set, estimate reweighs probabilities for balanced classes.
func (h *heldOut) estimate(mixture []component, calibrated Calibration,
	balanced bool) *choose.Confidence {
	confidence := choose.NewConfidence(h.p)
	reweigh := h.p.Reweigher(balanced)
	if reweigh == nil {
		reweigh = func([]float64) {}
	}
	isShrunk := isMajority(mixture)
	if isShrunk && !h.tooFewLabels { // predictions without the fold of few labels are more often wrong by chance
		confidence.AllowForLargest()
	}
	row := make([]float64, h.classes)
	full := make([]float64, h.classes)
	subset := choiceSubsets(h, mixture)
	for f := range h.folds {
		refitted := h.combine(func(i int) bool { return subset[i] != f })
		if isShrunk && !isMajority(refitted) {
			// A subset lacks labels of the largest class, so that other components seem better than this class.
			refitted = addShares(h, refitted, majorityWeight)
		}
		for i := range h.class {
			if subset[i] != f || !isPredicted(refitted, i) ||
				!isPredicted(mixture, i) {
				continue
			}
			mixTo(row, refitted, i)
			calibrated.apply(row)
			reweigh(row)
			mixTo(full, mixture, i)
			calibrated.apply(full)
			reweigh(full)
			confidence.Note(h.attributed || !h.isolated[i], h.places[i], row, full)
		}
	}
	return confidence
}

// estimateAccuracy stores in out the estimated accuracy at reachable nodes without a label. If confidence is nil, it does
// nothing.
func estimateAccuracy(ctx context.Context, p *problem.Problem, set *settings,
	confidence *choose.Confidence, out *engine.Prediction) error {
	if confidence == nil {
		return nil
	}
	unlabelled := out.Reached.Clone()
	if set.Targets != nil {
		unlabelled.And(roaring.BitmapOf(set.Targets...))
	}
	for _, v := range p.Row {
		unlabelled.Remove(uint32(v))
	}
	reweigh := p.Reweigher(set.balanced)
	sums, err := blocks.NodeSums(ctx, p.Team(), set.Workers, len(p.Degrees), 2, func(sums []float64, lo, hi int) {
		row := make([]float64, len(p.Names))
		for v := lo; v < hi; v++ {
			if !unlabelled.Contains(uint32(v)) {
				continue
			}
			if out.Highest != nil {
				out.Highest.RowTo(row, v)
			} else {
				simd.ConvertTo(row, out.Scores.Row(v))
			}
			if reweigh != nil {
				reweigh(row)
			}
			sums[0]++
			sums[1] += slices.Max(row)
		}
	})
	if err != nil {
		return err
	}
	out.Estimate = confidence.Estimate(out.Reached, sums[1]/max(1, sums[0]))
	out.Held = confidence.Held()
	return nil
}

func toFloat64(x []float32) []float64 {
	y := make([]float64, len(x))
	simd.ConvertTo(y, x)
	return y
}

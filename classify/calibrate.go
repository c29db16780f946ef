package classify

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/param"
)

// calibration turns scores into probabilities of classes. A binary classifier with the score f gives its first class the
// probability
//
//	r = 1/(1 + exp(A·f + B)),
//
// see J. Platt, Probabilistic outputs for support vector machines (1999). From the r of one-vs-one classifiers, couple
// computes the probabilities of the classes. The r of classifiers against [Rest] are divided by their sum.
type calibration struct {
	classes []int
	pairs   Pairs
	a, b    []float64 // A and B of each classifier
}

// Calibrate returns a function that converts scores of the model m to the probabilities of the classes that have an item,
// as [Learner.Probabilities]. The learner l must have fitted m with the values v. Calibrate divides the items with y ≥ 0
// into five parts and fits l without each part in turn. It learns the probabilities from the scores of the omitted parts,
// because the scores of training items are too confident. Cost: five fits.
//
// If all omitted items that a classifier has scored are of the same class, the classifier gives both classes the
// probability ½.
func Calibrate(ctx context.Context, l *Learner, m *Model, k Gram, y []int,
	classes int, v param.Values) (func(dst, scores []float64) []float64, error) {
	const parts = 5
	g, err := newGroupsOfTwo(k.Len(), y, classes)
	if err != nil {
		return nil, err
	}
	scores := map[Pair]outputScores{}
	row := make([]float64, k.Len())
	folds := make([]int, len(y))
	for _, c := range g.present {
		for a, i := range g.class(c) {
			folds[i] = a % parts
		}
	}
	for fold := range parts {
		training := make([]int, len(y))
		for i, c := range y {
			training[i] = c
			if folds[i] == fold {
				training[i] = -1
			}
		}
		model, err := l.Fit(ctx, k, training, classes, v)
		if errors.Is(err, ErrOneClass) {
			continue
		}
		if err != nil {
			return nil, err
		}
		outputs := model.Pairs
		for i, c := range y {
			if c < 0 || folds[i] != fold {
				continue
			}
			k.RowTo(row, i)
			for o, f := range model.ScoresTo(nil, row, row[i]) {
				if p := outputs[o]; c == p.Positive || p.Negative == Rest || c == p.Negative { // the output is about the item
					s := scores[p]
					scores[p] = outputScores{append(s.score, f),
						append(s.first, c == p.Positive)}
				}
			}
		}
	}
	c := &calibration{classes: g.present, pairs: m.Pairs}
	for _, p := range c.pairs {
		a, b := Sigmoid(scores[p].score, scores[p].first)
		c.a = append(c.a, a)
		c.b = append(c.b, b)
	}
	return c.probabilitiesTo, nil
}

type outputScores struct {
	score []float64
	first []bool
}

// Sigmoid returns the A and B for which 1/(1 + exp(A·f + B)) is the probability that an item with the score f is marked.
// They maximize the likelihood of the targets (n₁+1)/(n₁+2) of the n₁ marked items and 1/(n₀+2) of the n₀ other items, so
// that no probability is 0 or 1. If n₀ or n₁ is 0, A and B are 0. Newton's method is from Lin, Lin, Weng, A note on Platt's
// probabilistic outputs for support vector machines, Machine Learning 68 (2007).
func Sigmoid(scores []float64, marked []bool) (a, b float64) {
	var yes, no float64
	for _, first := range marked {
		if first {
			yes++
		} else {
			no++
		}
	}
	if yes == 0 || no == 0 {
		return 0, 0
	}
	target := make([]float64, len(marked))
	for i, first := range marked {
		target[i] = 1 / (no + 2)
		if first {
			target[i] = (yes + 1) / (yes + 2)
		}
	}
	b = math.Log((no + 1) / (yes + 1))
	value := sigmoidLoss(scores, target, a, b)
	for range 100 {
		const ridge = 1e-12
		haa := ridge
		hbb := ridge
		hab := 0.0
		ga := 0.0
		gb := 0.0
		for i, f := range scores {
			p := logistic(-(a*f + b))
			d := target[i] - p
			w := p * (1 - p)
			haa += f * f * w
			hbb += w
			hab += f * w
			ga += f * d
			gb += d
		}
		if math.Abs(ga) < 1e-9 && math.Abs(gb) < 1e-9 {
			break
		}
		det := haa*hbb - hab*hab
		da := -(hbb*ga - hab*gb) / det
		db := -(haa*gb - hab*ga) / det
		slope := ga*da + gb*db
		step := 1.0
		for ; step > 1e-10; step /= 2 {
			if next := sigmoidLoss(scores, target, a+step*da, b+step*db); next < value+1e-4*step*slope {
				a += step * da
				b += step * db
				value = next
				break
			}
		}
		if step <= 1e-10 {
			break // the rest is below rounding
		}
	}
	return a, b
}

// sigmoidLoss returns −Σ t·log p + (1 − t)·log(1 − p) with p = 1/(1 + exp(a·f + b)).
func sigmoidLoss(scores, target []float64, a, b float64) float64 {
	sum := 0.0
	for i, f := range scores {
		x := a*f + b // log (1−p)/p
		sum += math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) - (1-target[i])*x
	}
	return sum
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// probabilitiesTo stores in dst, and returns, the probability of each of c.classes, given the score of each of c.pairs. If
// dst is nil, probabilitiesTo allocates it.
func (c *calibration) probabilitiesTo(dst, scores []float64) []float64 {
	dst = destination(dst, len(c.classes))
	if len(scores) != len(c.pairs) {
		panic(badLength)
	}
	share := make([]float64, len(scores))
	for o, f := range scores {
		const smallest = 1e-7
		share[o] = min(max(logistic(-(c.a[o]*f+c.b[o])), smallest), 1-smallest)
	}
	if c.pairs.byVotes() {
		return c.couple(dst, share)
	}
	sum := 0.0
	for _, r := range share {
		sum += r
	}
	for o, r := range share {
		dst[o] = r / sum
	}
	return dst
}

// couple stores in dst the probabilities p of the classes: p minimises Σ_ab (r_ba·p_a − r_ab·p_b)² with Σp = 1. Here r_ab,
// from share, is the probability of class a against class b. Source: Wu, Lin, Weng, Probability estimates for multi-class
// classification by pairwise coupling, JMLR 5 (2004), section 5.
func (c *calibration) couple(dst, share []float64) []float64 {
	k := len(c.classes)
	place := map[int]int{}
	for a, class := range c.classes {
		place[class] = a
	}
	system := mat.NewDense(k+1, k+1, nil)
	right := mat.NewVecDense(k+1, nil)
	for o, p := range c.pairs {
		a := place[p.Positive]
		b := place[p.Negative]
		r := share[o]
		system.Set(a, a, system.At(a, a)+(1-r)*(1-r))
		system.Set(b, b, system.At(b, b)+r*r)
		system.Set(a, b, -r*(1-r))
		system.Set(b, a, -r*(1-r))
	}
	for a := range k { // the last unknown is the multiplier of Σp = 1
		system.Set(a, k, 1)
		system.Set(k, a, 1)
	}
	right.SetVec(k, 1)
	var p mat.VecDense
	_ = p.SolveVec(system, right) // an ill-conditioned system is solved too
	for a := range dst {
		dst[a] = max(0, p.AtVec(a))
	}
	return dst
}

package classify

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/param"
)

// Rest is the second class of a one-vs-rest [Pair]: all other classes.
const Rest = -1

// Pair names the two classes of a binary classifier. A decision > 0 means Positive, any other decision means Negative.
// Negative may be [Rest].
type Pair struct{ Positive, Negative int }

// Pairs lists the classifiers of a model in order. Either all of them compare two classes, or all compare a class with
// [Rest].
type Pairs []Pair

// AddTo adds value to the element of dst for Positive, and subtracts value from the element for Negative. If Negative is
// [Rest], it subtracts nothing.
func (p Pair) AddTo(dst []float64, value float64) {
	dst[p.Positive] += value
	if p.Negative != Rest {
		dst[p.Negative] -= value
	}
}

func (p Pairs) byVotes() bool {
	return len(p) > 0 && p[0].Negative != Rest
}

func (p Pairs) classes() int {
	top := -1
	for _, pair := range p {
		top = max(top, pair.Positive, pair.Negative)
	}
	return top + 1
}

// Predict returns the predicted class of an item with the given decisions: the class with most votes, or for classifiers
// against [Rest] the class with the largest decision. Ties go to the lowest class.
func (p Pairs) Predict(decisions []float64) int {
	if len(decisions) != len(p) {
		panic(badLength)
	}
	if !p.byVotes() {
		return p[ArgMax(decisions)].Positive
	}
	votes := make([]int, 32)
	for m, pair := range p {
		class := pair.Negative
		if decisions[m] > 0 {
			class = pair.Positive
		}
		if class >= len(votes) {
			votes = append(votes, make([]int, class+1-len(votes))...)
		}
		votes[class]++
	}
	return slices.Index(votes, slices.Max(votes))
}

// ErrOneClass is returned if fewer than two classes have a training item.
var ErrOneClass = errors.New("fewer than two classes have an item to learn from")

// ErrIterationLimit is returned, with the best model so far, if a solver reaches its
// iteration limit before its tolerance.
var ErrIterationLimit = errors.New("iteration limit reached before the tolerance")

// ErrNotFinite is returned if kernel values or features, or products of them, are not finite.
var ErrNotFinite = errors.New("kernel values or features are not finite")

// groups lists the items with a class by their class.
type groups struct {
	y       []int
	items   []int // grouped by class, increasing within a class
	start   []int // class c has items[start[c]:start[c+1]]
	present []int
}

func newGroupsOfTwo(items int, y []int, classes int) (*groups, error) {
	if len(y) != items {
		panic(badLength)
	}
	g := newGroups(y, classes)
	if len(g.present) < 2 {
		return g, ErrOneClass
	}
	return g, nil
}

func newGroups(y []int, classes int) *groups {
	g := &groups{y: y, start: make([]int, classes+1), present: make([]int, 0, classes)}
	for _, c := range y {
		if c < -1 || c >= classes {
			panic(badClass)
		}
		if c >= 0 {
			g.start[c+1]++
		}
	}
	for c := range classes {
		if g.start[c+1] > 0 {
			g.present = append(g.present, c)
		}
		g.start[c+1] += g.start[c]
	}
	g.items = make([]int, g.start[classes])
	for i, c := range y {
		if c >= 0 {
			g.items[g.start[c]] = i
			g.start[c]++
		}
	}
	copy(g.start[1:], g.start[:classes])
	g.start[0] = 0
	return g
}

func (g *groups) class(c int) []int {
	return g.items[g.start[c]:g.start[c+1]]
}

func (g *groups) count(c int) int {
	return g.start[c+1] - g.start[c]
}

func (g *groups) pairs(dst Pairs, oneVsRest bool) Pairs {
	if oneVsRest && len(g.present) > 2 {
		return append(dst, g.againstRest()...)
	}
	for a, i := range g.present {
		for _, j := range g.present[a+1:] {
			dst = append(dst, Pair{i, j})
		}
	}
	return dst
}

// membersTo appends to dst the items of the two classes of p, positive items first, and returns the number of positive
// items.
func (g *groups) membersTo(dst []int, p Pair) (items []int, positive int) {
	dst = append(dst, g.class(p.Positive)...)
	positive = len(dst)
	if p.Negative != Rest {
		return append(dst, g.class(p.Negative)...), positive
	}
	dst = append(dst, g.items[:g.start[p.Positive]]...)
	return append(dst, g.items[g.start[p.Positive+1]:]...), positive
}

// largestFirst returns the indices of pairs by falling numbers of items, so that the classifier that begins last is fitted
// fast.
func (g *groups) largestFirst(pairs Pairs) (order []int) {
	items := func(m int) int {
		if pairs[m].Negative == Rest {
			return len(g.items)
		}
		return g.count(pairs[m].Positive) + g.count(pairs[m].Negative)
	}
	order = sched.Order(len(pairs), func(a, b int) int { return items(b) - items(a) })
	return order
}

// factorsTo stores in dst the class weight of each of items, and returns dst. If weights is nil, the weights are 1.
func (g *groups) factorsTo(dst []float64, items []int,
	weights []float64) []float64 {
	dst = resize(dst, len(items))
	for k, item := range items {
		dst[k] = weightOf(weights, g.y[item])
	}
	return dst
}

func resize[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n, n+n/4)
	}
	return s[:n]
}

func positive(v float64) bool {
	return v > 0 && !math.IsInf(v, 1)
}

// SoftVotes stores in dst scores of the classes that sum to one, from the decisions of binary classifiers. The length of dst
// must be the number of classes. Every one-vs-one classifier splits one vote,
//
//	score_c = 2/(k(k−1)) Σ_{j≠c} σ(a·d_cj),  σ(x) = 1/(1 + exp(−x)),
//
// where k classes have classifiers, d_cj is the decision of c against j (d_jc = −d_cj) and a is the slope. With classifiers
// against [Rest] the scores are exp(a·d_c), divided by their sum. A class without a classifier scores 0. If dst is nil,
// SoftVotes allocates it.
func SoftVotes(dst []float64, p Pairs, decisions []float64,
	slope float64) []float64 {
	if len(decisions) != len(p) {
		panic(badLength)
	}
	if dst == nil {
		dst = make([]float64, p.classes())
	}
	clear(dst)
	if p.byVotes() {
		share := 1 / float64(len(p))
		for m, pair := range p {
			vote := logistic(slope * decisions[m])
			dst[pair.Positive] += share * vote
			dst[pair.Negative] += share * (1 - vote)
		}
		return dst
	}
	top := slices.Max(decisions)
	sum := 0.0
	for m, pair := range p {
		e := math.Exp(slope * (decisions[m] - top))
		dst[pair.Positive] = e
		sum += e
	}
	for c := range dst {
		dst[c] /= sum
	}
	return dst
}

// ArgMax returns the class with the largest score. In a tie it returns the lowest class.
func ArgMax[T float32 | float64](scores []T) int {
	best := 0
	for c, s := range scores {
		if s > scores[best] {
			best = c
		}
	}
	return best
}

// WeightsParam declares the weights of classes. With "balanced" an item of class c counts as v_c items, see
// [BalancedWeights]: v_c multiplies the loss of the item, or the steps and votes of perceptrons.
var WeightsParam = param.Param{
	Name:    "class-weights",
	Meaning: "weight of the items of each class: 1, or one that makes all classes weigh the same",
	Kind:    param.Choice, Words: []string{"equal", "balanced"},
	Default: param.Of("equal"),
}

// alwaysBalanced replaces WeightsParam in learners whose scores are means over the items of a class.
var alwaysBalanced = param.Param{
	Name:    "class-weights",
	Meaning: "all classes weigh the same, because scores are means over the items of a class",
	Kind:    param.Choice, Words: []string{"balanced"},
	Default: param.Of("balanced"),
}

// WeightsOf returns the weights v_c of classes; nil means that all are 1.
func WeightsOf(v param.Values, y []int, classes int) []float64 {
	if v.Word("class-weights") == "balanced" {
		return BalancedWeights(y, classes)
	}
	return nil
}

// BalancedWeights returns the weights n/(k·n_c) of the items of each class c,
// with which every class has the same total weight. n items are used, n_c of
// them in class c, and k classes have an item. A class without an item gets
// weight 1.
func BalancedWeights(y []int, classes int) []float64 {
	g := newGroups(y, classes)
	weights := make([]float64, classes)
	for c := range weights {
		weights[c] = 1
		if count := g.count(c); count > 0 {
			weights[c] = float64(len(g.items)) / (float64(len(g.present)) * float64(count))
		}
	}
	return weights
}

func validateWeights(weights []float64, classes int) error {
	if weights != nil && len(weights) != classes {
		return fmt.Errorf("classify: %d class weights for %d classes",
			len(weights), classes)
	}
	for c, w := range weights {
		if !positive(w) {
			return fmt.Errorf("classify: weight %v of class %d is not a positive number", w, c)
		}
	}
	return nil
}

// Package contract has the contracts of learners as tests, for learners of this module and of other modules: [Check],
// [CheckBits], [CheckBalanced] and [CheckCalibrated] for learners on kernels, and [CheckOnProcesses] for learners that
// spread labels. It also makes the graphs, items, labelled problems and collections of graphs on which methods are
// tested.
package contract

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// Problem is a labelled set of items with features.
type Problem struct {
	F       *sparse.Block[float64]
	Y       []int
	Classes int
}

// Clouds is the problem of [testgraph.Clouds].
func Clouds(rngSeed uint64, n, p, classes int, spread float64) Problem {
	f, y := testgraph.Clouds(rngSeed, n, p, classes, spread)
	return Problem{f, y, classes}
}

// Values returns the linear kernel between all items.
func (p Problem) Values() *sparse.Block[float64] {
	k := classify.LinearGram(p.F)
	g := sparse.BlockOf(k.Len(), k.Len(), make([]float64, k.Len()*k.Len()))
	for i := range g.Rows {
		k.RowTo(g.Row(i), i)
	}
	return g
}

// Gram returns the linear kernel.
func (p Problem) Gram() classify.Gram { return classify.DenseGram(p.Values()) }

// Row returns K(x, i) for all items i.
func (p Problem) Row(x []float64) []float64 {
	row := make([]float64, p.F.Rows)
	for i := range row {
		row[i] = Inner(x, p.F.Row(i))
	}
	return row
}

// Inner returns ⟨x, y⟩.
func Inner(x, y []float64) (sum float64) {
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// Within reports a value that differs from want by more than the tolerance.
func Within(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v ± %.3g", what, got, want, tolerance)
	}
}

// Check checks that defaults, kernels and features give the same scores, that probabilities add up to one, that a
// single class is refused, and that a fit ends when it is cancelled.
func Check(t *testing.T, d *classify.Learner) {
	t.Helper()
	p := Clouds(3, 40, 4, 3, 6)
	p.Y[7], p.Y[23] = -1, -1
	v, err := d.Resolve(nil, nil)
	if err != nil {
		t.Errorf("the defaults of %s: %v", d.Name, err)
		return
	}
	fit := func(y []int) (*classify.Model, error) {
		return d.Fit(context.Background(), p.Gram(), y, p.Classes, v)
	}
	m, err := fit(p.Y)
	if err != nil {
		t.Errorf("%s: %v", d.Name, err)
		return
	}
	linear, err := FitFeatures(context.Background(), d, p.F, p.Y, p.Classes, v)
	if err != nil {
		t.Errorf("%s on features: %v", d.Name, err)
		return
	}
	right, labelled := 0, 0
	for i, want := range p.Y {
		x := p.F.Row(i)
		onFeatures := linear(x)
		row := p.Row(x)
		scores := m.ScoresTo(nil, row, Inner(x, x))
		for c := range scores {
			Within(t, fmt.Sprintf("%s on features, item %d", d.Name, i), onFeatures[c], scores[c], 1e-6*(1+math.Abs(scores[c])))
		}
		if want >= 0 {
			labelled++
			if m.Pairs.Predict(scores) == want {
				right++
			}
		}
		if d.Probabilities == nil {
			continue
		}
		sum := 0.0
		for _, q := range d.Probabilities(nil, scores) {
			sum += q
		}
		Within(t, d.Name+": the sum of probabilities", sum, 1, 1e-12)
	}
	if 10*right < 9*labelled && !d.Whole { // defaults are not for a deep kernel
		t.Errorf("%s: %d of %d training items are right", d.Name, right, labelled)
	}
	one := make([]int, len(p.Y))
	if _, err := fit(one); !errors.Is(err, classify.ErrOneClass) {
		t.Errorf("%s learns from one class: %v", d.Name, err)
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if d.Workspace != nil {
		if _, err := d.Fit(done, p.Gram(), p.Y, p.Classes, v); !errors.Is(err, context.Canceled) {
			t.Errorf("%s goes on when cancelled: %v", d.Name, err)
		}
	}
}

// CheckBits checks that any number of workers gives the same bits.
func CheckBits(t *testing.T, d *classify.Learner) {
	t.Helper()
	p := Clouds(9, 150, 3, 3, 2)
	k := p.Values()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	v, err := d.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var first []float64
	for _, workers := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(workers)
		var scores []float64
		m, err := d.Fit(t.Context(), classify.DenseGram(k), p.Y, p.Classes, v)
		if err != nil {
			t.Fatalf("%s: %v", d.Name, err)
		}
		onFeatures, err := FitFeatures(t.Context(), d, p.F, p.Y, p.Classes, v)
		if err != nil {
			t.Fatalf("%s on features: %v", d.Name, err)
		}
		for i := range k.Rows {
			scores = append(scores, m.ScoresTo(nil, k.Row(i), k.Row(i)[i])...)
			scores = append(scores, onFeatures(p.F.Row(i))...)
		}
		if first == nil {
			first = scores
		}
		if !slices.Equal(first, scores) {
			t.Errorf("%s: other bits with %d workers", d.Name, workers)
		}
	}
}

// rareClass draws features of two classes that overlap. One item in ten has the second class.
func rareClass(seed uint64, n int) Problem {
	rng := rand.New(rand.NewPCG(seed, 0))
	p := Problem{F: sparse.NewBlock[float64](n, 2), Y: make([]int, n), Classes: 2}
	for i := range n {
		if i%10 == 0 {
			p.Y[i] = 1
		}
		p.F.Row(i)[0], p.F.Row(i)[1] = rng.NormFloat64()+1.5*float64(p.Y[i]), 1 // a constant is a bias
	}
	return p
}

// CheckBalanced checks that balanced weights raise the recall of a rare class, if a learner has weights of classes.
// This does not hold for scores that are means over classes, because such scores are balanced without weights.
func CheckBalanced(t *testing.T, l *classify.Learner) {
	t.Helper()
	weights := l.Param("class-weights")
	if weights == nil {
		return
	}
	train, test := rareClass(1, 200), rareClass(2, 400)
	recall := map[string]int{}
	for _, word := range weights.Words {
		v, err := l.Resolve(param.Values{"class-weights": param.Of(word)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := l.Fit(t.Context(), train.Gram(), train.Y, 2, v)
		if err != nil {
			t.Fatalf("%s: %v", l.Name, err)
		}
		for i, c := range test.Y {
			x := test.F.Row(i)
			if c == 1 && m.Pairs.Predict(m.ScoresTo(nil, train.Row(x), Inner(x, x))) == c {
				recall[word]++
			}
		}
	}
	t.Logf("%s: recalled %v of 40", l.Name, recall)
	if equal := recall["equal"]; recall["balanced"] < 25 || recall["balanced"] < equal {
		t.Errorf("%s: recalled %v of 40", l.Name, recall)
	}
}

// FitFeatures learns from explicit features of the items with y ≥ 0. It returns a function that scores features, by
// linear functions if the learner has any.
func FitFeatures(ctx context.Context, l *classify.Learner, f *sparse.Block[float64], y []int, classes int, v param.Values) (func(x []float64) []float64, error) {
	var linear *classify.LinearModel
	var m *classify.Model
	var err error
	if l.Linear != nil {
		single := sparse.BlockOf(f.Rows, f.Cols, make([]float32, f.Rows*f.Cols))
		for i := range f.Rows {
			simd.ConvertTo(single.Row(i), f.Row(i))
		}
		linear, err = l.Linear(ctx, single, y, classes, v)
	} else if m, err = l.Fit(ctx, classify.LinearGram(f), y, classes, v); err == nil && m.Machines != nil {
		linear = classify.LinearWeights(m, f)
	}
	return func(x []float64) []float64 {
		if linear != nil {
			return linear.ScoresTo(nil, x, nil)
		}
		row := make([]float64, f.Rows)
		for i := range row {
			row[i] = Inner(x, f.Row(i))
		}
		return m.ScoresTo(nil, row, Inner(x, x))
	}, err
}

// CheckCalibrated checks the calibration of probabilities of overlapping classes: of new items for which a class has a
// probability near q, a share near q must have this class.
func CheckCalibrated(t *testing.T, d *classify.Learner) {
	t.Helper()
	p := Clouds(21, 1200, 2, 3, 0.8)
	const fit = 400
	y := append([]int(nil), p.Y...)
	for i := fit; i < len(y); i++ {
		y[i] = -1
	}
	k := p.Values()
	gram := classify.DenseGram(k)
	v, err := d.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Fit(t.Context(), gram, y, p.Classes, v)
	if err != nil {
		t.Fatal(err)
	}
	probabilities, err := classify.Calibrate(t.Context(), d, m, gram, y, p.Classes, v)
	if err != nil {
		t.Fatal(err)
	}
	var mean, hits, count [5]float64 // sums for fifths of the probability
	own := 0.0                       // probability of the class that an item is of
	for i := fit; i < len(y); i++ {
		for a, q := range probabilities(nil, m.ScoresTo(nil, k.Row(i), k.Row(i)[i])) {
			bin := min(4, int(5*q))
			mean[bin] += q
			count[bin]++
			if p.Y[i] == a {
				hits[bin]++
				own += q / float64(len(y)-fit)
			}
		}
	}
	wrong := 0.0
	for bin := range count {
		wrong += math.Abs(mean[bin]-hits[bin]) / (3 * float64(len(y)-fit))
	}
	if wrong > 0.04 {
		t.Errorf("%s: probabilities are off by %.3f in the mean", d.Name, wrong)
	}
	if own < 0.37 { // three equal probabilities would not be off
		t.Errorf("%s: the mean probability of the true class is %.3f", d.Name, own)
	}
}

package trial

import (
	"context"
	"errors"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/sparse"
)

// Trial is a training set and a test set whose features are rows of collected
// walks.
type Trial struct {
	Train, Test           []int // rows of the collected block
	TrainClass, TestClass []int

	Weight    []float64   // what a right answer to a label of each class counts
	Unreached []Unreached // further test nodes, which no label reaches
	Largest   int         // the class of most nodes
}

// Unreached is a test node that no label reaches: its class, and the one it is given.
type Unreached struct{ Class, Given int }

// Tester runs trials, one after the other in the same memory.
type Tester struct {
	classes      int
	leastSquares bool      // regularised; otherwise support vector machines
	steps        []int     // increasing
	minSteps     int       // the collected block starts at it
	strength     []float64 // costs or λ, increasing

	machine   func(y []int, classes int) classify.SVM
	solver    classify.Solver
	left      []float64 // train×width: probabilities of the steps between two lengths
	right     []float64 // test×width
	gram      []float64 // train×train: Σ PₜPₜᵀ so far
	cross     []float64 // train×span, span the number of test rows, rounded up to a multiple of 4
	scaled    []float64 // strengths
	models    []classify.Model
	committee committee

	learner learner   // in place of machines; the zero value: none
	mean    []float64 // train×train: the kernel that it is given
}

// Machines are what a tester tries.
type Machines struct {
	LeastSquares bool      // regularised; otherwise support vector machines
	Steps        []int     // of walks, increasing
	MinSteps     int       // the collected block starts at it
	Strength     []float64 // costs or λ, increasing

	// Machine returns a support vector machine, but for its cost, for the items with y ≥ 0.
	Machine func(y []int, classes int) classify.SVM

	// Fit, unless nil, is a learner in their place, and Strength has a number for each
	// of its settings; Whole says that it learns from the kernel between all items.
	Fit   Fit
	Whole bool
}

// New returns a tester for so many classes.
func New(classes int, of Machines) *Tester {
	w := &Tester{classes: classes, machine: of.Machine, leastSquares: of.LeastSquares, steps: of.Steps, minSteps: of.MinSteps, strength: of.Strength}
	w.learner = learner{of.Fit, of.Whole}
	return w
}

// TrialIterations bounds a machine of a trial. Those that need more have a cost
// far too high for noisy classes, and are judged as they are.
const TrialIterations = 20_000

// Hits are right answers by setting: how many, and what those to test rows that labels
// reach weigh together.
type Hits struct {
	Right  []int64
	Weight []float64
}

// NewHits returns the hits of so many settings, without any.
func NewHits(settings int) Hits { return Hits{make([]int64, settings), make([]float64, settings)} }

// Of returns the hits of the settings lo ≤ i < hi.
func (h Hits) Of(lo, hi int) Hits { return Hits{h.Right[lo:hi], h.Weight[lo:hi]} }

// Add adds the hits of as many settings.
func (h Hits) Add(o Hits) {
	for i, n := range o.Right {
		h.Right[i] += n
		h.Weight[i] += o.Weight[i]
	}
}

// all adds a hit of the given weight to every setting.
func (h Hits) all(weight float64) {
	for i := range h.Right {
		h.Right[i]++
		h.Weight[i] += weight
	}
}

// Run adds to hits[s·len(strength)+c] how many test rows are classified rightly
// with the first steps[s]−minSteps+1 steps of x and strength[c].
//
// The kernel is a sum over steps, so that every length goes on from the one
// before; it is left unscaled, K' = s·K with s terms, which at cost C/s or
// with s·λ has the same machines. Costs are a path in which each starts from
// the one before.
func (w *Tester) Run(ctx context.Context, x *sparse.Block[float32], t *Trial, hits Hits) error {
	for _, u := range t.Unreached {
		if u.Class == u.Given {
			hits.all(0)
		}
	}
	if w.learner.whole {
		t = t.withTests()
	}
	m, n := len(t.Train), len(t.Test)
	w.gram = zeros(w.gram, m*m)
	w.cross = zeros(w.cross, m*span(n))
	from := 0
	for s, steps := range w.steps {
		terms := steps - w.minSteps + 1
		if err := w.extend(ctx, x, t, from, terms*w.classes); err != nil {
			return err
		}
		from = terms * w.classes
		score := w.score
		if w.learner.fit != nil {
			score = w.scoreModels
		}
		if err := score(ctx, t, terms, hits.Of(s*len(w.strength), (s+1)*len(w.strength))); err != nil {
			return err
		}
	}
	return nil
}

// fit fits machines of every strength, in order, to the kernel of so many
// terms. They are valid until the next call.
func (w *Tester) fit(ctx context.Context, t *Trial, terms int) ([]classify.Model, error) {
	m := len(t.Train)
	gram := classify.DenseGram(&sparse.Block[float64]{Rows: m, Cols: m, Stride: m, Data: w.gram})
	w.scaled = w.scaled[:0]
	if !w.leastSquares {
		for _, cost := range w.strength {
			w.scaled = append(w.scaled, cost/float64(terms))
		}
		w.solver.SVM = w.machine(t.TrainClass, w.classes)
		w.solver.SVM.MaxIterations = TrialIterations
		models, err := w.solver.Path(ctx, gram, t.TrainClass, w.classes, w.scaled)
		if errors.Is(err, classify.ErrIterationLimit) {
			err = nil // the machines are the best so far
		}
		return models, err
	}
	w.models = w.models[:0]
	for _, lambda := range w.strength {
		model, err := classify.FitRLS(ctx, gram, t.TrainClass, w.classes, lambda*float64(terms))
		if err != nil {
			return nil, err
		}
		w.models = append(w.models, *model)
	}
	return w.models, nil
}

// Outcome is what a trial's machines say about one of its test nodes.
type Outcome struct {
	Class     int
	Fold      int
	Unreached bool           // no label outside the fold reaches the node
	Largest   int            // the answer where there are no machines
	Pairs     classify.Pairs // nil if no label reaches the node or all have one class
	Decisions []float64
}

// Outcomes runs a trial at the only setting of the grid.
func (w *Tester) Outcomes(ctx context.Context, x *sparse.Block[float32], t *Trial) ([]Outcome, error) {
	var list []Outcome
	for _, u := range t.Unreached {
		list = append(list, Outcome{Class: u.Class, Unreached: true, Largest: u.Given})
	}
	if w.learner.whole {
		t = t.withTests()
	}
	m := len(t.Train)
	w.gram = zeros(w.gram, m*m)
	w.cross = zeros(w.cross, m*span(len(t.Test)))
	terms := w.steps[0] - w.minSteps + 1
	if err := w.extend(ctx, x, t, 0, terms*w.classes); err != nil {
		return nil, err
	}
	if w.learner.fit != nil {
		outcomes, err := w.modelOutcomes(ctx, t, terms)
		return append(list, outcomes...), err
	}
	model := &classify.Model{Items: m}
	if models, err := w.fit(ctx, t, terms); err == nil {
		model = &models[0]
	} else if !errors.Is(err, classify.ErrOneClass) {
		return nil, err
	}
	pairs := slices.Clone(model.Pairs)
	row := make([]float64, m)
	for j, class := range t.TestClass {
		for i := range row {
			row[i] = w.cross[i*span(len(t.Test))+j]
		}
		list = append(list, Outcome{Class: class, Largest: t.Largest, Pairs: pairs, Decisions: model.ScoresTo(nil, row, 0)})
	}
	return list, nil
}

// OneVsRest reports whether each of so many classes has a machine against all others:
// the pairs of more than MaxPairwise classes would outgrow the graph.
func OneVsRest(classes int) bool { return classes > MaxPairwise }

// MaxPairwise is the largest number of classes that every pair gets a machine
// of its own for, 190 in all.
const MaxPairwise = 20

// zeros returns n zeros, in the memory of s if it is large enough.
func zeros(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	s = s[:n]
	clear(s)
	return s
}

package trial

import (
	"context"
	"errors"
	"unsafe"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
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

// Machines are what a tester tries.
type Machines struct {
	LeastSquares bool          // regularised; otherwise support vector machines
	Steps        []int         // of walks, increasing
	MinSteps     int           // the collected block starts at it
	Values       []spec.Values // of the learner's parameters; costs or λ increase

	// Machine returns a support vector machine, but for its cost, for the items with y ≥ 0.
	Machine func(y []int, classes int) classify.SVM

	// Learner, unless nil, is tried in their place.
	Learner *classify.Learner
}

// whole reports whether the kernel between all items is learned from, of which test rows
// then are some.
func (m *Machines) whole() bool { return m.Learner != nil && m.Learner.Whole }

// Tester runs trials, one after the other in the same memory.
type Tester struct {
	Machines
	classes int

	solver    classify.Solver
	left      []float64 // train×width: probabilities of the steps between two lengths
	right     []float64 // test×width
	gram      []float64 // train×train: Σ PₜPₜᵀ so far
	cross     []float64 // train×span, span the number of test rows, rounded up to a multiple of 4
	scaled    []float64 // strengths
	mean      []float64 // train×train: the kernel that a learner is given
	committee committee
}

// New returns a tester for so many classes.
func New(classes int, of Machines) *Tester { return &Tester{Machines: of, classes: classes} }

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

// Run adds to hits[s·settings+c] how many test rows are classified rightly
// with the first Steps[s]−MinSteps+1 steps of x and setting c.
//
// The kernel is a sum over steps, so that every length goes on from the one
// before; to machines it is left unscaled, K' = s·K with s terms, which at cost C/s or
// with s·λ has the same machines. Costs are a path in which each starts from
// the one before.
func (w *Tester) Run(ctx context.Context, x *sparse.Block[float32], t *Trial, hits Hits) error {
	for _, u := range t.Unreached {
		if u.Class == u.Given {
			hits.all(0)
		}
	}
	t = w.begin(t)
	from := 0
	for s, steps := range w.Steps {
		terms := steps - w.MinSteps + 1
		if err := w.extend(ctx, x, t, from, terms*w.classes); err != nil {
			return err
		}
		from = terms * w.classes
		models, err := w.fit(ctx, t, terms)
		if err != nil {
			return err
		}
		score := w.score
		if w.Learner != nil {
			score = w.scoreModels
		}
		score(models, t, terms, hits.Of(s*len(w.Values), (s+1)*len(w.Values)))
	}
	return nil
}

// begin makes room for the kernel of a trial, which it returns as it is learned from.
func (w *Tester) begin(t *Trial) *Trial {
	if w.whole() {
		t = t.withTests()
	}
	w.gram = zeros(w.gram, len(t.Train)*len(t.Train))
	w.cross = zeros(w.cross, len(t.Train)*span(len(t.Test)))
	return t
}

// fit returns a model of every setting, in order, on the kernel of so many terms, nil where
// the training rows have one class. They are valid until the next call. Others than machines
// are not free of the kernel's scale, which is that of the mean over steps.
func (w *Tester) fit(ctx context.Context, t *Trial, terms int) ([]*classify.Model, error) {
	m := len(t.Train)
	gram := func(values []float64) classify.Gram {
		return classify.DenseGram(&sparse.Block[float64]{Rows: m, Cols: m, Stride: m, Data: values})
	}
	if w.Learner != nil {
		w.mean = zeros(w.mean, m*m)
		for i, v := range w.gram[:m*m] {
			w.mean[i] = v / float64(terms)
		}
		return FitLearner(ctx, w.Learner, w.Values, gram(w.mean), t.TrainClass, w.classes)
	}
	w.scaled = w.scaled[:0]
	for _, v := range w.Values {
		if w.LeastSquares {
			w.scaled = append(w.scaled, v.Number("lambda")*float64(terms))
		} else {
			w.scaled = append(w.scaled, v.Number("cost")/float64(terms))
		}
	}
	if !w.LeastSquares {
		return FitMachines(ctx, &w.solver, w.Machine, w.scaled, gram(w.gram), t.TrainClass, w.classes)
	}
	models := make([]*classify.Model, len(w.scaled))
	for i, lambda := range w.scaled {
		var err error
		if models[i], err = classify.FitRLS(ctx, gram(w.gram), t.TrainClass, w.classes, lambda); err != nil && !errors.Is(err, classify.ErrOneClass) {
			return nil, err
		}
	}
	return models, nil
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

// OutcomeBytes is what an outcome takes, with so many decisions.
func OutcomeBytes(decisions int) int64 {
	const rounded = 16 // to the next size that the runtime gives
	return int64(unsafe.Sizeof(Outcome{})) + 8*int64(decisions) + rounded
}

// Outcomes runs a trial at the only setting of the grid.
func (w *Tester) Outcomes(ctx context.Context, x *sparse.Block[float32], t *Trial) ([]Outcome, error) {
	var list []Outcome
	for _, u := range t.Unreached {
		list = append(list, Outcome{Class: u.Class, Unreached: true, Largest: u.Given})
	}
	t = w.begin(t)
	terms := w.Steps[0] - w.MinSteps + 1
	if err := w.extend(ctx, x, t, 0, terms*w.classes); err != nil {
		return nil, err
	}
	models, err := w.fit(ctx, t, terms)
	if err != nil {
		return nil, err
	}
	w.asked(t, terms, func(j int, row []float64, own float64) {
		o := Outcome{Class: t.TestClass[j], Largest: t.Largest}
		if model := models[0]; model != nil {
			o.Pairs, o.Decisions = model.Pairs, model.ScoresTo(nil, row, own)
		}
		list = append(list, o)
	})
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

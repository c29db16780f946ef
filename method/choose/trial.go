package choose

import (
	"context"
	"unsafe"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// Trial is a training set and a test set whose features are rows of collected
// walks.
type Trial struct {
	Train, Test           []int // rows of the collected block
	TrainClass, TestClass []int

	Weight    []float64   // of a right prediction for a label of each class
	Unreached []Unreached // further test nodes, which no label reaches
	Largest   int         // the class of most nodes
}

// Unreached is a test node that no label reaches: its class, and the one it is given.
type Unreached struct{ Class, Given int }

// Candidates holds the candidates that a tester compares.
type Candidates struct {
	Steps    []int // of walks, increasing
	MinSteps int   // the collected block starts at it

	Learner *classify.Learner
	Path    *classify.Path // of Learner on features, nil: each setting is a fit of its own
	Values  []param.Values // of the parameters, complete
}

// Tester runs trials, one after the other in the same memory.
type Tester struct {
	Candidates
	classes   int
	along     func([]param.Values) Fit // of settings on the path
	left      []float64                // train×width: probabilities of the steps between two lengths
	right     []float64                // test×width
	gram      []float64                // train×train: Σ PₜPₜᵀ so far
	cross     []float64                // train×span, span the number of test rows, rounded up to a multiple of 4
	mean      []float64                // train×train: the kernel that a learner is given
	decisions []float64                // of all machines on some test rows
}

// New returns a tester for the given number of classes.
func New(classes int, candidates Candidates) *Tester {
	w := &Tester{Candidates: candidates, classes: classes}
	if candidates.Path != nil {
		w.along = OnPath(candidates.Learner, candidates.Path, classes)
	}
	return w
}

// Hits are right answers by setting: how many, and what those to test rows that labels
// reach weigh together.
type Hits struct {
	Right  []int64
	Weight []float64
}

// NewHits returns hits of the given number of settings, all zero.
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

// Share adds the hits of other processes.
func (h Hits) Share(team *sparse.Team) {
	if team == nil {
		return
	}
	sums := make([]float64, 0, 2*len(h.Right))
	for _, n := range h.Right {
		sums = append(sums, float64(n))
	}
	sums = append(sums, h.Weight...)
	team.Sum(sums)
	for i := range h.Right {
		h.Right[i] = int64(sums[i])
	}
	copy(h.Weight, sums[len(h.Right):])
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
// before; on a path it is left unscaled, K' = s·K with s terms, which with values that allow
// for it has the same models, see [Weighed].
func (w *Tester) Run(ctx context.Context, x *sparse.Block[float32], t *Trial, hits Hits) error {
	for _, u := range t.Unreached {
		if u.Class == u.Given {
			hits.all(0)
		}
	}
	t = w.begin(t)
	start := 0
	for s, steps := range w.Steps {
		terms := steps - w.MinSteps + 1
		if err := w.extend(ctx, x, t, start*w.classes, terms*w.classes); err != nil {
			return err
		}
		start = terms
		models, err := w.fit(ctx, t, terms)
		if err != nil {
			return err
		}
		score := w.score
		if w.Path == nil {
			score = w.scoreModels
		}
		score(models, t, terms, hits.Of(s*len(w.Values), (s+1)*len(w.Values)))
	}
	return nil
}

// begin makes room for the kernel of a trial, which it returns as it is learned from.
func (w *Tester) begin(t *Trial) *Trial {
	if w.Learner.Whole {
		t = t.withTests()
	}
	w.gram = zeros(w.gram, len(t.Train)*len(t.Train))
	w.cross = zeros(w.cross, len(t.Train)*span(len(t.Test)))
	return t
}

// fit returns a model of every setting, in order, on the kernel of the given number of terms, nil if
// the training rows have one class. They are valid until the next call. A learner without a path
// depends on the kernel's scale, and receives the mean over steps.
func (w *Tester) fit(ctx context.Context, t *Trial, terms int) ([]*classify.Model, error) {
	m := len(t.Train)
	gram := func(values []float64) classify.Gram {
		return classify.DenseGram(&sparse.Block[float64]{Rows: m, Cols: m, Stride: m, Data: values})
	}
	if w.Path == nil {
		w.mean = zeros(w.mean, m*m)
		for i, v := range w.gram[:m*m] {
			w.mean[i] = v / float64(terms)
		}
		return Each(w.Learner, w.classes, w.Values)(ctx, gram(w.mean), t.TrainClass)
	}
	weighed := make([]param.Values, len(w.Values))
	for i, v := range w.Values {
		weighed[i] = Weighed(w.Path, v, float64(terms))
	}
	return w.along(weighed)(ctx, gram(w.gram), t.TrainClass)
}

// Outcome is the prediction of a trial's classifiers for one of its test nodes.
type Outcome struct {
	Class     int
	Fold      int
	Unreached bool           // no label outside the fold reaches the node
	Largest   int            // the answer where there are no machines
	Pairs     classify.Pairs // nil if no label reaches the node or all have one class
	Decisions []float64
}

// OutcomeBytes returns the memory of an outcome with the given number of decisions.
func OutcomeBytes(decisions int) int64 {
	const rounded = 16 // to the next size that the runtime gives
	return int64(unsafe.Sizeof(Outcome{})) + 8*int64(decisions) + rounded
}

// Outcomes runs a trial at the only setting of the grid.
func (w *Tester) Outcomes(ctx context.Context, x *sparse.Block[float32], t *Trial) ([]Outcome, error) {
	joint := w.begin(t)
	terms := w.Steps[0] - w.MinSteps + 1
	if err := w.extend(ctx, x, joint, 0, terms*w.classes); err != nil {
		return nil, err
	}
	var list []Outcome
	for _, u := range t.Unreached {
		list = append(list, Outcome{Class: u.Class, Unreached: true, Largest: u.Given})
	}
	models, err := w.fit(ctx, joint, terms)
	if err != nil {
		return nil, err
	}
	w.asked(joint, terms, func(j int, row []float64, selfValue float64) {
		o := Outcome{Class: t.TestClass[j], Largest: t.Largest}
		if model := models[0]; model != nil {
			o.Pairs, o.Decisions = model.Pairs, model.ScoresTo(nil, row, selfValue)
		}
		list = append(list, o)
	})
	return list, nil
}

// zeros returns n zeros, in the memory of s if it is large enough.
func zeros(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	s = s[:n]
	clear(s)
	return s
}

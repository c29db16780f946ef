package choose

import (
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// Outcome is the prediction of a model's classifiers for an item that the model has not learned from.
type Outcome struct {
	Label     int // position in the labels
	Class     int
	Fold      int
	Unreached bool           // no label outside the fold reaches the item
	Largest   int            // class that is predicted if Pairs is nil
	Pairs     classify.Pairs // nil if no label reaches the item, or all labels have one class
	Decisions []float64
	Voted     int // class with most votes
}

// Clone returns a copy of the outcome with its own memory.
func (o *Outcome) Clone() Outcome {
	clone := *o
	clone.Decisions = slices.Clone(o.Decisions)
	return clone
}

// CrossValidate fits models of each setting to the items outside each fold, and calls visit with their outcomes for the
// items of the fold, in order. k must have a row for each item and a column for each item to learn from; these items come
// first. Items of fold −1 are only learned from. An outcome, except its Pairs, is valid until visit returns.
func CrossValidate(ctx context.Context, k *sparse.Block[float64], class, fold []int,
	fit Fit, visit func(setting int, o *Outcome)) error {
	square := *k
	square.Rows = k.Cols
	gram := classify.DenseGram(&square)
	y := make([]int, k.Cols)
	for f := range slices.Max(fold) + 1 {
		var tests []int
		copy(y, class)
		for i, itemFold := range fold {
			if itemFold != f {
				continue
			}
			tests = append(tests, i)
			if i < len(y) {
				y[i] = -1
			}
		}
		models, err := fit(ctx, gram, y)
		if err != nil {
			return err
		}
		for _, model := range models {
			if model != nil {
				model.Pairs = slices.Clone(model.Pairs) // the next fit may reuse its memory
			}
		}
		j := &judge{models: models, y: y,
			about: Outcome{Fold: f, Largest: LargestWithout(class, fold, f)}}
		for chunk := range slices.Chunk(tests, testChunk) {
			// t has the rows of the chunk as columns, padded with zero columns to a multiple of 4.
			t := sparse.NewBlock[float64](k.Cols, (len(chunk)+3)&^3)
			for j, i := range chunk {
				for a, v := range k.Row(i) {
					t.Row(a)[j] = v
				}
			}
			j.columns = t
			j.class = j.class[:0]
			j.label = chunk
			j.values = j.values[:0]
			for _, i := range chunk {
				value := 0.0
				if i < k.Cols {
					value = k.Row(i)[i]
				}
				j.class = append(j.class, class[i])
				j.values = append(j.values, value)
			}
			j.visit(visit)
		}
	}
	return nil
}

const testChunk = 256

// judge applies the models of several settings to test items.
type judge struct {
	models  []*classify.Model      // nil: no model
	y       []int                  // classes of the items of the models, −1 for other items
	columns *sparse.Block[float64] // kernel values of each item with the tests, padded with zeros to a multiple of 4
	class   []int
	label   []int     // position of each test in the labels
	values  []float64 // K(x, x) of each test; 0 if not needed
	about   Outcome

	outcomes  []Outcome
	rows      []float64 // decisions by test
	undecided float64   // decisions up to it are rounding errors
}

// visit calls do with the outcome of each model for each test item. If the kernel values of a test item with all learned
// items are 0, the outcome has no decisions.
func (j *judge) visit(do func(setting int, o *Outcome)) {
	related := make([]bool, len(j.class))
	count := 0
	for a := 0; a < len(j.y) && count < len(related); a++ {
		for i := range related {
			if !related[i] && j.y[a] >= 0 && j.columns.Row(a)[i] != 0 {
				related[i] = true
				count = count + 1
			}
		}
	}
	var last *classify.Model
	var decisions [testChunk]float64
	var row []float64
	j.outcomes = slices.Grow(j.outcomes[:0], len(j.class))[:len(j.class)]
	for setting, model := range j.models {
		hasChanged := setting == 0 || model == nil || last == nil
		if model != nil && last == nil {
			j.rows = slices.Grow(j.rows[:0],
				len(j.class)*len(model.Pairs))[:len(j.class)*len(model.Pairs)]
		}
		if model != nil && model.Rule == nil {
			for p := range model.Machines {
				if m := &model.Machines[p]; last == nil || !same(&last.Machines[p], m) {
					hasChanged = true
					j.decide(m, decisions[:j.columns.Cols])
					for i := range j.class {
						j.rows[i*len(model.Pairs)+p] = decisions[i]
					}
				}
			}
			last = model
		}
		for i := range j.outcomes {
			o := &j.outcomes[i]
			if hasChanged {
				*o = j.about
				o.Class = j.class[i]
				o.Label = j.label[i]
				o.Unreached = !related[i]
				o.Voted = o.Largest
				if model != nil && related[i] {
					o.Pairs = model.Pairs
					o.Decisions = j.rows[i*len(model.Pairs):][:len(model.Pairs)]
					if model.Rule != nil {
						row = row[:0]
						for a := range j.y {
							row = append(row, j.columns.Row(a)[i])
						}
						model.ScoresTo(o.Decisions, row, j.values[i])
					}
					if slices.ContainsFunc(o.Decisions,
						func(d float64) bool { return math.Abs(d) >= j.undecided }) {
						o.Voted = o.Pairs.Predict(o.Decisions)
					} else {
						o.Pairs = nil
					}
				}
			}
			do(setting, o)
		}
	}
}

func same(a, b *classify.Machine) bool {
	return a.Rho == b.Rho && slices.Equal(a.Index, b.Index) &&
		slices.Equal(a.Coef, b.Coef)
}

func (j *judge) decide(m *classify.Machine, dst []float64) {
	var unread [testChunk]float64
	clear(dst)
	for start := 0; start < len(m.Index); start += 4 {
		var factor [8]float64
		var rows [4][]float64
		for q := range rows {
			s := min(start+q, len(m.Index)-1)
			rows[q] = j.columns.Row(m.Index[s])
			if start+q == s {
				factor[q] = m.Coef[s]
			}
		}
		simd.AddPanels(dst, unread[:len(dst)], rows[0], rows[1], rows[2],
			rows[3], &factor)
	}
	for i := range dst {
		dst[i] -= m.Rho
	}
}

// LargestWithout returns the most frequent class outside fold f.
func LargestWithout(class, fold []int, f int) int {
	return Majority(problem.Pick(class, OfFold(fold, f).Train))
}

// LeaveOneOut calls visit with the outcome of each item. decisions must have, item after item, the decision of each of
// pairs by a model of all other items. If the kernel values of an item with all other items are 0, its outcome is the
// largest class of the other items.
func LeaveOneOut(k *sparse.Block[float64], class, fold []int, pairs classify.Pairs,
	decisions []float64, visit func(o *Outcome)) {
	for i, c := range class {
		o := Outcome{Label: i, Class: c, Fold: fold[i], Unreached: true}
		for j, v := range k.Row(i) {
			o.Unreached = o.Unreached && (j == i || v == 0)
		}
		if o.Unreached {
			o.Largest = Majority(slices.Concat(class[:i], class[i+1:]))
			o.Voted = o.Largest
		} else {
			o.Pairs = pairs
			o.Decisions = decisions[i*len(pairs) : (i+1)*len(pairs)]
			o.Voted = pairs.Predict(o.Decisions)
		}
		visit(&o)
	}
}

// Rescale divides k by the mean of its diagonal over the first items rows, and returns the factor 1/mean. If the mean is
// not positive, Rescale leaves k as it is and returns 1.
func Rescale(k *sparse.Block[float64], items int) float64 {
	var trace float64
	for i := range items {
		trace += k.Row(i)[i]
	}
	if !(trace > 0) {
		return 1
	}
	f := float64(items) / trace
	blocks.Scale(k, f)
	return f
}

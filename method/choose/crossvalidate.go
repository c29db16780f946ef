package choose

import (
	"context"
	"slices"
	"unsafe"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/sparse"
)

// Outcome is the prediction of a model's classifiers for an item that the model has not learned from.
type Outcome struct {
	Class     int
	Fold      int
	Unreached bool           // no label outside the fold reaches the item
	Largest   int            // the class that is predicted where there are no classifiers
	Pairs     classify.Pairs // nil if no label reaches the item or all have one class
	Decisions []float64
}

// Clone returns an outcome with memory of its own.
func (o *Outcome) Clone() Outcome {
	clone := *o
	clone.Decisions = slices.Clone(o.Decisions)
	return clone
}

// OutcomeBytes returns the memory of an outcome with the given number of decisions.
func OutcomeBytes(decisions int) int64 {
	const rounded = 16 // to the next size that the runtime gives
	return int64(unsafe.Sizeof(Outcome{})) + 8*int64(decisions) + rounded
}

// Voted returns the class that the decisions of an outcome vote for.
func (o *Outcome) Voted() int {
	if len(o.Pairs) == 0 {
		return o.Largest
	}
	return o.Pairs.Predict(o.Decisions)
}

// CrossValidate calls visit, for each setting and in the order of the items of a fold, with what models that learn from the
// other folds say about each item. k has a row for each item, and a column for each of the first ones, which models learn
// from unless they are in the fold. An item of fold −1 is in none. Outcomes but for their Pairs are valid until visit returns.
func CrossValidate(ctx context.Context, k *sparse.Block[float64], class, fold []int, fit Fit, visit func(setting int, o *Outcome)) error {
	square := *k
	square.Rows = k.Cols
	gram, y := classify.DenseGram(&square), make([]int, k.Cols)
	for f := range slices.Max(fold) + 1 {
		var tests []int
		copy(y, class)
		for i, itemFold := range fold {
			if itemFold != f {
				continue
			}
			if tests = append(tests, i); i < len(y) {
				y[i] = -1
			}
		}
		models, err := fit(ctx, gram, y)
		if err != nil {
			return err
		}
		for _, model := range models {
			if model != nil {
				model.Pairs = slices.Clone(model.Pairs) // whose memory may be that of the next fit
			}
		}
		about := Outcome{Fold: f, Largest: LargestWithout(class, fold, f)}
		for chunk := range slices.Chunk(tests, testChunk) {
			decide(models, k, y, class, chunk, about, visit)
		}
	}
	return nil
}

// testChunk is the number of items that classifiers decide on at a time.
const testChunk = 256

// decide calls visit with the outcome of each model, nil for none, for at most testChunk rows of k. y has the classes of the
// items that the models have learned from, −1 for others. A row without a value with them has no decisions. A classifier that
// is the same as that of the setting before decides once.
func decide(models []*classify.Model, k *sparse.Block[float64], y, class, tests []int, about Outcome, visit func(setting int, o *Outcome)) {
	width := (len(tests) + 3) &^ 3
	columns, decisions := make([]float64, k.Cols*width), []float64(nil) // by item and test, and by classifier and test
	related := make([]bool, len(tests))
	for j, i := range tests {
		for a, v := range k.Row(i) {
			columns[a*width+j] = v
			related[j] = related[j] || y[a] >= 0 && v != 0
		}
	}
	var row []float64
	var last *classify.Model
	var o Outcome
	for s, model := range models {
		if model != nil && model.Rule == nil {
			if decisions == nil {
				decisions = make([]float64, len(model.Pairs)*width)
			}
			for p := range model.Machines {
				if last == nil || !same(&last.Machines[p], &model.Machines[p]) {
					decideBy(&model.Machines[p], decisions[p*width:][:width], columns)
				}
			}
			last = model
		}
		for j, i := range tests {
			o = about
			o.Class, o.Unreached = class[i], !related[j]
			if model != nil && related[j] {
				row = slices.Grow(row[:0], len(model.Pairs))[:len(model.Pairs)]
				o.Pairs, o.Decisions = model.Pairs, row
				if model.Rule == nil {
					for p := range o.Decisions {
						o.Decisions[p] = decisions[p*width+j]
					}
				} else {
					value := 0.0
					if i < k.Cols {
						value = k.Row(i)[i]
					}
					model.ScoresTo(o.Decisions, k.Row(i), value)
				}
			}
			visit(s, &o)
		}
	}
}

// same reports whether two classifiers decide alike, to the bit.
func same(a, b *classify.Machine) bool {
	return a.Rho == b.Rho && slices.Equal(a.Index, b.Index) && slices.Equal(a.Coef, b.Coef)
}

// decideBy stores the decisions of a classifier on tests, whose kernel values with item i are in columns from i·len(dst) on.
func decideBy(m *classify.Machine, dst, columns []float64) {
	var unread [testChunk]float64
	clear(dst)
	for start := 0; start < len(m.Index); start += 4 {
		var factor [8]float64
		var rows [4][]float64
		for q := range rows {
			s := min(start+q, len(m.Index)-1)
			rows[q] = columns[m.Index[s]*len(dst):][:len(dst)]
			if start+q == s {
				factor[q] = m.Coef[s]
			}
		}
		simd.AddPanels(dst, unread[:len(dst)], rows[0], rows[1], rows[2], rows[3], &factor)
	}
	for i := range dst {
		dst[i] -= m.Rho
	}
}

// LargestWithout returns the largest of the classes outside a fold.
func LargestWithout(class, fold []int, f int) int {
	var remainder []int
	for _, i := range split.OfFold(fold, f).Train {
		remainder = append(remainder, class[i])
	}
	return split.Majority(remainder)
}

// LeaveOneOut calls visit with the outcome of each item by the decisions of a model of all other items. An
// item whose kernel values with the others are 0 is given their largest class.
func LeaveOneOut(k *sparse.Block[float64], class, fold []int, pairs classify.Pairs, decisions []float64, visit func(o *Outcome)) {
	for i, c := range class {
		o := Outcome{Class: c, Fold: fold[i], Unreached: true}
		for j, v := range k.Row(i) {
			o.Unreached = o.Unreached && (j == i || v == 0)
		}
		if o.Unreached {
			o.Largest = split.Majority(slices.Concat(class[:i], class[i+1:]))
		} else {
			o.Pairs, o.Decisions = pairs, decisions[i*len(pairs):(i+1)*len(pairs)]
		}
		visit(&o)
	}
}

// MeanDiagonal returns one over the mean value between each of the first items and
// itself, 1 if that is not positive.
func MeanDiagonal(k *sparse.Block[float64], items int) float64 {
	var trace float64
	for i := range items {
		trace += k.Row(i)[i]
	}
	if !(trace > 0) {
		return 1
	}
	return float64(items) / trace
}

// Rescale divides a block of items among themselves by the mean of its diagonal, if that is
// positive, and returns the factor.
func Rescale(k *sparse.Block[float64]) float64 {
	f := MeanDiagonal(k, k.Rows)
	Scale(k, f)
	return f
}

// Scale multiplies a block by f.
func Scale(k *sparse.Block[float64], f float64) {
	for i := range k.Rows {
		row := k.Row(i)
		for j := range row {
			row[j] *= f
		}
	}
}

package choose

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/sparse"
)

// Products holds the kernel between the rows of one or several trials as a sum over groups of
// classes, because the features of a thousand classes do not fit into memory together. For each
// length of walks it has the terms Σ PₜPₜᵀ of the steps beyond the length before.
type Products struct {
	Trials []*Trial

	left, right []int // rows of the collected block, increasing
	terms       []int // steps up to each length
	sums        []*sparse.Block[float64]
}

// NewProducts returns products without a group. Trials that share most of their rows should be
// in one, because the kernel between two rows is then computed once.
func NewProducts(candidates *Candidates, trials ...*Trial) *Products {
	p := &Products{Trials: trials}
	for _, t := range trials {
		p.left = append(p.left, t.Train...)
		p.right = slices.Concat(p.right, t.Train, t.Test)
	}
	p.left, p.right = unique(p.left), unique(p.right)
	if candidates.Learner.Whole || len(p.right) <= 2*len(p.left) { // one half of a symmetric kernel costs less
		p.left = p.right
	}
	for _, steps := range candidates.Steps {
		p.terms = append(p.terms, steps-candidates.MinSteps+1)
	}
	return p
}

func unique(list []int) []int {
	slices.Sort(list)
	return slices.Compact(list)
}

// Bytes returns the memory of the sums.
func (p *Products) Bytes() int64 { return 8 * int64(len(p.terms)*len(p.left)) * int64(len(p.right)) }

// Rows returns the rows of the collected block that the trials need, increasing.
func (p *Products) Rows() []int { return p.right }

// Add adds the features of a group of classes. Row i of x has those of rows[i], which includes all
// rows of p and is increasing.
func (p *Products) Add(ctx context.Context, x *sparse.Block[float32], rows []int, classes, workers int) error {
	for range p.terms[len(p.sums):] {
		p.sums = append(p.sums, sparse.BlockOf(len(p.left), len(p.right), make([]float64, len(p.left)*len(p.right))))
	}
	right := take(x, rows, p.right)
	left := right
	if len(p.left) < len(p.right) {
		left = take(x, rows, p.left)
	}
	start := 0
	for s, terms := range p.terms {
		end := terms * classes
		if start == end {
			continue
		}
		f := right.Columns(start, end)
		g := f
		if left != right {
			g = left.Columns(start, end)
		}
		if err := classify.AddInnerProducts(ctx, p.sums[s], g, f, workers); err != nil {
			return err
		}
		start = end
	}
	return nil
}

// take returns the features of some of the rows.
func take(x *sparse.Block[float32], rows, subset []int) *sparse.Block[float32] {
	if len(subset) == len(rows) {
		return x
	}
	out := sparse.BlockOf(len(subset), x.Cols, make([]float32, len(subset)*x.Cols))
	for i, row := range subset {
		position, _ := slices.BinarySearch(rows, row)
		copy(out.Row(i), x.Row(position))
	}
	return out
}

// addTo adds the products of a length to the kernel of a trial.
func (p *Products) addTo(w *Tester, t *Trial, step int) {
	placesOf := func(list, rows []int) []int {
		places := make([]int, len(rows))
		for i, row := range rows {
			places[i], _ = slices.BinarySearch(list, row)
		}
		return places
	}
	train, tests, n := placesOf(p.right, t.Train), placesOf(p.right, t.Test), span(len(t.Test))
	for i, place := range placesOf(p.left, t.Train) {
		row := p.sums[step].Row(place)
		for j, b := range train {
			w.gram[i*len(train)+j] += row[b]
		}
		for j, b := range tests {
			w.cross[i*n+j] += row[b]
		}
	}
}

// RunOn is [Tester.Run] on products that have been added up.
func (w *Tester) RunOn(ctx context.Context, p *Products, t *Trial, hits Hits) error {
	t.countUnreached(hits)
	joint := w.begin(t)
	return w.run(ctx, joint, hits, func(step, _, _ int) error {
		p.addTo(w, joint, step)
		return nil
	})
}

// OutcomesOn is [Tester.Outcomes] on products that have been added up.
func (w *Tester) OutcomesOn(ctx context.Context, p *Products, t *Trial) ([]Outcome, error) {
	joint := w.begin(t)
	p.addTo(w, joint, 0)
	return w.outcomes(ctx, t, joint, w.Steps[0]-w.MinSteps+1)
}

// countUnreached counts the test nodes that no label reaches.
func (t *Trial) countUnreached(hits Hits) {
	for _, u := range t.Unreached {
		if u.Class == u.Given {
			hits.all(0)
		}
	}
}

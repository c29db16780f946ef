package papers

import (
	"context"
	"errors"
	"math"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// ErrNoDistance is returned if all items are equal in the space of a kernel, so that the density of their distances is undefined.
var ErrNoDistance = errors.New("all items lie in one place of the kernel's space")

// deepLearner declares a base learner on a deep kernel: Tang and Zhu, Classifying network data with deep kernel machines
// (2010). Level l has the kernel
//
//	K_l(i, j) = exp(−d²/2h²)/(√(2π)·h),  d the distance in the space of K_{l−1},
//
// where h is the mean of d over all ordered pairs of items (equation 11), or of items with a class (table 1), including i = j.
// K_0 is the given kernel. The learner's name is dkm with the base of the paper, the mean kernel value to each class, and
// dkm-NAME with another base.
//
// Values of unlabelled pairs are not stored: a level follows from K_0 of the same pair and the bandwidths. Cost: K_0 between
// all pairs for each level, l square roots and l − 1 exponentials for level l of a pair, and the base learner.
func deepLearner(base *classify.Learner) *classify.Learner {
	name := "dkm-" + base.Name
	if base.Name == "density" {
		name = "dkm"
	}
	return &classify.Learner{
		Spec: param.Spec{
			Name: name, Title: "deep kernel machine: " + base.Title,
			Source: "Tang and Zhu, Classifying network data with deep kernel machines, 2010, section 3.3",
			Params: append([]param.Param{
				{Name: "depth", Symbol: "depth", Meaning: "levels of a deep kernel machine above the kernel", Kind: param.Whole,
					Range: param.Range{Least: 0, Most: 1000}, Default: param.Of(1),
					Grid: []param.Value{param.Of(0), param.Of(1), param.Of(2),
						param.Of(3)}},
				{Name: "bandwidth", Meaning: "pairs of nodes whose mean distance is the bandwidth of a level: all, or those with a label", Kind: param.Choice,
					Words: []string{"all", "obs"}, Default: param.Of("all")},
			}, base.Params...),
		},
		Fit: func(ctx context.Context, k classify.Gram, y []int, classes int, v param.Values) (*classify.Model, error) {
			return fitDeep(ctx, base, k, y, classes, v)
		},
		Whole: true, Probabilities: base.Probabilities, ComparedItems: 250,
		Workspace: func(items, _, classes int) budget.Workspace {
			// This fit's values, and the previous fit's, which may not be garbage-collected yet.
			return base.Declare(items, 0, classes).AndHeld(budget.Vector[float64](2 * items * items))
		},
	}
}

// fitDeep finds the bandwidths of all levels, and fits the base to the kernel of the last level between the
// items with a class.
func fitDeep(ctx context.Context, base *classify.Learner, k classify.Gram, y []int, classes int,
	v param.Values) (*classify.Model, error) {
	if _, err := classify.AgainstRest(y, classes); err != nil {
		return nil, err
	}
	m := new(deep)
	var class, items []int
	for i, c := range y {
		if c >= 0 {
			m.items = append(m.items, i)
			class = append(class, c)
		}
		if c >= 0 || v.Word("bandwidth") == "all" {
			items = append(items, i)
		}
	}
	if err := m.measure(ctx, k, items, v.Int("depth")); err != nil {
		return nil, err
	}
	gram, err := gather(ctx, k, m.items)
	if err != nil {
		return nil, err
	}
	err = sched.Run(ctx, 0, gram.Rows, func(_, i int) error {
		m.lift(gram.Row(i), m.diagonal[i], m.diagonal)
		return nil
	})
	if err != nil {
		return nil, err
	}
	model, err := base.Fit(ctx, classify.DenseGram(gram), class, classes, v)
	if model == nil {
		return nil, err
	}
	m.base = model
	return &classify.Model{Classes: classes, Items: k.Len(), Pairs: model.Pairs,
		Rule: m}, err
}

func gather(ctx context.Context, k classify.Gram, items []int) (*sparse.Block[float64], error) {
	n := len(items)
	g := sparse.BlockOf(n, n, make([]float64, n*n))
	for a, i := range items {
		if err := sched.Cause(ctx); err != nil {
			return nil, err
		}
		k.PartTo(g.Row(a), i, items)
		for _, x := range g.Row(a) {
			if !isFinite(x) {
				return nil, classify.ErrNotFinite
			}
		}
	}
	return g, nil
}

type deep struct {
	base     *classify.Model
	items    []int     // items with a class
	diagonal []float64 // K_0(i, i) of the items
	h        []float64 // bandwidths
}

// peak returns K(x, x), the largest value of a level of bandwidth h.
func peak(h float64) float64 {
	return 1 / (math.Sqrt(2*math.Pi) * h)
}

// lift converts in place the values row of K_0 between x and the items to values of the last level. value is K_0(x, x), and
// diagonal has K_0(i, i) of the items. lift returns K(x, x) of the last level.
func (m *deep) lift(row []float64, value float64,
	diagonal []float64) (self float64) {
	for l, h := range m.h {
		m.distances(row, value, diagonal, l)
		for i, d := range row {
			row[i] = math.Exp(-d*d/(2*h*h)) * peak(h)
		}
		value = peak(h)
	}
	return value
}

// distances replaces the values K(x, i) in row, of the kernel below the given level, by distances √(K(x, x) − 2K(x, i) + K(i,
// i)) (equation 5). value is K(x, x). K(i, i) is diagonal on level 0, and K(x, x) on higher levels. Negative differences count
// as 0.
func (m *deep) distances(row []float64, value float64, diagonal []float64,
	level int) {
	if level == 0 {
		for i, v := range row {
			row[i] = math.Sqrt(max(0, value-2*v+diagonal[i]))
		}
		return
	}
	for i, v := range row {
		row[i] = math.Sqrt(max(0, 2*(value-v)))
	}
}

// measure stores in m.h the bandwidths of depth levels, which are means over all pairs of items. It computes the values again
// for each level, and adds row by row, in order.
func (m *deep) measure(ctx context.Context, k classify.Gram, items []int, depth int) error {
	n := len(items)
	workers := sched.Workers(0)
	diagonal := make([]float64, n)
	sums := make([]float64, n)
	rows := make([]float64, workers*n)
	count := 0
	for a, i := range items {
		k.PartTo(diagonal[a:a+1], i, items[a:a+1])
		if count < len(m.items) && m.items[count] == i {
			m.diagonal = append(m.diagonal, diagonal[a])
			count++
		}
	}
	for range depth {
		err := sched.Run(ctx, workers, n, func(worker, a int) error {
			a = n - 1 - a // the longest rows first
			lower := rows[worker*n:][:a]
			k.PartTo(lower, items[a], items[:a])
			for _, x := range lower {
				if !isFinite(x) {
					return classify.ErrNotFinite
				}
			}
			self := m.lift(lower, diagonal[a], diagonal[:a])
			m.distances(lower, self, diagonal[:a], len(m.h))
			sums[a] = 0
			for _, d := range lower {
				sums[a] += 2 * d // i, j and j, i
			}
			return sched.Cause(ctx)
		})
		if err != nil {
			return err
		}
		h := 0.0
		for _, s := range sums {
			h += s
		}
		h /= float64(n) * float64(n)
		if !(h > 0) || !isFinite(h) {
			return ErrNoDistance
		}
		m.h = append(m.h, h)
	}
	return nil
}

// ScoresTo implements [classify.Rule].
func (m *deep) ScoresTo(dst, row []float64, value float64) {
	values := make([]float64, len(m.items))
	for a, i := range m.items {
		values[a] = row[i]
	}
	value = m.lift(values, value, m.diagonal)
	m.base.ScoresTo(dst, values, value)
}

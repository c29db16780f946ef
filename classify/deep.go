package classify

import (
	"context"
	"errors"
	"math"
	"sync"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/spec"
)

// DistancesTo stores in dst the distances d(x, i) = √(K(x, x) − 2K(x, i) + K(i, i))
// of x in the space of the kernel from n items, where row[i] is K(x, i), own is
// K(x, x) and diagonal[i] is K(i, i). What rounding makes negative counts as 0. dst
// may be row; nil allocates. Tang and Zhu 2010, equation 5.
func DistancesTo(dst, row []float64, own float64, diagonal []float64) []float64 {
	if len(diagonal) != len(row) {
		panic(badLength)
	}
	dst = destination(dst, len(row))
	for i, v := range row {
		dst[i] = math.Sqrt(max(0, own-2*v+diagonal[i]))
	}
	return dst
}

// ErrNoDistance says that all items have one place in the space of a kernel, so that
// no density of their distances exists.
var ErrNoDistance = errors.New("classify: all items lie in one place of the kernel's space")

// deepLearner declares a base machine on a deep kernel: Tang and Zhu, Classifying
// network data with deep kernel machines (2010). Level l has the kernel
//
//	K_l(i, j) = exp(−d²/2h²)/(√(2π)·h),  d the distance in the space of K_{l−1},
//
// where h is the mean of d over all ordered pairs of items (equation 11), or of those
// with a class (table 1), i = j included; K_0 is the kernel that is given. On the mean
// kernel value to each class, the machine of the paper, it is called dkm, on another
// base dkm-NAME. Cost: a square root and an exponential for each pair of items and
// level, beside the base.
func deepLearner(base *Learner) *Learner {
	name := "dkm-" + base.Name
	if base == &densityLearner {
		name = "dkm"
	}
	return &Learner{
		Spec: spec.Spec{
			Name: name, Title: "deep kernel machine: " + base.Title,
			Params: append([]spec.Param{
				{Name: "depth", Symbol: "depth", Meaning: "levels of a deep kernel machine above the kernel", Kind: spec.Whole,
					Range: spec.FromTo(0, 1000), Default: spec.Int(1), Grid: []spec.Value{spec.Int(0), spec.Int(1), spec.Int(2), spec.Int(3)}},
				{Name: "bandwidth", Meaning: "pairs of nodes whose mean distance is the bandwidth of a level: all, or those with a label", Kind: spec.Choice,
					Words: []string{"all", "obs"}, Default: spec.Word("all")},
			}, base.Params...),
		},
		Fit: func(ctx context.Context, k Gram, y []int, classes int, v spec.Values) (Model, error) {
			return fitDeep(ctx, base, k, y, classes, v)
		},
		Whole: true, Base: base, Probabilities: base.Probabilities,
		Memory: func(items, classes int) int64 {
			// Of this fit, and of one before it that the collector may not have taken yet.
			bytes := 2 * 8 * int64(items) * int64(items)
			if base.Memory != nil {
				bytes += base.Memory(items, classes)
			}
			return bytes
		},
	}
}

// fitDeep makes the kernel of the last level between the items that its bandwidth is
// of, and fits the base to it.
func fitDeep(ctx context.Context, base *Learner, k Gram, y []int, classes int, v spec.Values) (Model, error) {
	if _, err := newGroupsOfTwo(k, y, classes); err != nil {
		return nil, err
	}
	m := &deep{n: k.Len()}
	var class []int
	for i, c := range y {
		if c >= 0 || v.Word("bandwidth") == "all" {
			m.items, class = append(m.items, i), append(class, c)
		}
	}
	gram, err := gather(ctx, k, m.items)
	if err != nil {
		return nil, err
	}
	for range v.Int("depth") {
		if err := m.deepen(ctx, gram); err != nil {
			return nil, err
		}
	}
	model, err := base.Fit(ctx, gram, class, classes, v)
	if base.Dual { // its models keep no values
		grams.Put(gram)
	}
	if model == nil {
		return nil, err
	}
	m.Model = model
	return m, err
}

// grams has the [*DenseGram] of fits that are over, whose memory a next fit of as many
// items takes. Else those of one fit after the other would wait for the collector together.
var grams sync.Pool

// gather returns the values of k between the given items.
func gather(ctx context.Context, k Gram, items []int) (*DenseGram[float64], error) {
	n := len(items)
	g := &DenseGram[float64]{N: n, Stride: n}
	if last, there := grams.Get().(*DenseGram[float64]); there && cap(last.Data) >= n*n {
		g.Data = last.Data[:n*n]
	}
	if g.Data == nil {
		g.Data = make([]float64, n*n)
	}
	values := parts(k)
	for a, i := range items {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		values.PartTo(g.row(a), i, items)
		for _, x := range g.row(a) {
			if !finite(x) {
				return nil, ErrNotFinite
			}
		}
	}
	return g, nil
}

// deep is a model of the kernel of a level.
type deep struct {
	Model        // of the values between items
	n      int   // items of the Gram that was given
	items  []int // of them, those that the levels are made of
	levels []level
}

// level makes the kernel of a level of that below.
type level struct {
	diagonal []float64 // K(i, i) of the kernel below
	h        float64
}

// peak returns K(x, x) of the level, its largest value.
func (l *level) peak() float64 { return 1 / (math.Sqrt(2*math.Pi) * l.h) }

// lift turns the values of x with all items on the level below, and with itself, into
// those of this level.
func (l *level) lift(row []float64, own float64) (self float64) {
	DistancesTo(row, row, own, l.diagonal)
	for i, d := range row {
		row[i] = math.Exp(-d*d/(2*l.h*l.h)) * l.peak()
	}
	return l.peak()
}

// deepen puts a level on the others and turns k into its kernel.
func (m *deep) deepen(ctx context.Context, k *DenseGram[float64]) error {
	l := level{diagonal: make([]float64, k.N)}
	for i := range k.N {
		l.diagonal[i] = k.row(i)[i]
	}
	sums := make([]float64, k.N)
	distance := make([]float64, k.N*sched.Workers(0)) // a row for each worker
	err := sched.Run(ctx, sched.Workers(0), k.N, func(worker, i int) error {
		d := distance[worker*k.N : (worker+1)*k.N]
		DistancesTo(d, k.row(i), l.diagonal[i], l.diagonal)
		for _, x := range d {
			sums[i] += x
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, s := range sums {
		l.h += s
	}
	l.h /= float64(k.N) * float64(k.N)
	if !positive(l.h) {
		return ErrNoDistance
	}
	m.levels = append(m.levels, l)
	return sched.Run(ctx, 0, k.N, func(_, i int) error {
		l.lift(k.row(i), l.diagonal[i])
		return nil
	})
}

// ScoresTo implements [Model].
func (m *deep) ScoresTo(dst, row []float64, own float64) []float64 {
	if len(row) != m.n {
		panic(badLength)
	}
	values := make([]float64, len(m.items))
	for a, i := range m.items {
		values[a] = row[i]
	}
	for i := range m.levels {
		own = m.levels[i].lift(values, own)
	}
	return m.Model.ScoresTo(dst, values, own)
}

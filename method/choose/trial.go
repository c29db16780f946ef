package choose

import (
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// Trial is a training set and a test set whose features are rows of collected
// walks.
type Trial struct {
	Train, Test           []int // rows of the collected block
	TrainClass, TestClass []int

	Unreached []Unreached // further test nodes, which no label reaches
	Largest   int         // the class of most nodes
}

// Unreached is a test node that no label reaches: its class, and the one it is given.
type Unreached struct{ Class, Given int }

// Candidates holds the candidates that a trial compares.
type Candidates struct {
	Classes  int
	Steps    []int // of walks, increasing
	MinSteps int   // the collected block starts at it

	Learner *classify.Learner
	Path    *classify.Path // of Learner on features, nil: each setting is a fit of its own
	Values  []param.Values // of the parameters, complete
}

// undecided bounds decisions that are nothing but rounding.
const undecided = 1e-9

// MaxWidth bounds the columns that are gathered at a time.
const MaxWidth = 4096

// Run calls visit with the outcome of each test node, for each of the Steps with the first Steps[length]−MinSteps+1
// steps of x, and for each of the Values.
//
// The kernel is a sum over steps, so that every length goes on from the one
// before; on a path it is left unscaled, K' = s·K with s terms, which with values that allow
// for it has the same models, see [Weighed]. A learner without a path receives the mean over steps. The largest class is
// predicted where no classifier decides.
func (c *Candidates) Run(ctx context.Context, x *sparse.Block[float32], t *Trial, visit func(length, setting int, o *Outcome)) error {
	items, rows := t.Train, t.Test
	if c.Learner.Whole {
		items, rows = slices.Concat(items, rows), nil
	}
	m, n := len(items), len(rows)
	block := func(rows int, data []float64) *sparse.Block[float64] {
		return &sparse.Block[float64]{Rows: rows, Cols: m, Stride: m, Data: data}
	}
	k := block(m+n, make([]float64, (m+n)*m))
	square, cross := block(m, k.Data[:m*m]), block(n, k.Data[m*m:])
	class, fold := slices.Concat(t.TrainClass, t.TestClass), make([]int, m+n)
	for i := range t.Train {
		fold[i] = -1
	}
	along := func(values []param.Values) Fit { return Each(c.Learner, c.Classes, values) }
	if c.Path != nil {
		along = OnPath(c.Learner, c.Path, c.Classes)
	}
	start := 0
	for length, steps := range c.Steps {
		terms := steps - c.MinSteps + 1
		for end := terms * c.Classes; start < end; start = min(end, start+MaxWidth) {
			f := gather(x, items, start, min(end, start+MaxWidth))
			err := classify.AddInnerProducts(ctx, square, f, f, 1)
			if err == nil && n > 0 {
				err = classify.AddInnerProducts(ctx, cross, gather(x, rows, start, min(end, start+MaxWidth)), f, 1)
			}
			if err != nil {
				return err
			}
		}
		kernel, values := k, c.Values
		if c.Path == nil {
			kernel = block(m+n, slices.Clone(k.Data))
			Scale(kernel, 1/float64(terms))
		} else {
			values = nil
			for _, v := range c.Values {
				values = append(values, Weighed(c.Path, v, float64(terms)))
			}
		}
		for s := range values {
			for _, u := range t.Unreached {
				visit(length, s, &Outcome{Class: u.Class, Unreached: true, Largest: u.Given})
			}
		}
		if len(t.Test) == 0 {
			continue
		}
		err := CrossValidate(ctx, kernel, class, fold, along(values), func(s int, o *Outcome) {
			o.Largest = t.Largest
			if !slices.ContainsFunc(o.Decisions, func(d float64) bool { return math.Abs(d) > undecided }) {
				o.Pairs = nil
			}
			visit(length, s, o)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// gather returns the columns lo ≤ j < hi of some rows of x.
func gather(x *sparse.Block[float32], rows []int, lo, hi int) *sparse.Block[float32] {
	f := &sparse.Block[float32]{Rows: len(rows), Cols: hi - lo, Stride: hi - lo}
	for _, i := range rows {
		f.Data = append(f.Data, x.Row(i)[lo:hi]...)
	}
	return f
}

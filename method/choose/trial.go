package choose

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// Trial is a training set and a test set of nodes. Their features are rows of a block of collected walks, which has a group
// of columns for each step.
type Trial struct {
	Train, Test           []int // rows of the collected block
	TrainClass, TestClass []int
	TestLabel             []int // position of each test node in the labels

	Unreached []Unreached
	Largest   int // the largest class
}

// Unreached is a test node that no label reaches, with its position in the labels, its class and the predicted class Given.
type Unreached struct{ Label, Class, Given int }

// Candidates are the lengths of walks and the settings of a learner that a trial compares.
type Candidates struct {
	Classes  int
	Steps    []int // lengths of walks, increasing
	MinSteps int   // first step of the collected block

	Learner *classify.Learner
	Path    *classify.Path // nil: settings are fitted separately
	Values  []param.Values // complete values
}

// undecided is the largest decision that may be a rounding error.
const undecided = 1e-9

// MaxWidth is the largest number of columns of walks that are copied at a time.
const MaxWidth = 4096

// Run calls visit with the outcome of each test node for each setting, a position in Values, and each length, a position in
// Steps. Models of a length use the first Steps[length]−MinSteps+1 steps of x, the block of collected walks.
//
// The kernel K is a mean over s steps. A learner on a path gets the sum s·K, with values that give the same models, see
// [ScaleSetting]; a learner without a path gets K. If no classifier decides, the largest class is predicted.
func (c *Candidates) Run(ctx context.Context, x *sparse.Block[float32], t *Trial,
	visit func(length, setting int, o *Outcome)) error {
	items := t.Train
	y := t.TrainClass
	if c.Learner.Whole {
		items = slices.Concat(items, t.Test)
		y = slices.Concat(y, slices.Repeat([]int{-1}, len(t.Test)))
	}
	m := len(items)
	n := (len(t.Test) + 3) &^ 3
	// a trial may have no tests, but a block of [sparse.BlockOf] has a column
	k := &sparse.Block[float64]{Rows: m, Cols: m, Stride: m,
		Data: make([]float64, m*m)}
	cross := &sparse.Block[float64]{Rows: m, Cols: n, Stride: n,
		Data: make([]float64, m*n)}
	along := func(values []param.Values) Fit { return Each(c.Learner, c.Classes, values) }
	if c.Path != nil {
		along = OnPath(c.Learner, c.Path, c.Classes)
	}
	start := 0
	j := &judge{y: y, about: Outcome{Largest: t.Largest}, undecided: undecided}
	for length, steps := range c.Steps {
		terms := steps - c.MinSteps + 1
		end := terms * c.Classes
		if err := t.addColumns(ctx, x, k, cross, items, start, end); err != nil {
			return err
		}
		start = end
		kernel := k
		columns := cross
		values := c.Values
		if c.Path == nil {
			kernel = mean(k, terms)
			columns = mean(cross, terms)
		} else {
			values = nil
			for _, v := range c.Values {
				values = append(values, ScaleSetting(c.Path, v, float64(terms)))
			}
		}
		models, err := along(values)(ctx, classify.DenseGram(kernel), y)
		if err != nil {
			return err
		}
		for s := range values {
			for _, u := range t.Unreached {
				visit(length, s, &Outcome{Label: u.Label, Class: u.Class, Unreached: true,
					Largest: u.Given, Voted: u.Given})
			}
		}
		selves := make([]float64, len(t.Test)) // K(x, x) of each test
		for i := range selves {
			if c.Learner.Whole {
				selves[i] = columns.Row(len(t.Train) + i)[i]
			}
		}
		j.models = models
		for lo := 0; lo < len(t.Test); lo += testChunk {
			j.columns = columns.Columns(lo, min(n, lo+testChunk))
			j.class = t.TestClass[lo:min(len(t.Test), lo+testChunk)]
			j.label = t.TestLabel[lo:]
			j.values = selves[lo:]
			j.visit(func(s int, o *Outcome) { visit(length, s, o) })
		}
	}
	return nil
}

func (t *Trial) addColumns(ctx context.Context, x *sparse.Block[float32],
	k, cross *sparse.Block[float64], items []int, start, end int) error {
	for lo := start; lo < end; lo += MaxWidth {
		hi := min(end, lo+MaxWidth)
		f := gather(x, items, len(items), lo, hi)
		err := blocks.AddProducts(ctx, k, f, f, 1)
		if err == nil {
			err = blocks.AddProducts(ctx, cross, f, gather(x, t.Test, cross.Cols, lo, hi), 1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func mean(sum *sparse.Block[float64], terms int) *sparse.Block[float64] {
	k := *sum
	k.Data = slices.Clone(sum.Data)
	blocks.Scale(&k, 1/float64(terms))
	return &k
}

// gather returns a copy of columns lo ≤ j < hi of the given rows of x, padded with zero rows to n rows.
func gather(x *sparse.Block[float32], rows []int,
	n, lo, hi int) *sparse.Block[float32] {
	f := sparse.BlockOf(n, hi-lo, make([]float32, n*(hi-lo)))
	for a, i := range rows {
		copy(f.Row(a), x.Row(i)[lo:hi])
	}
	return f
}

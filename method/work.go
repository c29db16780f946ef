package method

import (
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/internal/propagation"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/sparse"
)

// typicalWork is the typical work of a part of a prediction, in operations for each entry, and for each row,
// of a class. The counts were measured on R-MAT graphs of 6,000 to 174,000 nodes, block models of 10,000
// to 100,000 nodes, and Cora, with 270 to 5,000 labels, as time divided by that of a sweep; they hold
// within about a factor of two there.
type typicalWork struct{ entry, row float64 }

// on returns the work on a problem.
func (t typicalWork) on(p *Problem) sparse.Work {
	classes := float64(len(p.Names))
	return sparse.Work{EntryColumns: t.entry * classes * float64(p.A.NNZ()), RowColumns: t.row * classes * float64(len(p.Degrees))}
}

// worker is implemented by methods, and learners, whose work has been measured. work is that of a choice of
// parameters by cross-validation, or on a split with the given number of test nodes if that is not 0; and that of
// a prediction with chosen parameters.
type worker interface {
	work(p *Problem, tests int, s *Settings) (choose, predict sparse.Work)
}

// harmonicWork is the work of label propagation from the labels of all folds but one.
var harmonicWork = typicalWork{entry: 22, row: 60}

// BaselineWork returns the typical work of the [Baselines] of a prediction.
func BaselineWork(p *Problem) sparse.Work {
	fold := harmonicWork.on(p)
	return fold.Times(float64(propagation.PredictedFolds(len(p.Row), split.FoldCount(len(p.Row)), fold.EntryColumns)))
}

// A prediction without baselines first compares centred scores on some folds.
func (labelPropagation) work(p *Problem, _ int, s *Settings) (choose, predict sparse.Work) {
	const accurate, compared = 1.5, 2 // in predictions of a fold
	all := accurate
	if s.baselines == nil {
		all += compared
	}
	return choose, harmonicWork.on(p).Times(all)
}

func (majority) work(p *Problem, _ int, _ *Settings) (choose, predict sparse.Work) {
	return choose, typicalWork{row: 1}.on(p)
}

// On a large graph beliefs alone predict, if they agree with held-out labels.
func (automatic) work(p *Problem, _ int, _ *Settings) (choose, predict sparse.Work) {
	const large = 50_000 // nodes
	if p.Nodes() > large {
		return choose, typicalWork{entry: 30, row: 60}.on(p).Times(float64(split.FoldCount(len(p.Row))))
	}
	return choose, typicalWork{entry: 1000 + 6.5*float64(len(p.Row)), row: 6000}.on(p)
}

func (blockBeliefs) work(p *Problem, _ int, _ *Settings) (choose, predict sparse.Work) {
	return choose, typicalWork{entry: 60, row: 140}.on(p).Times(float64(split.FoldCount(len(p.Row))))
}

func (m spreading) work(p *Problem, tests int, s *Settings) (choose, predict sparse.Work) {
	choose, predict = ofFolds(typicalWork{entry: 300, row: 1400}.on(p), tests)
	of := m.declaration()
	if settings, err := split.Settings(s.trying(of), of.Own(s.Given), nil); err == nil && len(settings) < 2 {
		choose = sparse.Work{}
	}
	return choose, predict
}

func (spectralLogistic) work(p *Problem, tests int, s *Settings) (choose, predict sparse.Work) {
	const fits = 2e6 // of a label and a class
	set := s.WithDefaults()
	all := typicalWork{entry: 3000, row: 2500}.on(p)
	all.EntryColumns += fits * float64(min(len(p.Row), set.Sample)*len(p.Names))
	return ofFolds(all, tests)
}

// ofFolds returns the work of a choice and a prediction of a method for which each fold, or split, is as
// much work as another.
func ofFolds(all sparse.Work, tests int) (choose, predict sparse.Work) {
	const folds, remaining = 5, 0.1 // of the work of a prediction, when its parameters are given
	if choose = all; tests > 0 {
		choose = all.Times(1. / folds)
	}
	return choose, all.Times(remaining)
}

// The counts of walks and of learners on them: a walk has wide blocks of float32, whose columns cost less than those
// that the speed is measured with. The others are in entries × columns.
const (
	walkEntry   = 0.35
	walkRow     = 0.5
	productWork = 0.4  // of the product of two features, or of a test node and a label in a classifier
	fitWork     = 75   // of a kernel value, to fit the support vector machines of a path
	classWork   = 2400 // of a label and a pair of classes, to fit other learners
	trainWork   = 430  // of a kernel value between labels, to fit and to calibrate the final classifiers
)

// Walks have a column for each α, fold and class; then the kernel of each length has its classifiers. On a large
// graph long walks are compared only if the longest short one is chosen, and do not count.
func (m walkMethod) work(p *Problem, tests int, s *Settings) (choose, predict sparse.Work) {
	set, err := s.of(m.by, len(p.Names))
	if err != nil {
		return choose, predict // the run reports it
	}
	walk := func(columns, steps int) sparse.Work {
		all := float64(columns) * float64(steps)
		return sparse.Work{EntryColumns: walkEntry * all * float64(p.A.NNZ()), RowColumns: walkRow * all * float64(len(p.Degrees))}
	}
	g, c, classes := set.Grid, chooserOf(p, &set), len(p.Names)
	if short := c.shortGrid(longWork); short != nil {
		g = short
	}
	m2 := func(items int) float64 { return float64(items) * float64(items) }
	last, alphas, kinds, folds := g.last(), len(g.alphas()), len(g.Features), c.dealt()
	if g.Size() > 1 && !split.TooFew(p.Class) {
		trials, width, lengths := float64(alphas*kinds), float64((last+1)*classes), float64(len(g.steps()))
		fit := fitWork * m2(len(c.seen))
		if m.by.Learner != learners()[0] {
			fit = float64(classWork * len(c.seen) * classes * classes)
		}
		fits := productWork/2*width*m2(len(c.seen)) + lengths*fit
		if tests == 0 {
			choose = walk(alphas*folds*classes, last).Plus(sparse.Work{EntryColumns: trials * float64(folds) * fits})
		} else {
			tests = min(tests, testedNodes(&set))
			scores := float64(tests) * float64(len(c.seen)) * productWork * (width + lengths*float64(g.settings()*(classes-1)))
			choose = walk(alphas*(1+folds*(kinds-1))*classes, last).Plus(sparse.Work{EntryColumns: trials * (fits + scores)})
		}
	}
	const usual = 40 // steps
	predict = walk((2+folds)*classes, min(last, usual))
	predict.EntryColumns += trainWork * m2(len(p.Row))
	return choose, predict
}

// A choice computes the kernels between a sample of the labels, and a prediction that between all of them. The
// columns of a grid of functions of a matrix share products.
func (m kernelMethod) work(p *Problem, tests int, s *Settings) (choose, predict sparse.Work) {
	const (
		halfColumn   = 0.5 // of a label, for the kernel between labels
		solveColumns = 30  // of a class, for a solution without the kernel between labels
	)
	set, err := m.settings(s, len(p.Names))
	if err != nil {
		return choose, predict
	}
	grid, err := kernelGrid(m.kernel, &set, kernel.OnDegrees(p.Degrees))
	if err != nil || len(grid) == 0 {
		return choose, predict
	}
	column := m.kernel.ColumnWork(grid[0], p.Degrees, p.A.NNZ())
	labels, classes := float64(len(p.Row)), float64(len(p.Names))
	if settled, _, err := m.settled(p, &set); err == nil && len(grid)*len(settled) > 1 && !split.TooFew(p.Class) {
		choose = m.kernel.GridWork(grid, p.Degrees, p.A.NNZ(), min(len(p.Row), set.Sample))
		if m.by.path == nil && m.by.Learner != learners()[0] {
			choose.EntryColumns += classWork * min(labels, float64(set.Sample)) * classes * classes * float64(len(grid)*set.folds(len(p.Row)))
		}
	}
	columns := halfColumn * labels
	if m.by.solves(len(p.Row)) {
		columns = solveColumns * classes
	}
	predict = column.Times(columns + classes)
	predict.EntryColumns += trainWork * labels * labels
	return choose, predict
}

// TypicalWork returns the typical work of a choice of parameters by m for several predictions, and that of each
// of these. tests is the number of test nodes of the split that parameters are chosen on, 0 for
// cross-validation. known is false for a method whose work has not been measured.
func TypicalWork(m Method, p *Problem, tests int, s *Settings) (choose, predict sparse.Work, known bool) {
	of := any(m)
	switch m := m.(type) {
	case graphMethod:
		of = m.graphLearner
	case smoothedMethod:
		return TypicalWork(m.Method, p, tests, s)
	}
	w, known := of.(worker)
	if !known {
		return sparse.Work{}, sparse.Work{}, false
	}
	choose, predict = w.work(p, tests, s)
	return choose, predict, true
}

package classify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

var svmLearner = Learner{
	Spec: param.Spec{
		Name: "svm", Title: "support vector machines with hinge loss and a bias",
		Source: "Boser, Guyon and Vapnik, A training algorithm for optimal margin classifiers, COLT 1992; solved as by Fan, Chen and Lin, JMLR 6, 2005",
		Params: []param.Param{
			costParam, WeightsParam, strategyParam, toleranceParam,
		},
	},
	Fit: func(ctx context.Context, k Gram, y []int, classes int, v param.Values) (*Model, error) {
		s := svmOf(v, y, classes)
		s.CacheBytes = svmCache(k.Len())
		return s.Fit(ctx, k, y, classes)
	},
	Dual: true,
	Linear: func(ctx context.Context, f *sparse.Block[float32], y []int, classes int, v param.Values) (*LinearModel, error) {
		gram := LinearGram(f)
		if keepsProducts(f.Rows, f.Cols) {
			products, err := InnerProducts(ctx, f)
			if err != nil {
				return nil, err
			}
			gram = DenseGram(products)
		}
		s := svmOf(v, y, classes)
		s.CacheBytes = svmCache(f.Rows)
		model, err := s.Fit(ctx, gram, y, classes)
		if model == nil {
			return nil, err
		}
		return LinearWeights(model, f), err
	},
	Workspace: func(items, features, classes int) budget.Workspace {
		w := budget.Held(svmCache(items), budget.Vector[float64](2*items*classes))
		if features > 0 && keepsProducts(items, features) {
			w = w.AndHeld(budget.Vector[float64](items * items))
		}
		return w
	},
	MostItems: 10_000,
	Path:      &svmPath,
}

// svmPath fits each cost from the solution of the previous cost.
var svmPath = Path{
	Spec: param.Spec{Name: "svm",
		Params: []param.Param{scaledCostParam, WeightsParam, scaledStrategyParam,
			scaledToleranceParam}},
	Parameter: "cost",
	Fit: func() PathFit {
		var solver costSolver
		return func(ctx context.Context, k Gram, y []int, classes int, settings []param.Values) ([]*Model, error) {
			solver.SVM = svmOf(settings[0], y, classes)
			solver.SVM.MaxIterations, solver.SVM.Workers = comparedIterations, 1
			models, err := solver.path(ctx, k, y, classes,
				numbers("cost", settings))
			list := make([]*Model, len(models))
			for i := range models {
				list[i] = &models[i]
			}
			return list, err
		}
	},
	For: func(classes int) param.Values {
		if classes > mostPairwise {
			return param.Values{"strategy": param.Of("one-vs-rest")}
		}
		return nil
	},
	Pairwise: func(v param.Values) bool { return v.Word("strategy") == "one-vs-one" },
	Noun:     "a support vector machine",
}

// comparedIterations is the largest number of iterations of a classifier when settings are compared. A classifier that
// needs more has a cost far too high for noisy classes. It is compared as it is after these iterations.
const comparedIterations = 20_000

// mostPairwise is the largest number of classes for which one-vs-one is the default. 20 classes have 190 classifiers; the
// scores of more classifiers would need more memory than the graph.
const mostPairwise = 20

func svmOf(v param.Values, y []int, classes int) SVM {
	return SVM{
		Cost: v.Number("cost"), Weights: WeightsOf(v, y, classes),
		OneVsRest: v.Word("strategy") == "one-vs-rest",
		Tolerance: v.Number("svm-tolerance"),
	}
}

func keepsProducts(items, features int) bool {
	return budget.Vector[float64](items*items) <= 64<<20 || features > items
}

func svmCache(items int) int64 {
	return min(200<<20, 16+16*int64(items)*int64(items))
}

var (
	costParam = param.Param{
		Name: "cost", Symbol: "C", Meaning: "cost C of the support vector machine",
		Range: param.Above(0), Default: param.Of(1.0),
		Grid: param.Grid(0.01, 0.1, 1, 10, 100, 1000), Sooner: "smaller",
	}
	strategyParam = param.Param{
		Name: "strategy", Meaning: "machines for every two classes, or for each class against all others",
		Kind: param.Choice, Words: []string{"one-vs-one", "one-vs-rest"},
		Default: param.Of("one-vs-one"),
	}
	toleranceParam = param.Param{
		Name: "svm-tolerance", Symbol: "tolerance",
		Meaning: "violation of the optimality conditions at which the support vector machine stops",
		Range:   param.Above(0), Default: param.Of(1e-7), Sooner: "larger",
	}
)

// scaledCostParam, scaledStrategyParam and scaledToleranceParam are for kernels where the mean of K(i, i) is 1.
var (
	scaledCostParam = usually(costParam, 0.5, 0.125, 0.5, 2, 8, 32,
		128, 512, 2048)
	scaledStrategyParam = otherwise(strategyParam,
		"behind methods by the number of classes")
	scaledToleranceParam = otherwise(usually(toleranceParam, 1e-3),
		"behind methods 0.001")
)

func usually(p param.Param, usual float64, grid ...float64) param.Param {
	p.Default = param.Of(usual)
	p.Grid = nil
	if len(grid) > 0 {
		p.Grid = param.Grid(grid...)
	}
	return p
}

func otherwise(p param.Param, text string) param.Param {
	p.Otherwise = text
	return p
}

// SVM is a support vector machine with hinge loss and a bias on a kernel
// (C-SVC). Each binary classifier minimises
//
//	½‖w‖² + Σ C_i·max(0, 1 − y_i·(⟨w, φ_i⟩ − ρ))
//
// where C_i is Cost times the weight of the item's class. The zero value is the
// default.
type SVM struct {
	// Cost is C; 0 means 1.
	Cost float64
	// Tolerance is the largest violation of the optimality conditions that may remain, in units of the decision; 0 means
	// 1e-3. If it is at least 1e-5, kernel values off the diagonal are rounded to single precision, as in LIBSVM. Ties are
	// then broken as in LIBSVM.
	Tolerance float64
	// Weights holds a factor of Cost for each class; nil means 1.
	Weights []float64
	// OneVsRest trains a classifier for every class against all other classes, if there are more than two. Otherwise there
	// is a classifier for every two classes.
	OneVsRest bool
	// CacheBytes limits the kernel rows kept during the fit, of all workers
	// together; 0 means 200 MiB. Each worker keeps at least two rows.
	CacheBytes int64
	// MaxIterations limits the steps of each binary classifier; 0 means ten
	// million or 100 for each item, whichever is more.
	MaxIterations int
	// Workers is the number of classifiers trained concurrently; 0 means GOMAXPROCS.
	Workers int
}

func (s *SVM) validate(classes int) error {
	return errors.Join(notPositive("cost", s.Cost),
		notPositive("tolerance", s.Tolerance), validateWeights(s.Weights, classes))
}

func notPositive(what string, x float64) error {
	if x == 0 || positive(x) {
		return nil
	}
	return fmt.Errorf("classify: %s %v is not a positive number", what, x)
}

func (s *SVM) withDefaults() SVM {
	var f SVM
	if s != nil {
		f = *s
	}
	f.Cost, f.Tolerance, f.CacheBytes = cmp.Or(f.Cost, 1),
		cmp.Or(f.Tolerance, 1e-3), cmp.Or(f.CacheBytes, 200<<20)
	return f
}

// Fit learns from the values of k between the items with y ≥ 0. A nil s means
// defaults.
//
// It returns [ErrOneClass] if fewer than two classes have an item, and a model
// together with [ErrIterationLimit] if a classifier did not reach the tolerance.
func (s *SVM) Fit(ctx context.Context, k Gram, y []int,
	classes int) (*Model, error) {
	solver := costSolver{SVM: s.withDefaults()}
	models, err := solver.path(ctx, k, y, classes, []float64{solver.SVM.Cost})
	if models == nil {
		return nil, err
	}
	return &models[0], err
}

func diagonal(dst []float64, k Gram, items []int) []float64 {
	dst = resize(dst, k.Len())
	for j, i := range items {
		k.PartTo(dst[i:i+1], i, items[j:j+1])
	}
	return dst
}

type trainer[T sparse.Float] struct {
	dual    dual[T]
	members []int
	coef    []float64 // scratch by item
}

// step trains the classifier, and stores it in dst, whose memory it reuses.
func (t *trainer[T]) step(ctx context.Context, set *SVM, dst *Machine) error {
	d := &t.dual
	iterations, err := d.solve(ctx, set.Tolerance,
		cmp.Or(set.MaxIterations, max(10_000_000, 100*len(d.item))))
	if err != nil && !errors.Is(err, ErrIterationLimit) {
		return err
	}
	rho, objective := d.result()
	if !finite(rho) || !finite(objective) {
		return ErrNotFinite
	}
	support := 0
	bounded := 0
	for k, item := range d.item {
		t.coef[item] = d.beta[k]
		if d.beta[k] != 0 {
			support++
		}
		if d.beta[k] != 0 && (d.beta[k] == d.lo[k] || d.beta[k] == d.hi[k]) {
			bounded++
		}
	}
	*dst = Machine{Index: slices.Grow(dst.Index[:0], support),
		Coef: slices.Grow(dst.Coef[:0], support), Rho: rho, Objective: objective,
		Iterations: iterations, Bounded: bounded}
	for _, item := range t.members {
		if b := t.coef[item]; b != 0 {
			dst.Index = append(dst.Index, item)
			dst.Coef = append(dst.Coef, b)
		}
	}
	return err
}

// costSolver fits many small classifiers in the same memory. It is not safe for concurrent use.
type costSolver struct {
	// Cost is not used.
	SVM SVM

	pairs  Pairs
	diag   []float64
	single []trainer[float32]
	double []trainer[float64]
	models []Model
	cells  []Machine
}

// path returns a model for each of costs, which must increase. Each fit starts from the model of the previous cost. Models
// are valid until the next call. If the error is [ErrIterationLimit], path returns the models too.
func (s *costSolver) path(ctx context.Context, k Gram, y []int, classes int,
	costs []float64) ([]Model, error) {
	set := s.SVM.withDefaults()
	if err := set.validate(classes); err != nil {
		return nil, err
	}
	if !slices.IsSorted(costs) || len(costs) == 0 ||
		slices.ContainsFunc(costs, func(c float64) bool { return !positive(c) }) {
		return nil, fmt.Errorf("classify: costs %v are not positive and increasing", costs)
	}
	groups, err := newGroupsOfTwo(k.Len(), y, classes)
	if err != nil {
		return nil, err
	}
	s.pairs = groups.pairs(s.pairs[:0], set.OneVsRest)
	s.diag = diagonal(s.diag, k, groups.items)
	n := len(s.pairs)
	s.models = resize(s.models, len(costs))
	s.cells = resize(s.cells, len(costs)*n)
	for c := range s.models {
		s.models[c] = Model{Classes: classes, Items: k.Len(), Pairs: s.pairs,
			Machines: s.cells[c*n : (c+1)*n]}
	}
	if set.Tolerance >= 1e-5 { // kernel values count as rounded to single precision
		err = pathTo(ctx, s, &s.single, &set, k, groups, costs)
	} else {
		err = pathTo(ctx, s, &s.double, &set, k, groups, costs)
	}
	if err != nil && !errors.Is(err, ErrIterationLimit) {
		return nil, err
	}
	return s.models, err
}

// pathTo trains the classifiers of s.pairs for all costs, several classifiers at a time, on kernel values rounded to T. If
// a classifier reaches its iteration limit, the others continue.
func pathTo[T sparse.Float](ctx context.Context, s *costSolver,
	trainers *[]trainer[T], set *SVM, k Gram, g *groups, costs []float64) error {
	workers := min(sched.Workers(set.Workers), len(s.pairs))
	set.CacheBytes /= int64(workers)
	set.Cost = costs[0]
	for len(*trainers) < workers {
		*trainers = append(*trainers, trainer[T]{})
	}
	order := g.largestFirst(s.pairs)
	isLimited := make([]bool, len(order))
	isIndefinite := make([]bool, len(order))
	err := sched.Run(ctx, workers, len(order), func(worker, index int) error {
		m := order[index]
		t := &(*trainers)[worker]
		var positive int
		t.members, positive = g.membersTo(t.members[:0], s.pairs[m])
		t.dual.rate = g.factorsTo(t.dual.rate, t.members, set.Weights)
		t.dual.start(k, t.members, positive, s.diag, set.CacheBytes)
		t.dual.bound(set.Cost)
		t.coef = resize(t.coef, len(s.diag))
		for c, cost := range costs {
			if c > 0 {
				t.dual.raise(costs[c-1], cost)
			}
			err := t.step(ctx, set, &s.models[c].Machines[m])
			if t.dual.isIndefinite {
				isIndefinite[m] = true
			}
			if errors.Is(err, ErrIterationLimit) {
				isLimited[m] = true
			} else if err != nil {
				return err
			}
		}
		return nil
	})
	for c := range costs {
		s.models[c].IsIndefinite = slices.Contains(isIndefinite, true)
	}
	if err == nil && slices.Contains(isLimited, true) {
		err = ErrIterationLimit
	}
	return err
}

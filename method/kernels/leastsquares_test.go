package kernels

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
)

// The merit is the share of right predictions less half the squared error, without each item.
func TestLeastSquaresChoice(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a fifth of a second")
	}
	all := contract.Golden(t, "sbm300")
	for _, wrong := range []int{3, 4, 5} { // one label in this many is wrong
		problem := *all
		p := &problem
		p.Class = slices.Clone(all.Class)
		for i := 0; i < len(p.Class); i += wrong {
			p.Class[i] = (p.Class[i] + 1) % len(p.Names)
		}
		by := classify.Learners().Named("rls")
		set := &engine.Settings{Lists: map[string][]param.Value{"lambda": param.Grid(0.01, 0.03, 0.1, 0.3, 1, 3, 10)}}
		r, err := method{kernel.Families().Named("p-step"), by}.newPredictor(t.Context(), p, nil, set)
		if err != nil {
			t.Fatal(err)
		}
		seen := taskOf(p)
		counts := choose.NewCounts(r.Size(), make([]choose.FoldLabels, 10))
		err = r.compare(t.Context(), seen, sched.UpTo(len(r.Sources)), sched.UpTo(len(r.Values)), counts.Loss, func(i int, o *choose.Outcome) {
			if r.MajorityClass(o) == o.Class {
				counts.Add(i, o.Fold, 0)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		grams, _, err := kernel.Grams(t.Context(), r.kernels, p.Row, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		var want [][2]int64 // right predictions, at least and at most
		var loss []float64
		for _, gram := range grams {
			k := mat.NewDense(gram.Rows, gram.Rows, nil)
			for row := range gram.Rows {
				k.SetRow(row, gram.Row(row))
			}
			for _, v := range r.Values {
				least, most, squares := leaveEachOut(t, k, p.Class, len(p.Names), v.Number("lambda"))
				want = append(want, [2]int64{least, most})
				loss = append(loss, squares/2)
			}
		}
		for i, n := range total(counts) {
			if n < want[i][0] || n > want[i][1] || math.Abs(counts.Loss[i]-loss[i]) > 1e-9 {
				t.Errorf("one of %d labels wrong: kernel %d, setting %d: %d right, loss %v; want %d and %v",
					wrong, i/len(r.Values), i%len(r.Values), n, counts.Loss[i], want[i], loss[i])
			}
		}
	}
}

// taskOf returns the task of predicting each label of p from all others.
func taskOf(p *engine.Problem) *choose.Task {
	task := choose.TaskOf(p, 0, 0)
	task.LeavesOneOut = true
	return task
}

// leaveEachOut returns the number of right predictions, a range because ties may fall either way, and the mean squared error
// of one-hot targets. An item whose kernel values with all others are 0 gets their largest class.
func leaveEachOut(t *testing.T, k *mat.Dense, class []int, classes int, lambda float64) (least, most int64, squares float64) {
	t.Helper()
	n := len(class)
	for out := range n {
		var rest, others []int
		related := false
		for i := range n {
			if i != out {
				rest, others = append(rest, i), append(others, class[i])
				related = related || k.At(out, i) != 0
			}
		}
		a, y := mat.NewDense(n-1, n-1, nil), mat.NewDense(n-1, classes, nil)
		for r, i := range rest {
			for c, j := range rest {
				a.Set(r, c, k.At(i, j))
			}
			a.Set(r, r, a.At(r, r)+lambda)
			for c := range classes {
				y.Set(r, c, -1)
			}
			y.Set(r, class[i], 1)
		}
		var coef mat.Dense
		if err := coef.Solve(a, y); err != nil {
			t.Fatal(err)
		}
		decisions := make([]float64, classes)
		for c := range classes {
			for r, i := range rest {
				decisions[c] += k.At(out, i) * coef.At(r, c)
			}
			hot, target := (decisions[c]+1)/2, 0.0
			if c == class[out] {
				target = 1
			}
			squares += (hot - target) * (hot - target) / float64(n)
		}
		if !related { // the kernel has no evidence
			if choose.Majority(others) == class[out] {
				least, most = least+1, most+1
			}
			continue
		}
		own := decisions[class[out]]
		decisions[class[out]] = math.Inf(-1)
		if others := slices.Max(decisions); own > others+1e-9 {
			least, most = least+1, most+1
		} else if own > others-1e-9 {
			most++
		}
	}
	return least, most, squares
}

func TestLeastSquaresWithoutBlock(t *testing.T) {
	p := contract.Golden(t, "sbm300")
	for _, name := range []string{"diffusion", "regularized-laplacian", "pagerank", "heat-pagerank", "p-step"} {
		by := classify.Learners().Named("rls")
		settings, weights := &engine.Settings{Given: param.Values{"lambda": param.Of(0.05)}}, slices.Repeat([]float64{1}, len(p.Names))
		if name == "pagerank" {
			settings.Given, weights = param.Values{"lambda": param.Of(0.05), "class-weights": param.Of("balanced")}, classify.BalancedWeights(p.Class, len(p.Names))
		}
		family := kernel.Families().Named(name)
		own := settings.WithDefaults()
		params, _, err := own.Grid(&family.Spec, family.Own(own.Given), kernel.OnDegrees(p.Degrees))
		if err != nil {
			t.Fatal(err)
		}
		par := &engine.Parameters{Kernel: &engine.Setting{Spec: &family.Spec, Values: params[4]}, Declared: &engine.Setting{Spec: engine.SpecOf(by), Values: nil}}
		r, err := method{family, by}.newPredictor(t.Context(), p, par, settings)
		if err != nil {
			t.Fatal(err)
		}
		choice := &engine.Choice{Parameters: r.Parameters(0, 0)}
		if err := r.settle(context.Background(), taskOf(p), 0, &choice.Parameters); err != nil {
			t.Fatal(err)
		}
		gram := r.gram
		if err := r.learnItems(context.Background(), choice); err != nil {
			t.Fatal(err)
		}
		direct := r.fitted
		without := *by
		without.Solved = 0
		r.Learner = &without
		if err := r.learnItems(context.Background(), choice); err != nil {
			t.Fatal(err)
		}
		dense := mat.NewDense(gram.Rows, gram.Rows, nil)
		for i := range gram.Rows {
			dense.SetRow(i, gram.Row(i))
			dense.Set(i, i, dense.At(i, i)+0.05*r.scale/weights[p.Class[i]]) // gram is scale·K
		}
		targets := mat.NewDense(gram.Rows, len(p.Names), nil)
		targets.Apply(func(i, c int, _ float64) float64 {
			if p.Class[i] == c {
				return 1
			}
			return -1
		}, targets)
		var want mat.Dense
		if err := want.Solve(dense, targets); err != nil {
			t.Fatal(err)
		}
		// A residual of 1e-7·‖t‖ is an error of 1/λ times as much, in addition to products exact to 1e-10.
		tolerance := 3e-7 * math.Sqrt(float64(gram.Rows)) / 0.05 * slices.Max(weights)
		for m := range p.Names {
			for i, c := range r.fitted.Machines[m].Coef {
				if d := math.Abs(c - want.At(i, m)); !(d <= tolerance) {
					t.Fatalf("%s: coefficient %d of machine %d is %v, want %v", name, i, m, c, want.At(i, m))
				}
				if d := math.Abs(direct.Machines[m].Coef[i] - want.At(i, m)); !(d <= 1e-6) {
					t.Fatalf("%s: with the block, coefficient %d of machine %d is %v, want %v", name, i, m, direct.Machines[m].Coef[i], want.At(i, m))
				}
			}
		}
		if r.Out.Work.Sweeps == 0 {
			t.Errorf("%s: no work", name)
		}
	}
}

// graded is a kernel with the eigenvalues 1 … 1e-16.
type graded struct {
	kernel.Kernel
	nodes int
}

func (g graded) Len() int { return g.nodes }

func (graded) ApplyTo(_ context.Context, dst, x *sparse.Block[float64], _ *kernel.Settings) (*kernel.Report, error) {
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			dst.Row(i)[j] = math.Pow(1e-16, float64(i)/float64(x.Rows)) * v
		}
	}
	return &kernel.Report{Sweeps: 1}, nil
}

// A system that conjugate gradients do not solve is an error.
func TestLeastSquaresGivenUp(t *testing.T) {
	p := *contract.Golden(t, "sbm300")
	p.Row, p.Class = nil, nil
	for i := range 300 {
		p.Row, p.Class = append(p.Row, i), append(p.Class, i%2)
	}
	set := new(engine.Settings).WithDefaults()
	r := &predictor{
		Job: &engine.Job{Problem: &p, Settings: &set, Out: &engine.Prediction{}, Learner: classify.Learners().Named("rls")}, best: graded{nodes: len(p.Degrees)}, scale: 1,
	}
	model, err := r.solve(t.Context(), &p, param.Values{"lambda": param.Of(1e-30), "class-weights": param.Of("equal")}, solveTolerance)
	if !errors.Is(err, iterative.ErrIterationLimit) && !errors.Is(err, iterative.ErrStagnation) && !errors.Is(err, iterative.ErrIndefinite) {
		t.Fatalf("error %v", err)
	}
	if text := err.Error(); !strings.Contains(text, "a ridge of 1e-30") || !strings.Contains(text, "; choose a larger λ") || model != nil {
		t.Errorf("%q, model %v", text, model)
	}
}

func total(c *choose.Counts) []int64 {
	sums := make([]int64, c.Candidates)
	for i, n := range c.Right {
		sums[i%c.Candidates] += int64(n)
	}
	return sums
}

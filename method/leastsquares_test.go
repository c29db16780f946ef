package method

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/internal/trial"
	"github.com/heatwalk/heatwalk/spec"
)

// Chosen is the kernel and λ with the largest share of right answers less half
// the squared error, item by item from a machine that learns from all others.
func TestLeastSquaresChoice(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a fifth of a second")
	}
	all := goldenProblem(t, "sbm300")
	decided := false                       // by the weight of the error
	for _, wrong := range []int{3, 4, 5} { // every so many labels
		problem := *all
		p := &problem
		p.Class = slices.Clone(all.Class)
		for i := 0; i < len(p.Class); i += wrong {
			p.Class[i] = (p.Class[i] + 1) % len(p.Names)
		}
		by := behindKernel(learnerOf("rls"))
		set, err := (&Settings{Grid: &Grid{Values: map[string][]spec.Value{"lambda": spec.Grid(0.01, 0.03, 0.1, 0.3, 1, 3, 10)}, Features: []Features{Plain}}}).of(by, len(p.Names))
		if err != nil {
			t.Fatal(err)
		}
		on, err := graph.New(t.Context(), p.A, &graph.Settings{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		pStep := kernel.Families().Named("p-step")
		grid, err := kernelGrid(pStep, &set, kernel.OnDegrees(p.Degrees))
		if err != nil {
			t.Fatal(err)
		}
		kernels, err := pStep.NewAll(t.Context(), on, grid)
		if err != nil {
			t.Fatal(err)
		}
		r := &kernelPredictor{
			predictor: predictor{p: p, set: &set, by: by, out: &Prediction{Reached: on.Components.Reached(p.Row)}},
			grid:      grid, kernels: kernels, settled: set.Grid.tried(),
		}
		if err := r.chooseOutOfFold(t.Context()); err != nil {
			t.Fatal(err)
		}
		grams, _, err := kernel.Grams(t.Context(), kernels, p.Row, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		// The best (kernel, λ) where the error weighs ½, and where it weighs 1.
		type choice struct {
			kernel int
			lambda float64
			merit  float64
		}
		best := map[float64]choice{}
		for i, gram := range grams {
			trial.Rescale(gram)
			k := mat.NewDense(gram.Rows, gram.Rows, nil)
			for row := range gram.Rows {
				k.SetRow(row, gram.Row(row))
			}
			for _, lambda := range set.Grid.numbers("lambda") {
				right, squares := leaveEachOut(t, k, p.Class, len(p.Names), lambda)
				for _, weight := range []float64{0.5, 1} {
					merit := right - weight*squares
					if was, ok := best[weight]; !ok || merit > was.merit {
						best[weight] = choice{i, lambda, merit}
					}
				}
			}
		}
		if want := best[0.5]; r.best != want.kernel || r.values["lambda"] != spec.Of(want.lambda) {
			t.Errorf("one of %d labels wrong: kernel %d, %v; want %+v", wrong, r.best, r.values, want)
		}
		decided = decided || best[0.5].kernel != best[1].kernel || best[0.5].lambda != best[1].lambda
	}
	if !decided {
		t.Error("no choice depends on the weight of the error")
	}
}

// leaveEachOut returns the share of right answers and the mean over items of the
// squared error of one-hot targets, summed over classes.
func leaveEachOut(t *testing.T, k *mat.Dense, class []int, classes int, lambda float64) (right, squares float64) {
	t.Helper()
	n := len(class)
	for out := range n {
		var rest []int
		for i := range n {
			if i != out {
				rest = append(rest, i)
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
		answer, most := 0, 0.0
		for c := range classes {
			var decision float64
			for r, i := range rest {
				decision += k.At(out, i) * coef.At(r, c)
			}
			if c == 0 || decision > most {
				answer, most = c, decision
			}
			hot, target := (decision+1)/2, 0.0
			if c == class[out] {
				target = 1
			}
			squares += (hot - target) * (hot - target) / float64(n)
		}
		if answer == class[out] {
			right += 1 / float64(n)
		}
	}
	return right, squares
}

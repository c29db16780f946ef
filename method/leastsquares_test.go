package method

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/spec"
)

// The merit of a kernel with λ is the share of right predictions less half the squared error,
// of each item by a model of all others.
func TestLeastSquaresChoice(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a fifth of a second")
	}
	all := goldenProblem(t, "sbm300")
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
			kernel:    pStep, grid: grid, kernels: kernels, settled: set.Grid.tried(),
		}
		if err := r.chooseByFolds(t.Context()); err != nil {
			t.Fatal(err)
		}
		grams, _, err := kernel.Grams(t.Context(), kernels, p.Row, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		merit := make([]float64, 0, len(grams)*len(r.settled))
		for _, gram := range grams {
			choose.Rescale(gram)
			k := mat.NewDense(gram.Rows, gram.Rows, nil)
			for row := range gram.Rows {
				k.SetRow(row, gram.Row(row))
			}
			for _, lambda := range set.Grid.numbers("lambda") {
				right, squares := leaveEachOut(t, k, p.Class, len(p.Names), lambda)
				merit = append(merit, right-squares/2)
			}
		}
		counts := r.found.Counts
		for i, n := range counts.Total() {
			if got := float64(n)/float64(r.found.Tested) - counts.Loss[i]; math.Abs(got-merit[i]) > 1e-9 {
				t.Errorf("one of %d labels wrong: kernel %d, setting %d: merit %v, want %v", wrong, i/len(r.settled), i%len(r.settled), got, merit[i])
			}
		}
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

package method

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/param"
)

// The merit of a kernel with λ is the share of right predictions less half the squared error,
// of each item by a model of all others.
func TestLeastSquaresChoice(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a fifth of a second")
	}
	all := goldenProblem(t, "sbm300")
	for _, wrong := range []int{3, 4, 5} { // one label in this many is wrong
		problem := *all
		p := &problem
		p.Class = slices.Clone(all.Class)
		for i := 0; i < len(p.Class); i += wrong {
			p.Class[i] = (p.Class[i] + 1) % len(p.Names)
		}
		by := learnerOf("rls")
		set := &engine.Settings{Lists: map[string][]param.Value{"lambda": param.Grid(0.01, 0.03, 0.1, 0.3, 1, 3, 10)}}
		r, err := kernelMethod{kernel.Families().Named("p-step"), by}.newPredictor(t.Context(), p, nil, set)
		if err != nil {
			t.Fatal(err)
		}
		seen, err := r.compareLabels(t.Context(), r.kernels)
		if err != nil {
			t.Fatal(err)
		}
		counts := choose.NewCounts(r.Size(), make([]choose.FoldLabels, 10))
		err = r.outOfFold(t.Context(), seen, sched.UpTo(len(r.Sources)), sched.UpTo(len(r.Values)), counts.Loss, func(i int, o *choose.Outcome) {
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
		var want [][2]int64 // right answers, at least and at most
		var loss []float64
		for _, gram := range grams {
			choose.Rescale(gram, gram.Rows)
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

// leaveEachOut returns the number of right answers, a range because ties may fall either way, and the
// mean over items of the
// squared error of one-hot targets, summed over classes. The answer for an item whose kernel values
// with all others are 0 is their largest class.
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

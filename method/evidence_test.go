package method

import (
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/test/contract"
)

// groupedProblem returns a problem whose labels have five groups, which are then the folds of every engine, and labels that
// are equally many in each class of a group. Folds do not change if labels of a group are exchanged.
func groupedProblem(t *testing.T, seed uint64) *engine.Problem {
	p, _ := contract.Blocks(t, seed, 180, 120, 3, 5, 1)
	for i := range p.Row {
		p.Group = append(p.Group, i%5)
	}
	return p
}

// predictHeld returns the held-out predictions of an engine by position of the label.
func predictHeld(t *testing.T, m *engine.Engine, p *engine.Problem) map[int]choose.HeldRow {
	out, _, err := m.PredictCompared(t.Context(), p, &engine.Settings{Fixed: true, RNGSeed: 3})
	if err != nil {
		t.Fatalf("%s: %v", m.Name, err)
	}
	held, err := m.HoldOut(t.Context(), p, out, &engine.Settings{Fixed: true, RNGSeed: 3})
	if err != nil {
		t.Fatalf("%s: %v", m.Name, err)
	}
	rows := map[int]choose.HeldRow{}
	for _, row := range held.Rows {
		rows[row.Label] = row
	}
	return rows
}

// measuredEngines returns all engines that predict held-out labels; a short test takes one of each kernel.
func measuredEngines() []*engine.Engine {
	return slices.DeleteFunc(All(), func(m *engine.Engine) bool {
		return m == engine.Majority || testing.Short() && strings.Contains(m.Name, "+")
	})
}

// TestHeldOutLabelsAreHidden exchanges the labels of a group. No engine may change its predictions of this group.
func TestHeldOutLabelsAreHidden(t *testing.T) {
	for _, m := range measuredEngines() {
		p := groupedProblem(t, 7)
		want := predictHeld(t, m, p)
		if len(want) == 0 {
			t.Errorf("%s: no held-out predictions", m.Name)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		var group []int
		for i, g := range p.Group {
			if g == 2 {
				group = append(group, i)
			}
		}
		q := *p
		q.Class = slices.Clone(p.Class)
		rng.Shuffle(len(group), func(a, b int) {
			q.Class[group[a]], q.Class[group[b]] = q.Class[group[b]], q.Class[group[a]]
		})
		got := predictHeld(t, m, &q)
		changed := 0
		for _, i := range group {
			if want[i].Class != got[i].Class {
				changed++
			}
		}
		if changed > 0 {
			t.Errorf("%s: %d of %d predictions of the group changed with its own labels", m.Name, changed, len(group))
		}
	}
}

// TestHeldOutLabelsAreFitted compares held-out predictions with those of an engine that was fitted by hand to the labels of the
// other groups. Engines that mix models choose weights by all labels, learners of dependent coordinates round apart, the scale
// of a kernel is that of all labels, which turns a near tie, and trees are a mean of models without a fold of the labels.
func TestHeldOutLabelsAreFitted(t *testing.T) {
	for _, m := range measuredEngines() {
		if m.Mixture != nil || m.Name == "beliefs" || m.Name == "trees" || strings.Contains(m.Name, "dkm") {
			continue
		}
		p := groupedProblem(t, 7)
		rows := predictHeld(t, m, p)
		differ := 0
		for g := range 5 {
			var others []int
			for i, group := range p.Group {
				if group != g {
					others = append(others, i)
				}
			}
			out, err := m.Fit(t.Context(), p.At(others), nil, &engine.Settings{Fixed: true, RNGSeed: 3, Unmeasured: true})
			if err != nil {
				t.Fatalf("%s: %v", m.Name, err)
			}
			for i, group := range p.Group {
				if group == g && out.Class[p.Row[i]] != rows[i].Class {
					differ++
				}
			}
		}
		if differ > 1 {
			t.Errorf("%s: %d predictions differ", m.Name, differ)
		}
	}
}

// TestHeldOutNumbersAreHidden reverses the numbers of a group. No engine may change its predictions of this group. Settings are
// fixed, because models that know the group predict the other folds, which choose a setting.
func TestHeldOutNumbersAreHidden(t *testing.T) {
	for _, methods := range []string{"harmonic", "hops", "lgc", "spectral", "diffusion+rls", "trees:rounds=5:columns=all"} {
		all := randomNumbers(t, 4, 120)
		p := *all.At(sched.UpTo(len(all.Row) / 2))
		p.Group = nil
		var group []int
		groupOf := map[float64]int{} // by number
		for i, y := range p.Value {
			p.Group = append(p.Group, i%5)
			groupOf[y] = i % 5
			if i%5 == 2 {
				group = append(group, i)
			}
		}
		q := p
		q.Value = slices.Clone(p.Value)
		for k, i := range group {
			q.Value[i] = p.Value[group[len(group)-1-k]]
		}
		set := &engine.Settings{Fixed: true}
		want := runOne(t, &p, methods, set).HeldOut
		got := runOne(t, &q, methods, set).HeldOut
		compared := 0
		for i, w := range want {
			if groupOf[w.True] != 2 {
				continue
			}
			compared++
			if d := math.Abs(got[i].Predicted - w.Predicted); d > 1e-6*(1+math.Abs(w.Predicted)) {
				t.Fatalf("%s: the prediction of %v changed from %v to %v with the numbers of its own group", methods, w.True, w.Predicted, got[i].Predicted)
			}
		}
		if compared != len(group) {
			t.Errorf("%s: %d of %d numbers of the group are held out", methods, compared, len(group))
		}
	}
}

// TestHeldOutLabelsHaveShares compares held-out probabilities that were adapted to known shares of classes with those without
// shares, adapted once by hand. Engines that mix models choose weights by the shares.
func TestHeldOutLabelsHaveShares(t *testing.T) {
	for _, m := range measuredEngines() {
		if m.Mixture != nil {
			continue
		}
		set := &engine.Settings{Fixed: true, RNGSeed: 3}
		predict := func(p *engine.Problem) map[int]choose.HeldRow {
			out, _, err := m.PredictCompared(t.Context(), p, set)
			if err == nil {
				err = m.AdaptToShares(t.Context(), p, out, set)
			}
			if err != nil {
				t.Fatalf("%s: %v", m.Name, err)
			}
			rows := map[int]choose.HeldRow{}
			for _, row := range out.Held.Rows {
				rows[row.Label] = row
			}
			return rows
		}
		p := groupedProblem(t, 7)
		want := predict(p)
		p.Shares = []float64{0.6, 0.3, 0.1}
		reweigh := p.Reweigher(false)
		scores := make([]float64, len(p.Names))
		for i, row := range predict(p) {
			simd.ConvertTo(scores, want[i].Scores)
			reweigh(scores)
			for c, x := range row.Scores {
				if row.Reached && math.Abs(float64(x)-scores[c]) > 1e-5 {
					t.Fatalf("%s: label %d has the probabilities %v, want %v", m.Name, i, row.Scores, scores)
				}
			}
		}
	}
}

// TestEnginesDrawNoFolds requires that package choose and package engine alone divide labels, by one rule for the number of folds.
func TestEnginesDrawNoFolds(t *testing.T) {
	draws := regexp.MustCompile(`choose\.(DrawFolds|ToChoose|ToFit|ToMeasure|ToCompare)\b`)
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		folder := filepath.ToSlash(filepath.Dir(path))
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			folder == "../method/choose" || folder == "../method/engine" {
			return err
		}
		source, err := os.ReadFile(path)
		if found := draws.Find(source); found != nil {
			t.Errorf("%s calls %s; take a choose.Task", path, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestAccuracyWithFewScores predicts with the scores of the highest class alone. The printed accuracy must be the same.
func TestAccuracyWithFewScores(t *testing.T) {
	for _, m := range All() {
		if m.Highest == nil {
			continue
		}
		p := groupedProblem(t, 7)
		for _, given := range []param.Values{nil, {"steps": param.Of(3)}} {
			if given != nil && !slices.ContainsFunc(m.Specs, func(s *param.Spec) bool { return s.Param("steps") != nil }) {
				continue
			}
			var want, got problem.Estimate
			for _, estimate := range []*problem.Estimate{&want, &got} {
				set := &engine.Settings{Given: given, Fixed: true, RNGSeed: 3}
				if estimate == &got {
					set.Top = 1
				}
				out, _, err := m.PredictCompared(t.Context(), p, set)
				if err != nil {
					t.Fatalf("%s %v: %v", m.Name, given, err)
				}
				*estimate = out.Estimate
			}
			if got.Accuracy != want.Accuracy || got.Tested != want.Tested {
				t.Errorf("%s %v: accuracy %v of %d labels, want %v of %d", m.Name, given, got.Accuracy, got.Tested, want.Accuracy, want.Tested)
			}
		}
	}
}

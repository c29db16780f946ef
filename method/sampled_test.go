package method

import (
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/test/contract"
)

// Classifiers of all labels must use the kernel that was chosen on a sample.
func TestSampledKernelIsTheChosenOne(t *testing.T) {
	p := contract.Planted(t, 3, 120, 60)
	set := &engine.Settings{Sample: 30}
	others := false
	for _, name := range []string{"diffusion", "diffusion+rls", "von-neumann+logistic", "heat-pagerank"} {
		m, err := findMethod(name, engine.Classes)
		if err != nil {
			t.Fatal(err)
		}
		out, err := m.Predict(t.Context(), p, nil, set)
		if err != nil {
			t.Fatal(err)
		}
		again, err := m.Predict(t.Context(), p, &out.Parameters, set)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(out.Scores.Data, again.Scores.Data) {
			t.Errorf("%s: other scores with %v given than chosen", name, out.Parameters)
		}
		f := kernel.Families().Named(out.Parameters.Kernel.Spec.Name)
		own := set.WithDefaults()
		grid, _, err := own.Grid(&f.Spec, f.Own(own.Given), kernel.OnDegrees(p.Degrees))
		if err != nil {
			t.Fatal(err)
		}
		others = others || f.Text(grid[0]) != f.Text(out.Parameters.Kernel.Values)
	}
	if !others {
		t.Error("only first kernels are chosen, which tells nothing")
	}
}

// A setting that a sample chose is measured on folds with as many labels, in the order of folds.
func TestSampledAccuracy(t *testing.T) {
	p := contract.Planted(t, 3, 120, 90)
	set := &engine.Settings{Sample: 30}
	for _, name := range []string{"diffusion+rls", "cwk", "spectral+logistic"} {
		m := methodOf(t, name)
		out, err := m.Predict(t.Context(), p, nil, set)
		if err != nil {
			t.Fatal(err)
		}
		folds := choose.FoldCount(len(p.Row))
		fold := choose.DrawFolds(p, folds, set.RNGSeed, 0).Of
		tested, right, skipped := 0, 0, 0
		for f := 0; tested+skipped < 30; f++ {
			s := choose.OfFold(fold, f)
			one, err := m.Predict(t.Context(), p.At(s.Train), &out.Parameters, set)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range s.Test {
				if !one.Reached.Contains(uint32(p.Row[i])) {
					skipped++
					continue
				}
				tested++
				if one.Class[p.Row[i]] == p.Class[i] {
					right++
				}
			}
		}
		if want := float64(right) / float64(tested); out.Tested != tested || math.Abs(out.Accuracy-want) > 0.05 {
			t.Errorf("%s: accuracy %v of %d labels, want about %v of %d", name, out.Accuracy, out.Tested, want, tested)
		}
	}
}

func TestSettledDefaults(t *testing.T) {
	by := classify.Learners().Named("logistic")
	usual, err := by.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	all, space, err := engine.LearnerSettings(new(engine.Settings), by, 2)
	if err != nil || len(all) < 2 || space.Usual == 0 || by.Text(all[space.Usual]) != by.Text(usual) {
		t.Errorf("%d of %v, %v; want that of %v", space.Usual, all, err, usual)
	}
	p := by.Param("lambda")
	if all, space, err = engine.LearnerSettings(&engine.Settings{Lists: map[string][]param.Value{p.Name: p.Grid[:1]}}, by, 2); err != nil || len(all) != 1 || space.Usual != 0 {
		t.Errorf("%d of %v, %v; want the only one", space.Usual, all, err)
	}
}

package evaluate

import (
	"context"
	"slices"
	"testing"
)

func TestTuningSplitsAreOthers(t *testing.T) {
	p := planted(t, 9, 120, 90)
	for _, plan := range []*Plan{{Fractions: []float64{0.3}, TuningSplits: 4}, {PerClass: []int{5}, TuningSplits: 4}, {Folds: 4, TuningSplits: 4}} {
		sizes, err := plan.sizes(p, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			for j := range 4 {
				if slices.Equal(sizes[0].tuning.At(i).Train, sizes[0].splits.At(j).Train) {
					t.Errorf("%+v: tuning split %d is the reported one %d", plan, i, j)
				}
			}
		}
	}
}

func TestFolds(t *testing.T) {
	p := planted(t, 9, 120, 90)
	r, err := Run(context.Background(), p, &Plan{Folds: 5, Splits: 2, Stratified: true})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, row := range r.Results[0].Confusion {
		for _, n := range row {
			total += n
		}
	}
	if r.Splits != 10 || total != 2*90 || r.Results[0].TrainFraction != 0.8 {
		t.Errorf("%d splits test %d nodes after training on %v", r.Splits, total, r.Results[0].TrainFraction)
	}
	if got := r.drawn(); got != "mean of stratified 5-fold cross-validation, 2 times (standard error)" {
		t.Error(got)
	}
}

func TestStanding(t *testing.T) {
	results := []Result{
		{Measured: Measured{Method: "a"}, ClassMeasures: &ClassMeasures{Accuracies: []float64{0.5, 0.6, 0.7}}},
		{Measured: Measured{Method: "b"}, ClassMeasures: &ClassMeasures{Accuracies: []float64{0.62, 0.71, 0.8}}},
		{Measured: Measured{Method: "c"}, ClassMeasures: &ClassMeasures{Accuracies: []float64{0.9, 0.4, 0.8}}},
	}
	for i := range results {
		results[i].NodesTested, results[i].NodesTrained = 100, 10_000
	}
	compare(results)
	for i, want := range []string{worse, first, notWorse} {
		if results[i].Standing != want {
			t.Errorf("%s is %s, want %s", results[i].Method, results[i].Standing, want)
		}
	}
	even := []Result{
		{Measured: Measured{Method: "a", NodesTrained: 1}, ClassMeasures: &ClassMeasures{Accuracies: []float64{0.5, 0.7}}}, {Measured: Measured{Method: "b", NodesTrained: 1}, ClassMeasures: &ClassMeasures{Accuracies: []float64{0.7, 0.5}}},
	}
	compare(even)
	if even[0].Standing != first || even[1].Standing != notWorse {
		t.Errorf("of equal means the first is %s, the second %s", even[0].Standing, even[1].Standing)
	}
	one := []Result{{ClassMeasures: &ClassMeasures{Accuracies: []float64{0.5}}}, {ClassMeasures: &ClassMeasures{Accuracies: []float64{0.4}}}}
	compare(one)
	if one[1].Standing != worse {
		t.Errorf("by one split: %s", one[1].Standing)
	}
}

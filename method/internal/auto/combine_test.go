package auto

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/problem"
)

func heldOutOf(class []int, classes int, components []component, poisson component) *heldOut {
	h := &heldOut{p: &problem.Problem{Row: make([]int, len(class))}, class: class, classes: classes, poisson: poisson}
	for i, a := range components {
		a.Ridge = float64(max(0, i-1))
		h.components = append(h.components, a)
	}
	for range class {
		h.hasOthers, h.hasFeatures = append(h.hasOthers, true), append(h.hasFeatures, true)
	}
	return h
}

// steady returns probability q for each label's class and the rest for the next class.
func steady(class []int, classes int, q func(i int) float64) component {
	a := newComponent(candidate{}, 0, len(class))
	for i, c := range class {
		row := make([]float64, classes)
		row[c], row[(c+1)%classes] = q(i), 1-q(i)
		a.set(i, row)
	}
	return a
}

func logit(w float64) float64 { return math.Log(w / (1 - w)) }

func TestCalibration(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a fifth of a second")
	}
	const labels, classes = 1500, 3
	for _, want := range []Calibration{{0, 0, logit(0.99)}, {0.5, 0, logit(0.99)}, {-0.5, 0, logit(0.99)}, {0.3, 0, logit(0.8)}, {0.2, -2, logit(0.97)}, {0, -0.8, logit(0.97)}} {
		rng := rand.New(rand.NewPCG(3, 5))
		class, a := make([]int, labels), newComponent(candidate{}, 0, labels)
		drawn := make([][]float64, labels)
		for i := range class {
			row, sum := make([]float64, classes), 0.0
			for c := range row {
				row[c] = rng.ExpFloat64()
				sum += row[c]
			}
			for c := range row {
				row[c] /= sum
			}
			calibrated := append([]float64(nil), row...)
			want.apply(calibrated)
			if classify.ArgMax(calibrated) != classify.ArgMax(row) || math.Abs(calibrated[0]+calibrated[1]+calibrated[2]-1) > 1e-12 {
				t.Fatalf("%v of %v has another maximum, or does not add up to 1", calibrated, row)
			}
			for x := rng.Float64(); class[i] < classes-1 && x > calibrated[class[i]]; class[i]++ {
				x -= calibrated[class[i]]
			}
			a.set(i, row)
			drawn[i] = calibrated
		}
		h := heldOutOf(class, classes, []component{a}, component{})
		a.Weight = 1
		mixture := []component{a}
		got := h.calibrate(mixture)
		away, row := 0.0, make([]float64, classes)
		for i := range labels {
			mixTo(row, mixture, i)
			got.apply(row)
			away += math.Abs(slices.Max(row)-slices.Max(drawn[i])) / float64(labels)
		}
		if away > 0.02 {
			t.Errorf("calibration %+v, %.3f from %+v", got, away, want)
		}
	}
}

// Uncertain predictions are no better than chance here, so that they become flatter than others.
func TestCalibrationIsLikeliest(t *testing.T) {
	const classes = 3
	for _, labels := range []int{12, 60, 400} {
		rng := rand.New(rand.NewPCG(uint64(labels), 5))
		class, a := make([]int, labels), newComponent(candidate{}, 0, labels)
		for i := range class {
			row := make([]float64, classes)
			for c := range row {
				row[c] = rng.ExpFloat64()
			}
			floats.Scale(1/floats.Sum(row), row)
			class[i] = rng.IntN(classes)
			if slices.Max(row) > 0.6 && rng.IntN(5) > 0 {
				class[i] = classify.ArgMax(row)
			}
			a.set(i, row)
		}
		h := heldOutOf(class, classes, []component{a}, component{})
		a.Weight = 1
		mixture := []component{a}
		expected := min(float64(labels*labels)/330, 50)
		of := func(c Calibration) float64 {
			if c.Slope > 0 {
				return math.Inf(-1)
			}
			w := 1 / (1 + math.Exp(-c.Trust))
			sum := distuv.Normal{Mu: 0.05, Sigma: 0.2}.LogProb(c.Power) + distuv.Normal{Sigma: 1}.LogProb(c.Slope) +
				distuv.Beta{Alpha: 2 + 0.97*expected, Beta: 2 + 0.03*expected}.LogProb(w)
			for i, row := range a.rows {
				power, powers := c.Power-c.Slope/2, make([]float64, classes)
				for _, q := range row {
					power -= c.Slope * float64(q) * math.Log(float64(q)) / math.Log(classes)
				}
				for j, q := range row {
					powers[j] = math.Exp(power) * math.Log(float64(q))
				}
				sum += math.Log(w*math.Exp(powers[class[i]]-floats.LogSumExp(powers)) + (1-w)/classes)
			}
			return sum
		}
		got := h.calibrate(mixture)
		most := of(got)
		for _, by := range []float64{-0.1, 0.1} {
			for _, near := range []Calibration{{got.Power + by, got.Slope, got.Trust}, {got.Power, got.Slope + by, got.Trust}, {got.Power, got.Slope, got.Trust + by}} {
				if likelihood := of(near); likelihood > most {
					t.Errorf("%d labels: %+v is likelier than %+v by %v", labels, near, got, likelihood-most)
				}
			}
		}
	}
}

// The prior matters where labels are few: where 36 of 60 are right, the power falls more than the trust. 3,000 labels
// outweigh the prior.
func TestCalibrationOfFewLabels(t *testing.T) {
	of := func(labels, tenths int) (c Calibration, calibrated float64) {
		class, a := make([]int, labels), newComponent(candidate{}, 0, labels)
		for i := range class {
			class[i] = i % 4
			row := []float64{0.1, 0.1, 0.1, 0.1}
			if i%10 < tenths {
				row[class[i]] = 0.7
			} else {
				row[(class[i]+1)%4] = 0.7
			}
			a.set(i, row)
		}
		a.Weight = 1
		h := heldOutOf(class, 4, []component{a}, component{})
		c = h.calibrate([]component{a})
		row := []float64{0.7, 0.1, 0.1, 0.1}
		c.apply(row)
		return c, row[0]
	}
	if c, calibrated := of(20, 10); calibrated < 0.75 || calibrated > 0.85 {
		t.Errorf("20 right answers: %+v gives %.3f, want 0.75 to 0.85", c, calibrated)
	}
	if c, calibrated := of(60, 6); c.Trust < logit(0.8) || calibrated > 0.65 {
		t.Errorf("36 right answers of 60: %+v gives %.3f, want a trust above 0.8 and 0.65 at the most", c, calibrated)
	}
	if c, calibrated := of(3000, 6); math.Abs(calibrated-0.6) > 0.01 {
		t.Errorf("1,800 right answers of 3,000: %+v gives %.3f", c, calibrated)
	}
}

func TestStackOfSomeLabels(t *testing.T) {
	h := &heldOut{class: make([]int, 3), hasOthers: []bool{true, true, true}, poisson: newComponent(candidate{Poisson: true}, 0, 3)}
	other := newComponent(candidate{}, 0, 3)
	for i, truth := range [][2]float64{{0.6, 0.3}, {0.5, 0.7}, {0.1, 0.9}} {
		h.poisson.set(i, []float64{truth[0], 1 - truth[0]})
		if i < 2 {
			other.set(i, []float64{truth[1], 1 - truth[1]})
		}
	}
	h.components = []component{other}
	first := func(i int) bool { return i < 2 }
	every := h.stack(h.likeliest(all), all)
	some := h.stack(h.likeliest(first), first)
	if !reflect.DeepEqual(every, some) {
		t.Errorf("weights %+v by all labels, %+v by those that both have predicted", every, some)
	}
}

func TestChoiceSubsetsOfBeliefs(t *testing.T) {
	const labels, folds = 400, 5
	class, fold := make([]int, labels), make([]int, labels)
	for i := range class {
		class[i] = i % 4
		fold[i] = i / 4 % folds
	}
	right := func(int) float64 { return 0.7 }
	h := heldOutOf(class, 4, []component{steady(class, 4, right)}, steady(class, 4, right))
	h.p = &problem.Problem{Row: sched.UpTo(labels), Class: class}
	h.places = h.p.Row
	h.fold = fold
	h.folds = folds
	beliefs := steady(class, 4, right)
	beliefs.Beliefs = true
	for i, k := range fold {
		if k >= believedFolds {
			beliefs.rows[i] = nil
		}
	}
	mixture := slices.Clone(h.components)
	h.components = append(h.components, beliefs)
	if got := choiceSubsets(h, mixture); !slices.Equal(got, fold) {
		t.Error("subsets of a mixture without beliefs are not the folds")
	}
	subset := choiceSubsets(h, h.components)
	predicted := labels * believedFolds / folds
	for k := range folds {
		left := 0
		for i := range class {
			if beliefs.rows[i] != nil && subset[i] != k {
				left++
			}
		}
		if 3*predicted > 4*left {
			t.Errorf("subset %d leaves %d of %d predicted labels", k, left, predicted)
		}
	}
}

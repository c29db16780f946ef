package classify

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

func TestCouple(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for range 20 {
		k := 2 + rng.IntN(4)
		c := &calibration{}
		r := make([][]float64, k)
		for a := range r {
			c.classes = append(c.classes, 2*a) // there may be classes between
			r[a] = make([]float64, k)
		}
		var share []float64
		for a := range k {
			for b := a + 1; b < k; b++ {
				c.pairs = append(c.pairs, Pair{2 * a, 2 * b})
				r[a][b] = 0.02 + 0.96*rng.Float64()
				r[b][a] = 1 - r[a][b]
				share = append(share, r[a][b])
			}
		}
		sum := func(p []float64) (s float64) {
			for a := range p {
				for b := range p {
					s += math.Pow(r[b][a]*p[a]-r[a][b]*p[b], 2)
				}
			}
			return s
		}
		got := c.couple(make([]float64, k), share)
		total := 0.0
		for _, p := range got {
			total += p
		}
		within(t, "the sum of probabilities", total, 1, 1e-12)
		least := sum(got)
		for a := range k {
			for b := range k {
				for _, step := range []float64{1e-3, 1e-5} {
					if a == b || got[b] < step {
						continue
					}
					p := append([]float64(nil), got...)
					p[a], p[b] = p[a]+step, p[b]-step
					if sum(p) < least-1e-15 {
						t.Errorf("%v is no minimum: %v is less", got, p)
					}
				}
			}
		}
		if k == 2 {
			within(t, "the share of the first of two", got[0], share[0], 1e-9)
		}
	}
}

func TestSigmoid(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	s := new(outputScores)
	for range 200 {
		f := rng.NormFloat64() * 3
		s.score, s.first = append(s.score, f), append(s.first, f+2*rng.NormFloat64() > 1)
	}
	yes, no := 0.0, 0.0
	for _, first := range s.first {
		if first {
			yes++
		} else {
			no++
		}
	}
	loss := func(a, b float64) (sum float64) {
		for i, f := range s.score {
			p := 1 / (1 + math.Exp(a*f+b))
			target := 1 / (no + 2)
			if s.first[i] {
				target = (yes + 1) / (yes + 2)
			}
			sum -= target*math.Log(p) + (1-target)*math.Log(1-p)
		}
		return sum
	}
	a, b := Sigmoid(s.score, s.first)
	for _, step := range [][2]float64{{1e-4, 0}, {-1e-4, 0}, {0, 1e-4}, {0, -1e-4}, {1e-4, -1e-4}, {-1e-4, 1e-4}} {
		if loss(a+step[0], b+step[1]) < loss(a, b) {
			t.Errorf("A = %v, B = %v is no minimum: a step of %v is less", a, b, step)
		}
	}
	if a >= 0 {
		t.Errorf("A is %v: a larger score is less probable", a)
	}
	for _, one := range []outputScores{{}, {score: []float64{1}, first: []bool{true}}} {
		if a, b := Sigmoid(one.score, one.first); a != 0 || b != 0 {
			t.Errorf("items of one side give A = %v, B = %v", a, b)
		}
	}
}

func TestCalibrateOneClass(t *testing.T) {
	k := clouds(21, 12, 2, 3, 0.8).gram()
	if _, err := Calibrate(t.Context(), &svmLearner, new(Model), k, make([]int, 12), 3, nil); !errors.Is(err, ErrOneClass) {
		t.Errorf("one class: %v", err)
	}
}

func TestCalibrateFew(t *testing.T) {
	p := clouds(22, 7, 2, 3, 4)
	p.y = []int{0, 1, 2, 1, 0, 0, -1}
	v, err := svmLearner.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := svmLearner.Fit(t.Context(), p.gram(), p.y, p.classes, v)
	if err != nil {
		t.Fatal(err)
	}
	probabilities, err := Calibrate(t.Context(), &svmLearner, m, p.gram(), p.y, p.classes, v)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, q := range probabilities(nil, []float64{1, 1, -1}) {
		sum += q
	}
	within(t, "the sum of probabilities", sum, 1, 1e-12)
}

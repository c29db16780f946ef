package classify

import (
	"math/rand/v2"
	"testing"

	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// rareClass draws features of two classes that overlap, one item in ten of the second one.
func rareClass(seed uint64, n int) problem {
	rng := rand.New(rand.NewPCG(seed, 0))
	p := problem{f: sparse.NewBlock[float64](n, 2), y: make([]int, n), classes: 2}
	for i := range n {
		if i%10 == 0 {
			p.y[i] = 1
		}
		p.f.Row(i)[0], p.f.Row(i)[1] = rng.NormFloat64()+1.5*float64(p.y[i]), 1 // a constant is a bias
	}
	return p
}

// Every learner takes balanced weights of classes. They raise the recall of a rare class, unless scores are
// means over classes, whose weights are balanced without them.
func TestBalancedLearners(t *testing.T) {
	train, test := rareClass(1, 200), rareClass(2, 400)
	for _, l := range Learners() {
		recall := map[string]int{}
		for _, word := range l.Param("class-weights").Words {
			v, err := l.Resolve(param.Values{"class-weights": param.Of(word)}, nil)
			if err != nil {
				t.Fatal(err)
			}
			m, err := l.Fit(t.Context(), train.gram(), train.y, 2, v)
			if err != nil {
				t.Fatalf("%s: %v", l.Name, err)
			}
			for i, c := range test.y {
				x := test.f.Row(i)
				if c == 1 && m.Pairs.Predict(m.ScoresTo(nil, train.row(x), inner(x, x))) == c {
					recall[word]++
				}
			}
		}
		t.Logf("%s: recalled %v of 40", l.Name, recall)
		if equal := recall["equal"]; recall["balanced"] < 25 || recall["balanced"] < equal {
			t.Errorf("%s: recalled %v of 40", l.Name, recall)
		}
	}
}

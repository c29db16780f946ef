package classify

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func allPairs(classes int) Pairs {
	var p Pairs
	for i := range classes {
		for j := i + 1; j < classes; j++ {
			p = append(p, Pair{i, j})
		}
	}
	return p
}

func TestVotes(t *testing.T) {
	three := allPairs(3)
	rest := Pairs{{0, Rest}, {1, Rest}, {3, Rest}}
	for _, c := range []struct {
		pairs     Pairs
		decisions []float64
		class     int
	}{
		{three, []float64{1, 1, -1}, 0},
		{three, []float64{-1, 1, 1}, 1},
		{three, []float64{1, -1, 1}, 0},  // a cycle
		{three, []float64{0, 0, 0}, 2},   // a decision of 0 is a vote for the second
		{three, []float64{-1, 5, -9}, 0}, // sizes do not count
		{rest, []float64{-3, -1, -2}, 1},
		{rest, []float64{-1, 2, 2}, 1},
		{Pairs{{1, 4}}, []float64{-0.1}, 4},
	} {
		if got := c.pairs.Predict(c.decisions); got != c.class {
			t.Errorf("%v %v: class %d, want %d", c.pairs, c.decisions, got, c.class)
		}
	}
	many := allPairs(50)
	decisions := make([]float64, len(many))
	for m, p := range many {
		decisions[m] = -1
		if p.Positive == 37 {
			decisions[m] = 1
		}
	}
	// Class 37 wins against all, as class 49 does except against 37.
	if c := many.Predict(decisions); c != 37 {
		t.Errorf("class %d of 50, want 37", c)
	}
	panics(t, badLength, func() { three.Predict([]float64{1}) })
}

func TestLargestFirst(t *testing.T) {
	g := newGroups([]int{2, 0, 1, 1, 2, 2, 2, 0, -1, 2}, 4) // 2, 2, 5 and no items
	if got, want := g.largestFirst(g.pairs(nil, false)), []int{1, 2, 0}; !slices.Equal(got, want) {
		t.Errorf("machines of two classes in the order %v, want %v", got, want)
	}
	if got, want := g.largestFirst(g.pairs(nil, true)), []int{0, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("machines against the rest in the order %v, want %v", got, want)
	}
}

func TestBalancedWeights(t *testing.T) {
	got := BalancedWeights([]int{0, 2, 2, -1, 2, 0, 2}, 4)
	if want := []float64{6.0 / 4, 1, 6.0 / 8, 1}; !reflect.DeepEqual(got, want) {
		t.Errorf("weights %v, want %v", got, want)
	}
}

func TestSoftVotes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		classes := rapid.IntRange(2, 6).Draw(t, "classes")
		pairs := allPairs(classes)
		if rapid.Bool().Draw(t, "rest") && classes > 2 {
			pairs = nil
			for c := range classes {
				pairs = append(pairs, Pair{c, Rest})
			}
		}
		decisions := rapid.SliceOfN(rapid.Float64Range(-50, 50), len(pairs), len(pairs)).Draw(t, "decisions")
		slope := math.Exp2(rapid.Float64Range(-6, 6).Draw(t, "log2 slope"))
		got := SoftVotes(nil, pairs, decisions, slope)
		sum, best := 0.0, 0
		for c, s := range got {
			if !(s >= 0 && s <= 1) {
				t.Fatalf("score %v", s)
			}
			sum += s
			want := 0.0
			if pairs[0].Negative == Rest {
				for _, d := range decisions {
					want += math.Exp(slope * (d - decisions[c]))
				}
				want = 1 / want
			} else {
				for m, p := range pairs {
					d := decisions[m]
					if p.Negative == c {
						d = -d
					}
					if p.Positive == c || p.Negative == c {
						want += 2 / float64(classes*(classes-1)) / (1 + math.Exp(-slope*d))
					}
				}
			}
			if math.Abs(s-want) > 1e-13 {
				t.Fatalf("score %v of class %d, want %v", s, c, want)
			}
			if s > got[best] {
				best = c
			}
		}
		if math.Abs(sum-1) > 1e-13 {
			t.Fatalf("scores sum to %v", sum)
		}
		if a := ArgMax(got); a != best {
			t.Fatalf("largest score at %d, want %d", a, best)
		}
	})
	if got := SoftVotes(make([]float64, 3), Pairs{{0, 2}}, []float64{0}, 1); !reflect.DeepEqual(got, []float64{0.5, 0, 0.5}) {
		t.Errorf("scores %v", got)
	}
	if c := ArgMax([]float64{0.2, 0.4, 0.4}); c != 1 {
		t.Errorf("tie goes to class %d", c)
	}
	panics(t, badLength, func() { SoftVotes(nil, Pairs{{0, 1}}, nil, 1) })
}

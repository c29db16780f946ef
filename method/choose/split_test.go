package choose

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/problem"
)

func classesFor(t *rapid.T, n, k int) []int {
	class := rapid.SliceOfN(rapid.IntRange(0, k-1), n, n).Draw(t, "class")
	for c := range k {
		class[c] = c
	}
	return class
}

func TestRandomSplits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 5).Draw(t, "classes")
		class := classesFor(t, rapid.IntRange(k+2, 60).Draw(t, "n"), k)
		n := len(class)
		m := rapid.IntRange(k, n-1).Draw(t, "m")
		seed := rapid.Uint64().Draw(t, "rng seed")
		fraction := float64(m) / float64(n)
		splits, err := Draw(class, Design{Fraction: fraction}, 4, seed)
		if errors.As(err, new(*SplitError)) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		for i := range splits.Len {
			s := splits.At(i)
			if len(s.Train) != m {
				t.Fatalf("%d training nodes, want %d", len(s.Train), m)
			}
			checkSplit(t, s, n)
			if !severalClasses(class, s.Train) {
				t.Fatal("training nodes of one class alone")
			}
		}
		again, err := Draw(class, Design{Fraction: float64(m) / float64(n)}, 2, seed)
		if err != nil || !slices.Equal(again.At(1).Train, splits.At(1).Train) {
			t.Fatalf("the second split depends on how many are drawn: %v", err)
		}
	})
}

func at(class, positions []int) []int {
	part := make([]int, len(positions))
	for i, p := range positions {
		part[i] = class[p]
	}
	return part
}

func checkSplit(t *rapid.T, s Split, n int) {
	all := slices.Concat(s.Train, s.Test)
	if !slices.IsSorted(s.Train) || !slices.IsSorted(s.Test) {
		t.Fatal("positions are out of order")
	}
	slices.Sort(all)
	for i, at := range all {
		if i != at {
			t.Fatalf("position %d is in %v", i, all)
		}
	}
	if len(all) != n {
		t.Fatalf("%d positions of %d", len(all), n)
	}
}

// The class never matters, so that each node is in the training set with probability m/n.
func TestRandomSplitsAreUniform(t *testing.T) {
	const n, m, count = 20, 5, 4000
	splits, err := Draw(make([]int, n), Design{Fraction: float64(m) / n}, count, 1)
	if err != nil {
		t.Fatal(err)
	}
	var in [n]int
	for i := range splits.Len {
		s := splits.At(i)
		for _, i := range s.Train {
			in[i]++
		}
	}
	// The count is binomial; 5 standard deviations are allowed.
	mean, dev := count*m/float64(n), math.Sqrt(count*m/float64(n)*(1-m/float64(n)))
	for i, got := range in {
		if math.Abs(float64(got)-mean) > 5*dev {
			t.Errorf("node %d is in %d training sets, want %v ± %v", i, got, mean, dev)
		}
	}
}

func TestSplitsOfDifferentUseDiffer(t *testing.T) {
	class := make([]int, 100)
	a, err := Draw(class, Design{Fraction: 0.5}, 1, 7)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Draw(class, Design{Fraction: 0.5, Tuning: true}, 1, 7)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Equal(a.At(0).Train, b.At(0).Train) {
		t.Error("tuning splits are the reported ones")
	}
}

func TestFractionErrors(t *testing.T) {
	class := []int{0, 0, 0, 0, 0, 0, 0, 0, 1, 2}
	for _, test := range []struct {
		fraction float64
		want     string
	}{
		{0.1, "0.1 of 10 labels leaves too few labels to learn from; use a larger fraction"},
		{0, "a training fraction is 0; it must lie between 0 and 1"},
		{1, "a training fraction is 1; it must lie between 0 and 1"},
		{math.NaN(), "a training fraction is NaN; it must lie between 0 and 1"},
		{0.97, "0.97 of 10 labels leaves none to test on; use a smaller fraction"},
	} {
		_, err := Draw(class, Design{Fraction: test.fraction}, 3, 1)
		if !errors.Is(err, ErrUsage) || err.Error() != test.want {
			t.Errorf("fraction %v: %v, want %s", test.fraction, err, test.want)
		}
	}
}

func TestPerClassSplits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 4).Draw(t, "classes")
		each := rapid.IntRange(1, 3).Draw(t, "each")
		var class []int
		for c := range k {
			for range each + rapid.IntRange(1, 5).Draw(t, "more") {
				class = append(class, c)
			}
		}
		splits, err := Draw(class, Design{PerClass: each}, 3, rapid.Uint64().Draw(t, "rng seed"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range splits.Len {
			s := splits.At(i)
			checkSplit(t, s, len(class))
			got := at(class, s.Train)
			for c, nodes := range membersOf(got) {
				if len(nodes) != each {
					t.Fatalf("class %d has %d training nodes, want %d", c, len(nodes), each)
				}
			}
		}
	})
	for _, test := range []struct{ class, each, count int }{{3, -1, 1}, {3, 4, 1}, {3, 3, 1}, {3, 1, 0}} {
		if _, err := Draw(make([]int, test.class), Design{PerClass: test.each}, test.count, 1); !errors.Is(err, ErrUsage) {
			t.Errorf("%+v: %v", test, err)
		}
	}
	if _, err := Draw([]int{0, 0, 0, 0, 1, 1}, Design{PerClass: 2}, 1, 1); !errors.Is(err, ErrUsage) {
		t.Errorf("test sets of one class: %v", err)
	}
}

func TestGivenSplit(t *testing.T) {
	row, class, names := []int{4, 7, 1, 9}, []int{0, 1, 0, 1}, []string{"a", "b"}
	s, _, err := GivenSplit(row, class, names, []int{9, 4}, []int{1, 7})
	if err != nil || !slices.Equal(s.Train, []int{0, 3}) || !slices.Equal(s.Test, []int{1, 2}) {
		t.Fatalf("%v, %v", s, err)
	}
	for _, test := range []struct {
		train, test []int
		want        string
	}{
		{[]int{4, 9}, []int{5}, "row 5 of the split has no label"},
		{[]int{4, 9}, []int{9}, "row 9 of the split is named twice"},
		{[]int{4, 9, 4}, []int{1}, "row 4 of the split is named twice"},
		{[]int{4, 1}, []int{7}, `the split has training nodes of class "a" alone, and two classes are needed`},
		{nil, []int{7}, "the split has no training node"},
		{[]int{4, 7}, nil, "the split has no test node"},
	} {
		_, _, err := GivenSplit(row, class, names, test.train, test.test)
		var bad *SplitError
		if !errors.As(err, &bad) || err.Error() != test.want {
			t.Errorf("%v / %v: %v, want %s", test.train, test.test, err, test.want)
		}
	}
}

func TestFolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 5).Draw(t, "classes")
		class := classesFor(t, rapid.IntRange(k, 60).Draw(t, "n"), k)
		p := &problem.Problem{Row: sched.UpTo(len(class)), Class: class}
		count := min(len(class), rapid.IntRange(2, 6).Draw(t, "folds"))
		fold := DrawFolds(p, count, rapid.Uint64().Draw(t, "rng seed"), 0).Of
		level := func(of func(i int) bool) {
			sizes := make([]int, count)
			for i, f := range fold {
				if of(i) {
					sizes[f]++
				}
			}
			if slices.Max(sizes)-slices.Min(sizes) > 1 {
				t.Fatalf("folds of %v nodes", sizes)
			}
		}
		level(func(int) bool { return true })
		for c := range k {
			level(func(i int) bool { return class[i] == c })
		}
	})
}

func TestSample(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 5).Draw(t, "classes")
		class := classesFor(t, rapid.IntRange(k, 200).Draw(t, "n"), k)
		limit := rapid.IntRange(1, 250).Draw(t, "limit")
		got := Sample(class, limit, 3, 0)
		if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Fatalf("%v is not a set in order", got)
		}
		if len(class) <= limit && len(got) != len(class) {
			t.Fatalf("%d of %d nodes for a limit of %d", len(got), len(class), limit)
		}
		if len(class) > limit && len(got) > limit+3*k {
			t.Fatalf("%d nodes for a limit of %d", len(got), limit)
		}
		in := make([]int, k)
		for _, i := range got {
			in[class[i]]++
		}
		for c, nodes := range membersOf(class) {
			share := float64(len(nodes)) * float64(limit) / float64(len(class))
			if len(class) > limit && math.Abs(float64(in[c])-share) > 2 || in[c] < min(2, len(nodes)) {
				t.Fatalf("%d of %d nodes of class %d for a share of %v", in[c], len(nodes), c, share)
			}
		}
	})
}

func TestMajority(t *testing.T) {
	if got := Majority([]int{2, 1, 1, 2, 0}); got != 1 {
		t.Errorf("class %d", got)
	}
}

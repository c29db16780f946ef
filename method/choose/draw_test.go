package choose

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

func classesOf(counts ...int) []int {
	var class []int
	for c, n := range counts {
		for range n {
			class = append(class, c)
		}
	}
	return class
}

func TestFoldSplits(t *testing.T) {
	class := classesOf(10, 7, 5)
	for _, stratified := range []bool{true, false} {
		{
			p := Design{Folds: 4, Stratified: stratified}
			name := fmt.Sprintf("%+v", p)
			splits, err := Draw(class, p, 11, 5)
			if err != nil {
				t.Fatal(err)
			}
			if splits.Len != 11 {
				t.Fatalf("%d splits", splits.Len)
			}
			for number := range 2 {
				seen := make([]int, len(class))
				for f := range 4 {
					s := splits.At(4*number + f)
					one, other := s.Test, s.Train
					if n := len(one); n < 5 || n > 6 || n+len(other) != len(class) || !slices.IsSorted(one) {
						t.Errorf("%s: a fold of %d", name, n)
					}
					has := make([]int, 3)
					for _, i := range one {
						seen[i]++
						has[class[i]]++
					}
					for c, all := range []int{10, 7, 5} {
						if stratified && (has[c] < all/4 || has[c] > (all+3)/4) {
							t.Errorf("%s: %d of the %d of class %d in a fold", name, has[c], all, c)
						}
					}
				}
				if slices.ContainsFunc(seen, func(n int) bool { return n != 1 }) {
					t.Errorf("%s: items are in %v folds", name, seen)
				}
			}
			p.Tuning = true
			tuning, err := Draw(class, p, 1, 5)
			if err != nil {
				t.Fatal(err)
			}
			if slices.Equal(tuning.At(0).Test, splits.At(0).Test) || slices.Equal(splits.At(0).Test, splits.At(4).Test) {
				t.Errorf("%s: two draws are one", name)
			}
		}
	}
}

func TestFoldErrors(t *testing.T) {
	class := classesOf(10, 3)
	for _, c := range []struct {
		p    Design
		want string
	}{
		{Design{Folds: 1}, "1 folds; at least 2 are needed"},
		{Design{Folds: 4, Stratified: true}, "<nil>"},
		{Design{Folds: 14}, "14 folds are more than the 13 labels; give fewer"},
		{Design{Folds: 4}, "<nil>"},
		{Design{Folds: 3, Stratified: true}, "<nil>"},
	} {
		_, err := Draw(class, c.p, 5, 1)
		if fmt.Sprint(err) != c.want || err != nil && !errors.Is(err, ErrUsage) {
			t.Errorf("%+v: %v, want %s", c.p, err, c.want)
		}
	}
}

func TestStratifiedSplits(t *testing.T) {
	class := classesOf(40, 10, 2)
	splits, err := Draw(class, Design{Fraction: 0.1, Stratified: true}, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		s := splits.At(i)
		count := make([]int, 3)
		for _, at := range s.Train {
			count[class[at]]++
		}
		if fmt.Sprint(count) != "[4 1 1]" || len(s.Train)+len(s.Test) != len(class) {
			t.Errorf("trains on %v of the classes and tests on %d", count, len(s.Test))
		}
	}
	if slices.Equal(splits.At(0).Train, splits.At(1).Train) {
		t.Error("two splits are one")
	}
	if _, err := Draw([]int{0, 1}, Design{Fraction: 0.5, Stratified: true}, 1, 1); !errors.Is(err, ErrUsage) {
		t.Errorf("no node to test on: %v", err)
	}
}

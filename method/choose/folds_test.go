package choose

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/problem"
)

// TestFoldsOfGroups checks that folds divide no group and no node, that each has a label, and that a fold is at most one
// group larger than another.
func TestFoldsOfGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 4).Draw(t, "classes")
		n := rapid.IntRange(k, 60).Draw(t, "labels")
		p := &problem.Problem{Row: sched.UpTo(n), Class: classesFor(t, n, k)}
		for range n {
			p.Group = append(p.Group, rapid.IntRange(0, n/2).Draw(t, "group"))
		}
		count := rapid.IntRange(1, 12).Draw(t, "folds")
		folds := DrawFolds(p, count, rapid.Uint64().Draw(t, "rng seed"), 0)
		size := map[int]int{}
		fold := map[int]int{}
		sizes := make([]int, folds.Count)
		for i, g := range p.Group {
			if f, isKnown := fold[g]; isKnown && f != folds.Of[i] {
				t.Fatalf("group %d is in folds %d and %d", g, f, folds.Of[i])
			}
			fold[g] = folds.Of[i]
			size[g]++
			sizes[folds.Of[i]]++
		}
		largest := 0
		for _, labels := range size {
			largest = max(largest, labels)
		}
		if folds.Count != min(count, len(size)) || slices.Contains(sizes, 0) {
			t.Fatalf("%d folds of %v labels for %d groups, of which %d were asked", folds.Count, sizes, len(size), count)
		}
		if k == 1 && slices.Max(sizes)-slices.Min(sizes) > largest {
			t.Fatalf("folds of %v labels, and no group has more than %d", sizes, largest)
		}
	})
}

// TestFoldsOfTimes checks that a split learns from older labels alone, and that every label but the oldest is tested once.
func TestFoldsOfTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 60).Draw(t, "labels")
		p := &problem.Problem{Row: sched.UpTo(n), Class: make([]int, n)}
		for range n {
			p.Time = append(p.Time, float64(rapid.IntRange(0, n).Draw(t, "time")))
		}
		folds := DrawFolds(p, rapid.IntRange(2, 10).Draw(t, "folds"), 1, 0)
		tested := 0
		for f := range folds.Count {
			s := folds.Split(f)
			tested += len(s.Test)
			for _, i := range s.Train {
				for _, j := range s.Test {
					if p.Time[i] >= p.Time[j] {
						t.Fatalf("a label of time %v is learned from to predict one of time %v", p.Time[i], p.Time[j])
					}
				}
			}
			if isOldest := f == folds.Count-1; isOldest != (len(s.Train) == 0) {
				t.Fatalf("fold %d of %d has %d training labels", f, folds.Count, len(s.Train))
			}
		}
		if tested != n {
			t.Fatalf("%d of %d labels are tested", tested, n)
		}
	})
}

package choose

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// Design declares how labelled items are divided into training and test items by Folds, PerClass or Fraction.
type Design struct {
	// Folds is the number of folds of a partition. Each fold of the first partition is the test set of a split, then each
	// fold of the second, and so on.
	Folds int

	// PerClass is the number of training items of every class, chosen uniformly.
	PerClass int

	// Fraction is the share of training items: round(Fraction·n) of them, chosen uniformly.
	Fraction float64

	// Stratified makes folds differ by at most one item of every class. With Fraction, the training items include this
	// fraction of every class, rounded, and at least one item.
	Stratified bool

	// Tuning draws splits for the choice of parameters, independent of the splits of the same seed without Tuning.
	Tuning bool
}

// SplitError reports why labelled items cannot be divided. It wraps [ErrUsage].
type SplitError struct {
	Design
	What string
	Row  int // row of a given split; −1: none
}

// Error returns the problem.
func (e *SplitError) Error() string {
	if e.Row >= 0 {
		return fmt.Sprintf("row %d of the split %s", e.Row, e.What)
	}
	return e.What
}

// Unwrap returns [ErrUsage].
func (e *SplitError) Unwrap() error { return ErrUsage }

func (d Design) wrong(format string, args ...any) error {
	return &SplitError{Design: d, What: fmt.Sprintf(format, args...), Row: -1}
}

const attempts = 100

// Draw draws count splits of the items with the given classes. Split s depends on seed, the design and s alone. If all
// training items have one class, the split is drawn again, up to a hundred times; then the error is a [*SplitError]. If the
// design is wrong, the error wraps [ErrUsage]. A class may have no training item.
//
// If Fraction is not stratified, a larger fraction extends the training set of a smaller fraction.
func Draw(class []int, d Design, count int, seed uint64) (*Splits, error) {
	stream := streamTest
	if d.Tuning {
		stream = streamTuning
	}
	n := len(class)
	draw, err := d.drawn(class, seed, stream)
	switch {
	case err != nil:
		return nil, err
	case count < 1:
		return nil, Usage("%d splits; at least 1 is needed", count)
	case len(draw(0).Test) == 0 && d.PerClass > 0:
		return nil, Usage("%d for each class leave none to test on; give fewer",
			d.PerClass)
	case d.PerClass > 0 && !severalClasses(class, draw(0).Test):
		return nil, Usage("%d for each class leave a single class to test on; give fewer",
			d.PerClass)
	case len(draw(0).Test) == 0:
		return nil, d.wrong("%v of %d labels leaves none to test on; use a smaller fraction", d.Fraction, n)
	}
	for i := range count {
		switch {
		case severalClasses(class, draw(i).Train):
		case d.Folds > 0:
			return nil, d.wrong("of %d folds one leaves too few labels to learn from; give another number", d.Folds)
		default:
			return nil, d.wrong("%v of %d labels leaves too few labels to learn from; use a larger fraction", d.Fraction, n)
		}
	}
	return &Splits{Len: count, At: draw}, nil
}

// severalClasses reports whether items have more than one class. If all of class are equal, it returns true for any items.
func severalClasses(class, items []int) bool {
	return len(items) > 0 &&
		(slices.ContainsFunc(items, func(i int) bool { return class[i] != class[items[0]] }) ||
			!slices.ContainsFunc(class,
				func(c int) bool { return c != class[items[0]] }))
}

// drawn returns a function that draws split i of the items with the given classes. The error wraps [ErrUsage].
func (d Design) drawn(class []int, seed, stream uint64) (func(i int) Split, error) {
	n := len(class)
	m := int(math.Round(d.Fraction * float64(len(class))))
	members := membersOf(class)
	share := func(items []int) int { return max(1, int(math.Round(d.Fraction*float64(len(items))))) }
	switch {
	case d.Folds != 0 && d.Folds < 2:
		return nil, Usage("%d folds; at least 2 are needed", d.Folds)
	case d.Folds > n:
		return nil, d.wrong("%d folds are more than the %d labels; give fewer",
			d.Folds, n)
	case d.Folds != 0:
		var mu sync.Mutex
		var fold []int // fold of each item, in the partition of the last split
		dealt := -1
		return func(i int) Split {
			mu.Lock()
			if number := i / d.Folds; number != dealt {
				fold = d.deal(class, newRand(seed, stream|uint64(number)))
				dealt = number
			}
			partition := fold
			mu.Unlock()
			return OfFold(partition, i%d.Folds)
		}, nil
	case d.PerClass < 0:
		return nil, Usage("%d for each class; at least 1 is needed", d.PerClass)
	case d.PerClass > 0:
		share = func([]int) int { return d.PerClass }
	case !(d.Fraction > 0 && d.Fraction < 1):
		return nil, Usage("a training fraction is %v; it must lie between 0 and 1",
			d.Fraction)
	case !d.Stratified:
		return func(i int) Split {
			rng := newRand(seed, stream|uint64(i))
			order := make([]int, n)
			for range attempts {
				copy(order, sched.UpTo(n))
				shuffle(rng, order)
				if severalClasses(class, order[:m]) {
					break
				}
			}
			return sortSplit(order[:m:m], order[m:])
		}, nil
	}
	return func(i int) Split { // a share of every class
		rng := newRand(seed, stream|uint64(i))
		var train, test []int
		for _, items := range members {
			items = slices.Clone(items)
			shuffle(rng, items)
			count := min(len(items), share(items))
			train = append(train, items[:count]...)
			test = append(test, items[count:]...)
		}
		return sortSplit(train, test)
	}, nil
}

func sortSplit(train, test []int) Split {
	slices.Sort(train)
	slices.Sort(test)
	return Split{Train: train, Test: test}
}

func (d Design) deal(class []int, rng *rand.Rand) []int {
	fold := make([]int, len(class))
	groups := [][]int{sched.UpTo(len(class))}
	if d.Stratified {
		groups = membersOf(class)
	}
	for range attempts {
		dealTo(fold, groups, d.Folds, rng)
		suits := true // every training set of the partition
		for f := range d.Folds {
			suits = suits && severalClasses(class, OfFold(fold, f).Train)
		}
		if suits {
			break
		}
	}
	return fold
}

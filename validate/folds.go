package validate

import (
	"fmt"
	"math"
	"slices"
)

// Partition says how items are divided into folds for [FoldSplits].
type Partition struct {
	Folds   int
	Inverse bool // train on one fold and test on all others, instead of the other way round

	// Stratified deals the items of every class round, so that folds differ by at most
	// one of them; otherwise all items are dealt round as they are shuffled.
	Stratified bool
}

// FoldError is returned for folds of which one has no item of a class. It is an
// [ErrUsage].
type FoldError struct {
	Folds int
	Class int // of the fewest items
	Items int // that it has
}

// Error says that a class is too small, and what to do.
func (e *FoldError) Error() string {
	switch {
	case e.Items >= e.Folds: // as chance would have it
		return fmt.Sprintf("of %d folds one has none of the %d items of a class; take fewer, or stratified ones", e.Folds, e.Items)
	case e.Items == 1:
		return fmt.Sprintf("%d folds are more than the 1 item of a class; leave out the class", e.Folds)
	}
	return fmt.Sprintf("%d folds are more than the %d items of a class; take at most %d, or leave out the class", e.Folds, e.Items, e.Items)
}

// Unwrap returns [ErrUsage].
func (e *FoldError) Unwrap() error { return ErrUsage }

// FoldSplits draws count splits from partitions of the items with the given classes:
// each fold of the first partition is the test set of a split in turn, or with Inverse
// the training set, then each of the second, and so on.
//
// Stratified folds have an item of every class: more folds than a class has items are
// a [*FoldError]. Others are drawn again, up to a hundred times, until every training
// set has one.
func FoldSplits(class []int, p Partition, count int, seed uint64, use Use) (*Splits, error) {
	members := MembersOf(class)
	smallest := -1
	for c, items := range members {
		if len(items) > 0 && (smallest < 0 || len(items) < len(members[smallest])) {
			smallest = c
		}
	}
	switch {
	case p.Folds < 2:
		return nil, fmt.Errorf("%w: %d folds; at least 2 are needed", ErrUsage, p.Folds)
	case count < 1:
		return nil, fmt.Errorf("%w: %d splits; at least 1 is needed", ErrUsage, count)
	case p.Folds > len(class) || p.Stratified && p.Folds > len(members[smallest]):
		return nil, &FoldError{p.Folds, smallest, len(members[smallest])}
	}
	if !p.Stratified {
		for number := range (count + p.Folds - 1) / p.Folds {
			if _, ok := p.deal(class, seed, use.stream()|uint64(number)); !ok {
				return nil, &FoldError{p.Folds, smallest, len(members[smallest])}
			}
		}
	}
	return &Splits{count, func(i int) Split {
		fold, _ := p.deal(class, seed, use.stream()|uint64(i/p.Folds))
		var s Split
		for at, f := range fold {
			if (f == i%p.Folds) == p.Inverse {
				s.Train = append(s.Train, at)
			} else {
				s.Test = append(s.Test, at)
			}
		}
		return s
	}}, nil
}

// deal returns the fold of each item, and whether every training set has every class.
func (p *Partition) deal(class []int, seed, stream uint64) (fold []int, ok bool) {
	rng := newRand(seed, stream)
	fold = make([]int, len(class))
	groups := [][]int{make([]int, len(class))}
	if p.Stratified {
		groups = MembersOf(class)
	} else {
		for i := range class {
			groups[0][i] = i
		}
	}
	for range attempts {
		next := 0
		for _, items := range groups {
			rng.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
			for _, i := range items {
				fold[i] = next
				next = (next + 1) % p.Folds
			}
		}
		if p.Stratified || p.complete(class, fold) {
			return fold, true
		}
	}
	return fold, false
}

// complete reports whether every training set has every class.
func (p *Partition) complete(class, fold []int) bool {
	classes := slices.Max(class) + 1
	in := make([]int, classes*p.Folds) // items by class and fold
	all := make([]int, classes)
	for i, c := range class {
		in[c*p.Folds+fold[i]]++
		all[c]++
	}
	for c, total := range all {
		for _, n := range in[c*p.Folds : (c+1)*p.Folds] {
			if total > 0 && (p.Inverse && n == 0 || !p.Inverse && n == total) {
				return false
			}
		}
	}
	return true
}

// StratifiedSplits draws count splits that have the given fraction of the items of every
// class to train on, to the nearest item and at least one, chosen uniformly, and all
// others to test on. The error is an [ErrUsage].
func StratifiedSplits(class []int, fraction float64, count int, seed uint64, use Use) (*Splits, error) {
	members := MembersOf(class)
	taken := make([]int, len(members))
	tests := 0
	for c, items := range members {
		taken[c] = min(len(items), max(1, int(math.Round(fraction*float64(len(items))))))
		tests += len(items) - taken[c]
	}
	switch {
	case !(fraction > 0 && fraction < 1):
		return nil, fmt.Errorf("%w: a training fraction is %v; it must lie between 0 and 1", ErrUsage, fraction)
	case count < 1:
		return nil, fmt.Errorf("%w: %d splits; at least 1 is needed", ErrUsage, count)
	case tests == 0:
		return nil, &FractionError{Fraction: fraction, Nodes: len(class), Class: -1}
	}
	return &Splits{count, func(i int) Split { return takeOf(members, taken, seed, use.stream()|uint64(i)) }}, nil
}

// takeOf draws a split with so many training items of each class.
func takeOf(members [][]int, taken []int, seed, stream uint64) Split {
	rng := newRand(seed, stream)
	var s Split
	for c, items := range members {
		items = slices.Clone(items)
		rng.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
		s.Train = append(s.Train, items[:taken[c]]...)
		s.Test = append(s.Test, items[taken[c]:]...)
	}
	slices.Sort(s.Train)
	slices.Sort(s.Test)
	return s
}

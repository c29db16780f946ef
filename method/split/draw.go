package split

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Design declares how labelled items are divided into training and test items: by Folds, by a
// number of items PerClass, or by Fraction.
type Design struct {
	// Folds is the number of folds of a partition. Each fold of the first partition is
	// the test set of a split in turn, then each of the second, and so on.
	Folds   int
	Inverse bool // train on one fold and test on all others, instead of the other way round

	// PerClass is the number of training items of every class, chosen uniformly.
	PerClass int

	// Fraction is the share of training items: round(Fraction·n) of them, chosen uniformly among
	// all sets of this size that have an item of every class.
	Fraction float64

	// Stratified gives folds that differ by at most one item of every class, and
	// fractions that hold of every class its share, to the nearest item and at least
	// one. Otherwise folds are dealt to all items as they are shuffled.
	Stratified bool

	// Tuning draws splits to choose parameters on. They are independent of those that
	// are drawn without it from the same rng seed.
	Tuning bool
}

// SplitError reports why labelled items cannot be divided: a design leaves a class without a
// training item or leaves no test item, or a given split does not fit its labels. It wraps
// [ErrUsage].
type SplitError struct {
	Design
	Items    int     // with a label; of folds those of Class
	Class    int     // without a training item, of folds that of the fewest; −1: no item to test on
	Smallest float64 // the smallest fraction that works for these splits, 0: none does

	What string // is wrong with a given split, "" of a design
	Row  int    // of the graph that the error is about, −1: none

	Noun, Name      string // words for an item and for Class; "": "node" and "a class"
	StratifiedFolds string // words for stratified folds; "": "stratified ones"
}

// Error returns the problem of the design and a design that works, or the problem of the given
// split and its row.
func (e *SplitError) Error() string {
	switch {
	case e.What != "" && e.Row < 0:
		return "the split " + e.What
	case e.What != "":
		return fmt.Sprintf("row %d of the split %s", e.Row, e.What)
	}
	noun, class := cmp.Or(e.Noun, "node"), cmp.Or(e.Name, "a class")
	items := fmt.Sprintf("%d labelled %s", e.Items, noun)
	if e.Items != 1 {
		items += "s"
	}
	share := fmt.Sprintf("%v of %s", e.Fraction, items)
	switch {
	case e.Folds > 0 && e.Items >= e.Folds: // as chance would have it
		return fmt.Sprintf("of %d folds one has none of the %s of %s; give fewer, or %s", e.Folds, items, class, cmp.Or(e.StratifiedFolds, "stratified ones"))
	case e.Folds > 0 && e.Items == 1:
		return fmt.Sprintf("%d folds are more than the %s of %s; leave out the class", e.Folds, items, class)
	case e.Folds > 0:
		return fmt.Sprintf("%d folds are more than the %s of %s; give at most %d, or leave out the class", e.Folds, items, class, e.Items)
	case e.Class < 0:
		return fmt.Sprintf("%s leaves no %s to test on; use a smaller fraction", share, noun)
	case e.Smallest == 0:
		return fmt.Sprintf("%s leaves %s without a training %s, and so does every other fraction; label more %ss", share, class, noun, noun)
	}
	return fmt.Sprintf("%s leaves %s without a training %s; the smallest fraction that works is %v", share, class, noun, e.Smallest)
}

// Unwrap returns [ErrUsage].
func (e *SplitError) Unwrap() error { return ErrUsage }

// attempts is how many permutations [Draw] tries for each split.
const attempts = 100

// Draw draws count splits of the items with the given classes. Split s depends on seed,
// the design and s alone. Where chance would leave a class without a training item it is
// drawn again, up to a hundred times; the error is then a [*SplitError], or an [ErrUsage].
//
// Fractions that are not stratified take the first items of a permutation that is the same
// for all of them: a larger one extends the same draw, and if a fraction fails there may
// be a smallest one that does not, which the error names.
func Draw(class []int, d Design, count int, seed uint64) (*Splits, error) {
	stream := streamTest
	if d.Tuning {
		stream = streamTuning
	}
	var draw func(i int) Split
	var err error
	switch {
	case d.Folds != 0:
		draw, err = d.folds(class, count, seed, stream)
	case d.PerClass != 0:
		draw, err = d.perClass(class, seed, stream)
	case !(d.Fraction > 0 && d.Fraction < 1):
		err = Usage("a training fraction is %v; it must lie between 0 and 1", d.Fraction)
	case d.Stratified:
		draw, err = d.stratified(class, seed, stream)
	default:
		draw, err = d.uniform(class, count, seed, stream)
	}
	switch {
	case err != nil:
		return nil, err
	case count < 1:
		return nil, Usage("%d splits; at least 1 is needed", count)
	}
	return &Splits{Len: count, At: draw}, nil
}

// uniform draws fractions that are not stratified.
func (d Design) uniform(class []int, count int, seed, stream uint64) (func(i int) Split, error) {
	n := len(class)
	m := int(math.Round(d.Fraction * float64(n)))
	if m >= n {
		return nil, &SplitError{Design: d, Items: n, Class: -1}
	}
	needed, missing := m, -1
	for s := range count {
		if _, shortest, class := permutation(class, m, seed, stream|uint64(s)); shortest > m {
			needed, missing = max(needed, shortest), class
		}
	}
	if needed > m {
		e := &SplitError{Design: d, Items: n, Class: missing}
		if needed < n {
			e.Smallest = fractionFor(needed, n)
		}
		return nil, e
	}
	return func(i int) Split {
		order, _, _ := permutation(class, m, seed, stream|uint64(i))
		return splitAt(order, m)
	}, nil
}

// permutation returns the first of the stream's permutations whose first m
// nodes hold every class, with shortest ≤ m. If none of them does, shortest is the
// smallest prefix of any that holds every class and missing a class that its
// first m nodes lack.
func permutation(class []int, m int, seed, stream uint64) (order []int, shortest, missing int) {
	rng := newRand(seed, stream)
	order = make([]int, len(class))
	shortest = len(class) + 1
	for range attempts {
		for i := range order {
			order[i] = i
		}
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		prefix, last := covering(class, order)
		if prefix < shortest {
			shortest, missing = prefix, last
		}
		if shortest <= m {
			break
		}
	}
	return order, shortest, missing
}

// covering returns the length of the shortest prefix of order that holds every
// class, and the class that comes last.
func covering(class, order []int) (prefix, last int) {
	seen := make([]bool, slices.Max(class)+1)
	for i, node := range order {
		if c := class[node]; !seen[c] {
			seen[c] = true
			prefix, last = i+1, c
		}
	}
	return prefix, last
}

// fractionFor returns the shortest decimal fraction whose share of n nodes
// rounds to m.
func fractionFor(m, n int) float64 {
	for digits := 100.0; digits < 1e12; digits *= 10 {
		f := math.Ceil(float64(m)/float64(n)*digits) / digits
		if f < 1 && int(math.Round(f*float64(n))) == m {
			return f
		}
	}
	return float64(m) / float64(n)
}

// splitAt makes a split of the first m nodes of order and the others, in place.
func splitAt(order []int, m int) Split {
	train, test := order[:m:m], order[m:]
	slices.Sort(train)
	slices.Sort(test)
	return Split{Train: train, Test: test}
}

// perClass draws d.PerClass training items of every class.
func (d Design) perClass(class []int, seed, stream uint64) (func(i int) Split, error) {
	members := membersOf(class)
	smallest := len(class)
	for _, nodes := range members {
		if len(nodes) > 0 {
			smallest = min(smallest, len(nodes))
		}
	}
	switch {
	case d.PerClass < 1:
		return nil, Usage("%d for each class; at least 1 is needed", d.PerClass)
	case d.PerClass > smallest:
		return nil, Usage("%d for each class are more than the smallest class has; give at most %d", d.PerClass, smallest)
	}
	quota, tests := make([]int, len(members)), 0
	for c, nodes := range members {
		quota[c] = min(d.PerClass, len(nodes)) // a class number that no node has is empty
		tests += len(nodes) - quota[c]
	}
	if tests == 0 {
		return nil, Usage("%d for each class leave none to test on; give fewer", d.PerClass)
	}
	return func(i int) Split { return takeOf(members, quota, seed, stream|uint64(i)) }, nil
}

// stratified draws the fraction of every class.
func (d Design) stratified(class []int, seed, stream uint64) (func(i int) Split, error) {
	members := membersOf(class)
	quota, tests := make([]int, len(members)), 0
	for c, items := range members {
		quota[c] = min(len(items), max(1, int(math.Round(d.Fraction*float64(len(items))))))
		tests += len(items) - quota[c]
	}
	if tests == 0 {
		return nil, &SplitError{Design: d, Items: len(class), Class: -1}
	}
	return func(i int) Split { return takeOf(members, quota, seed, stream|uint64(i)) }, nil
}

// takeOf draws a split with the given number of training items of each class.
func takeOf(members [][]int, quota []int, seed, stream uint64) Split {
	rng := newRand(seed, stream)
	var s Split
	for c, items := range members {
		items = slices.Clone(items)
		rng.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
		s.Train = append(s.Train, items[:quota[c]]...)
		s.Test = append(s.Test, items[quota[c]:]...)
	}
	slices.Sort(s.Train)
	slices.Sort(s.Test)
	return s
}

// folds draws partitions. Stratified folds have an item of every class; others are drawn
// again until every training set has one.
func (d Design) folds(class []int, count int, seed, stream uint64) (func(i int) Split, error) {
	members := membersOf(class)
	smallest := -1
	for c, items := range members {
		if len(items) > 0 && (smallest < 0 || len(items) < len(members[smallest])) {
			smallest = c
		}
	}
	if d.Folds < 2 {
		return nil, Usage("%d folds; at least 2 are needed", d.Folds)
	}
	shortage := &SplitError{Design: d, Items: len(members[smallest]), Class: smallest}
	if d.Folds > len(class) || d.Stratified && d.Folds > len(members[smallest]) {
		return nil, shortage
	}
	if !d.Stratified {
		for number := range (count + d.Folds - 1) / d.Folds {
			if _, ok := d.deal(class, seed, stream|uint64(number)); !ok {
				return nil, shortage
			}
		}
	}
	return func(i int) Split {
		fold, _ := d.deal(class, seed, stream|uint64(i/d.Folds))
		var s Split
		for item, f := range fold {
			if (f == i%d.Folds) == d.Inverse {
				s.Train = append(s.Train, item)
			} else {
				s.Test = append(s.Test, item)
			}
		}
		return s
	}, nil
}

// deal returns the fold of each item, and whether every training set has every class.
func (d *Design) deal(class []int, seed, stream uint64) (fold []int, ok bool) {
	rng := newRand(seed, stream)
	fold = make([]int, len(class))
	groups := [][]int{make([]int, len(class))}
	if d.Stratified {
		groups = membersOf(class)
	} else {
		for i := range class {
			groups[0][i] = i
		}
	}
	for range attempts {
		dealTo(fold, groups, d.Folds, rng)
		if d.Stratified || d.complete(class, fold) {
			return fold, true
		}
	}
	return fold, false
}

// complete reports whether every training set has every class.
func (d *Design) complete(class, fold []int) bool {
	totals := countsOf(class)
	in := make([]int, len(totals)*d.Folds) // items by class and fold
	for i, c := range class {
		in[c*d.Folds+fold[i]]++
	}
	for c, total := range totals {
		for _, n := range in[c*d.Folds : (c+1)*d.Folds] {
			if total > 0 && (d.Inverse && n == 0 || !d.Inverse && n == total) {
				return false
			}
		}
	}
	return true
}

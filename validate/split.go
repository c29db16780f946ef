package validate

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Split divides labelled items into those whose class a method may see and those
// it is scored on. Both hold positions among the labelled items, in increasing
// order, and share none.
type Split struct{ Train, Test []int }

// Splits are splits that are drawn when they are asked for: of many items all of them
// together would take more than everything else.
type Splits struct {
	count int
	draw  func(i int) Split
}

// Len returns the number of splits.
func (s *Splits) Len() int { return s.count }

// At returns split i, the same at every call. Cost: a permutation of the items.
func (s *Splits) At(i int) Split {
	if uint(i) >= uint(s.count) {
		panic(badSplit)
	}
	return s.draw(i)
}

// One returns splits of which there is only the given one.
func One(s Split) *Splits { return &Splits{1, func(int) Split { return s }} }

const badSplit = "validate: there is no such split"

// Use tells for what splits are drawn. Splits of different use are
// independent draws from the same rng seed.
type Use int

const (
	ForTest   Use = iota // splits whose mean accuracy is reported
	ForTuning            // splits on which parameters are chosen
)

// Streams of the generator, one for each purpose, so that no draw depends on
// how many others were made. The low 32 bits number the draw.
const (
	streamTest uint64 = iota << 32
	streamTuning
	streamFolds
	streamSample
)

func newRand(seed, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

func (u Use) stream() uint64 {
	if u == ForTuning {
		return streamTuning
	}
	return streamTest
}

// ErrUsage is wrapped by errors that a different parameter would avoid.
var ErrUsage = errors.New("validate: parameter outside its range")

// FractionError is returned for a training fraction that leaves a class
// without a training node, or no node to test on. It is an [ErrUsage].
type FractionError struct {
	Fraction float64
	Nodes    int     // labelled nodes
	Class    int     // a class without a training node, −1: no node to test on
	Smallest float64 // the smallest fraction that works for these splits, 0: none does
}

// Error says what the fraction leaves, and which works.
func (e *FractionError) Error() string {
	of := fmt.Sprintf("%v of %d labelled nodes", e.Fraction, e.Nodes)
	switch {
	case e.Class < 0:
		return of + " leaves no node to test on; use a smaller fraction"
	case e.Smallest == 0:
		return of + " leaves a class without a training node, and so does every other fraction; label more nodes"
	}
	return fmt.Sprintf("%s leaves a class without a training node; the smallest fraction that works is %v", of, e.Smallest)
}

// Unwrap returns [ErrUsage].
func (e *FractionError) Unwrap() error { return ErrUsage }

// attempts is how many permutations [RandomSplits] tries for each split.
const attempts = 100

// RandomSplits draws count splits of the nodes with the given classes. Each
// has m = round(fraction·n) training nodes, chosen uniformly among all sets of
// m nodes that hold every class (not stratified), and tests on all others.
//
// Split s takes the first m nodes of a permutation that depends on seed, use
// and s alone; one that misses a class is replaced by the next, up to a
// hundred times. A larger fraction therefore extends the same draw, and if a
// fraction fails there is a smallest one that does not: the error is a
// [*FractionError] that names it.
func RandomSplits(class []int, fraction float64, count int, seed uint64, use Use) (*Splits, error) {
	n := len(class)
	m := int(math.Round(fraction * float64(n)))
	switch {
	case !(fraction > 0 && fraction < 1):
		return nil, fmt.Errorf("%w: a training fraction is %v; it must lie between 0 and 1", ErrUsage, fraction)
	case count < 1:
		return nil, fmt.Errorf("%w: %d splits; at least 1 is needed", ErrUsage, count)
	case m >= n:
		return nil, &FractionError{Fraction: fraction, Nodes: n, Class: -1}
	}
	needed, missing := m, -1
	for s := range count {
		if _, least, class := permutation(class, m, seed, use.stream()|uint64(s)); least > m {
			needed, missing = max(needed, least), class
		}
	}
	if needed > m {
		e := &FractionError{Fraction: fraction, Nodes: n, Class: missing}
		if needed < n {
			e.Smallest = fractionFor(needed, n)
		}
		return nil, e
	}
	return &Splits{count, func(i int) Split {
		order, _, _ := permutation(class, m, seed, use.stream()|uint64(i))
		return splitAt(order, m)
	}}, nil
}

// permutation returns the first of the stream's permutations whose first m
// nodes hold every class, with least ≤ m. If none of them does, least is the
// smallest prefix of any that holds every class and missing a class that its
// first m nodes lack.
func permutation(class []int, m int, seed, stream uint64) (order []int, least, missing int) {
	rng := newRand(seed, stream)
	order = make([]int, len(class))
	least = len(class) + 1
	for range attempts {
		for i := range order {
			order[i] = i
		}
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		prefix, last := covering(class, order)
		if prefix < least {
			least, missing = prefix, last
		}
		if least <= m {
			break
		}
	}
	return order, least, missing
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

// PerClassSplits draws count splits with each training nodes of every class,
// chosen uniformly, and all others to test on. A class with fewer nodes than
// that is an [ErrUsage].
func PerClassSplits(class []int, each, count int, seed uint64, use Use) (*Splits, error) {
	members := MembersOf(class)
	smallest := len(class)
	for _, nodes := range members {
		if len(nodes) > 0 {
			smallest = min(smallest, len(nodes))
		}
	}
	switch {
	case each < 1:
		return nil, fmt.Errorf("%w: %d training nodes a class; at least 1 is needed", ErrUsage, each)
	case count < 1:
		return nil, fmt.Errorf("%w: %d splits; at least 1 is needed", ErrUsage, count)
	case each > smallest:
		return nil, fmt.Errorf("%w: %d training nodes a class are more than the smallest class has; give at most %d", ErrUsage, each, smallest)
	}
	tests := 0
	for _, nodes := range members {
		tests += max(0, len(nodes)-each)
	}
	if tests == 0 {
		return nil, fmt.Errorf("%w: %d training nodes a class leave no node to test on; give fewer", ErrUsage, each)
	}
	taken := make([]int, len(members))
	for c, nodes := range members {
		taken[c] = min(each, len(nodes)) // a class number that no node has is empty
	}
	return &Splits{count, func(i int) Split { return takeOf(members, taken, seed, use.stream()|uint64(i)) }}, nil
}

// MembersOf returns the positions of each class, in increasing order.
func MembersOf(class []int) [][]int {
	var members [][]int
	for i, c := range class {
		for len(members) <= c {
			members = append(members, nil)
		}
		members[c] = append(members[c], i)
	}
	return members
}

// SplitError is returned for a given split that does not fit its labels.
type SplitError struct {
	Row  int // the row of the graph it is about, −1: none
	What string
}

// Error says what is wrong with the split, and in which row.
func (e *SplitError) Error() string {
	if e.Row < 0 {
		return "the split " + e.What
	}
	return fmt.Sprintf("row %d of the split %s", e.Row, e.What)
}

// GivenSplit returns the split whose training and test nodes are the rows of the
// graph in train and test. Labelled node i is row[i] and has class[i], a position
// in names. Every row of the split needs a label and is named once, the training
// rows hold two classes and there is a test row; else the error is a
// [*SplitError]. Test nodes of a class without a training node count as wrong;
// see [Split.Unseen].
func GivenSplit(row, class []int, names []string, train, test []int) (Split, error) {
	position := make(map[int]int, len(row))
	for i, r := range row {
		position[r] = i
	}
	used := make([]bool, len(row))
	place := func(rows []int) ([]int, error) {
		places := make([]int, len(rows))
		for j, r := range rows {
			i, ok := position[r]
			switch {
			case !ok:
				return nil, &SplitError{r, "has no label"}
			case used[i]:
				return nil, &SplitError{r, "is named twice"}
			}
			used[i], places[j] = true, i
		}
		slices.Sort(places)
		return places, nil
	}
	var s Split
	var err error
	if s.Train, err = place(train); err != nil {
		return Split{}, err
	}
	if s.Test, err = place(test); err != nil {
		return Split{}, err
	}
	if len(s.Test) == 0 {
		return Split{}, &SplitError{-1, "has no test node"}
	}
	if len(s.Train) == 0 {
		return Split{}, &SplitError{-1, "has no training node"}
	}
	first := class[s.Train[0]]
	if !slices.ContainsFunc(s.Train, func(i int) bool { return class[i] != first }) {
		return Split{}, &SplitError{-1, fmt.Sprintf("has training nodes of class %q alone, and two classes are needed", names[first])}
	}
	return s, nil
}

// Unseen returns how many test nodes each class without a training node has,
// by class.
func (s Split) Unseen(class []int) []int {
	tests := make([]int, slices.Max(class)+1)
	for _, i := range s.Test {
		tests[class[i]]++
	}
	for _, i := range s.Train {
		tests[class[i]] = 0
	}
	return tests
}

// Folds deals nodes with the given classes into count stratified folds and
// returns the fold of each: the nodes of every class are shuffled and dealt
// round, each class from where the one before ended. Folds differ by at most
// one node in size, and so they do within each class.
func Folds(class []int, count int, seed uint64) []int { return Deal(class, count, seed, 0) }

// Deal is [Folds] for one of many partitions into folds, of which Folds is number 0.
func Deal(class []int, count int, seed, number uint64) []int {
	rng := newRand(seed, streamFolds|number)
	fold := make([]int, len(class))
	next := 0
	for _, nodes := range MembersOf(class) {
		nodes = slices.Clone(nodes)
		rng.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
		for _, i := range nodes {
			fold[i] = next
			next = (next + 1) % count
		}
	}
	return fold
}

// Sample returns at most limit of the nodes 0 … len(class)−1, in increasing
// order. Every class keeps its share to the nearest node and at least two of
// its nodes, if it has two.
func Sample(class []int, limit int, seed, stream uint64) []int {
	chosen := make([]int, 0, len(class))
	if len(class) <= limit {
		for i := range class {
			chosen = append(chosen, i)
		}
		return chosen
	}
	rng := newRand(seed, streamSample|stream)
	for _, nodes := range MembersOf(class) {
		nodes = slices.Clone(nodes)
		rng.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
		share := int(math.Round(float64(len(nodes)) * float64(limit) / float64(len(class))))
		chosen = append(chosen, nodes[:min(len(nodes), max(share, 2))]...)
	}
	slices.Sort(chosen)
	return chosen
}

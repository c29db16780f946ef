package choose

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

// Split divides labelled items into training and test items: disjoint lists of positions in increasing order.
type Split struct{ Train, Test []int }

// Splits draws each split in a call of At, because all splits together may need much memory.
type Splits struct {
	Len int
	At  func(i int) Split // split i, the same at every call; cost: a permutation of the items
}

// OfFold returns the split whose test set is the fold with the given number. fold is the fold of each item.
func OfFold(fold []int, number int) Split { return splitFolds(fold, number, false) }

// Each purpose has a stream of the random generator, so that no draw depends on draws for other purposes. The low 32 bits
// number the draw.
const (
	streamTest uint64 = iota << 32
	streamTuning
	streamFolds
	streamSample
	streamBootstrap
)

func newRand(seed, stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, stream))
}

// ErrUsage is wrapped by errors that a different parameter would avoid.
var ErrUsage = errors.New("choose: parameter outside its range")

// UsageError describes a problem and wraps [ErrUsage].
type UsageError struct{ problem error }

// Usage returns a [*UsageError], whose problem [fmt.Errorf] formats.
func Usage(format string, args ...any) error {
	return &UsageError{fmt.Errorf(format, args...)}
}

// Error returns the problem.
func (e *UsageError) Error() string { return e.problem.Error() }

// Unwrap returns [ErrUsage] and the problem.
func (e *UsageError) Unwrap() []error {
	return []error{ErrUsage, e.problem}
}

// GivenSplit returns the split whose training and test items are the labelled nodes in the rows train and test of the
// graph. Labelled node i is in row[i] and has class[i], a position in names. Every row of train and test must have a label
// and occur once, the training rows must have two classes, and there must be a test row; otherwise the error is a
// [*SplitError]. unseen counts, by class, the test nodes whose class has no training node, so that their predictions are
// wrong.
func GivenSplit(row, class []int, names []string,
	train, test []int) (s Split, unseen []int, err error) {
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
				return nil, given(r, "has no label")
			case used[i]:
				return nil, given(r, "is named twice")
			}
			used[i] = true
			places[j] = i
		}
		slices.Sort(places)
		return places, nil
	}
	if s.Train, err = place(train); err == nil {
		s.Test, err = place(test)
	}
	switch {
	case err != nil:
	case len(s.Test) == 0:
		err = given(-1, "the split has no test node")
	case len(s.Train) == 0:
		err = given(-1, "the split has no training node")
	case !slices.ContainsFunc(s.Train,
		func(i int) bool { return class[i] != class[s.Train[0]] }):
		err = given(-1, fmt.Sprintf("the split has training nodes of class %q alone, and two classes are needed", names[class[s.Train[0]]]))
	}
	if err != nil {
		return Split{}, nil, err
	}
	unseen = make([]int, slices.Max(class)+1)
	for _, i := range s.Test {
		unseen[class[i]]++
	}
	for _, i := range s.Train {
		unseen[class[i]] = 0
	}
	return s, unseen, nil
}

func given(row int, what string) error {
	return &SplitError{Row: row, What: what}
}

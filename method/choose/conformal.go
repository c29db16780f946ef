package choose

import (
	"cmp"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
)

// Other stands for all classes without a label, in place of the number of a class.
const Other = -1

// ErrFew is returned if there are too few held-out items for the coverage.
var ErrFew = errors.New("there are too few held-out labels for this coverage; give more labels, or a lower coverage")

// ErrRange is returned for a coverage that is not between 0 and 1.
var ErrRange = errors.New("a coverage is above 0 and below 1")

// Place is the position of the true class of a held-out item among the classes by falling probability.
type Place struct {
	Label      int
	Above, Own float64 // probabilities: the sum of likelier classes, and of the class
}

// PlaceOf returns the place of class, which may be [Other], for the label at the given position. other is the probability
// of Other.
func PlaceOf(label int, probabilities []float64, class int, other float64) Place {
	order := orderOf(probabilities, other)
	p := Place{Label: label}
	if class == order[0] {
		return p
	}
	for _, c := range order {
		p.Own = probabilityOf(c, probabilities, other)
		if c == class {
			break
		}
		p.Above += p.Own
	}
	return p
}

// leastProbability is added to all probabilities, because classes with probability 0 would enter a set together.
const leastProbability = 1e-6

func probabilityOf(class int, probabilities []float64, other float64) float64 {
	if class == Other {
		return other
	}
	return (probabilities[class] + leastProbability) / (1 + float64(leastProbability*float64(len(probabilities)))) * (1 - other)
}

// orderOf returns the classes by falling probability. If other, the probability of [Other], is not 0, Other is
// among them. The likeliest class of probabilities is always the first.
func orderOf(probabilities []float64, other float64) []int {
	best := classify.ArgMax(probabilities)
	order := []int{best}
	for c := range probabilities {
		if c != best {
			order = append(order, c)
		}
	}
	if other > 0 {
		order = append(order, Other)
	}
	slices.SortStableFunc(order[1:], func(a, b int) int {
		return cmp.Compare(probabilityOf(b, probabilities, other), probabilityOf(a, probabilities, other))
	})
	return order
}

// Score returns the score of the class at p, Above + u·Own, given the [Uniform] number u of the item.
func (p Place) Score(u float64) float64 { return p.Above + float64(u*p.Own) }

// Uniform returns a number between 0 and 1 that depends on an id and a seed alone.
func Uniform(id string, seed uint64) float64 {
	h := fnv.New64a()
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, seed))
	_, _ = h.Write([]byte(id))
	x := h.Sum64()
	for range 2 { // the last letters of an id change few bits of the sum
		x ^= x >> 32
		x *= 0xd6e8feb86659fd93
	}
	return (float64(x>>11) + 0.5) / (1 << 53)
}

// Scores are the sorted scores of held-out items. They depend on the seed and on the share of [Other].
type Scores struct {
	Sorted []float64 `json:"sorted"`
	Seed   uint64    `json:"seed"`
	Other  float64   `json:"other,omitempty"`

	// IsShifted states that the held-out items are not a random sample, so that the coverage is not promised.
	IsShifted bool `json:"is_shifted,omitempty"`

	// Several states that an item may have several classes. The score of a class is then 1 less its probability, and the
	// score of an item the largest of its classes. The coverage is the share of items whose set has all classes of the item.
	Several bool `json:"several,omitempty"`
}

// Add adds the scores of held-out items. id returns the id of the item at a position in the labels.
func (s *Scores) Add(places []Place, id func(label int) string) {
	for _, place := range places {
		s.Sorted = append(s.Sorted, place.Score(Uniform(id(place.Label), s.Seed)))
	}
	slices.Sort(s.Sorted)
}

// Valid reports whether the scores are in increasing order and Other is between 0 and 1.
func (s *Scores) Valid() bool {
	return slices.IsSorted(s.Sorted) && s.Other >= 0 && s.Other <= 1
}

// Threshold returns the largest score that a class may have in a set with the given coverage, from the sorted scores of
// held-out items. The error is [ErrRange] or [ErrFew].
func Threshold(sorted []float64, coverage float64) (float64, error) {
	if !(coverage > 0 && coverage < 1) {
		return 0, ErrRange
	}
	const rounding = 1e-9
	position := max(1, int(math.Ceil(float64(float64(len(sorted)+1)*coverage)-rounding)))
	if position > len(sorted) {
		return 0, ErrFew
	}
	return sorted[position-1], nil
}

// Set returns the prediction set of an item: the classes, by falling probability, whose score is at most threshold, see
// [Threshold]. The likeliest class is always in the set. u must be the [Uniform] number of the item.
func (s *Scores) Set(probabilities []float64, u, threshold float64) []int {
	set := orderOf(probabilities, s.Other)
	var p Place
	for i, c := range set {
		p.Own = probabilityOf(c, probabilities, s.Other)
		score := p.Score(u)
		if s.Several {
			score = 1 - probabilities[c]
		}
		if i > 0 && score > threshold {
			return set[:i]
		}
		p.Above += p.Own
	}
	return set
}

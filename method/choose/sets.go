package choose

import (
	"iter"
	"slices"
)

// Sets makes prediction sets of classes with a coverage. Its figures describe the sets of the items given to
// [Scores.Sets].
type Sets struct {
	Coverage   float64 `json:"coverage"`
	IsPromised bool    `json:"is_promised"`       // held-out items may be a random sample
	Tested     int     `json:"tested"`            // number of held-out items
	Several    bool    `json:"several,omitempty"` // see [Scores]

	// The mean number of classes, and the shares of sets with one class, with all classes, and with Marker.
	MeanSize float64 `json:"mean_size"`
	Single   float64 `json:"single_share"`
	All      float64 `json:"all_share"`
	Other    float64 `json:"other_share"`

	Marker string `json:"other"` // name of all classes without a label

	scores    *Scores
	names     []string
	threshold float64
}

// Sets returns the prediction sets with the given coverage, with figures over items. items yields the id of an item and
// its probability of each class in names. The error is [ErrRange] or [ErrFew]. Cost: k·log k for each item with k
// classes.
func (s *Scores) Sets(coverage float64, names []string, items iter.Seq2[string, []float64]) (*Sets, error) {
	threshold, err := Threshold(s.Sorted, coverage)
	if err != nil {
		return nil, err
	}
	out := &Sets{Coverage: coverage, IsPromised: !s.IsShifted, Tested: len(s.Sorted), Several: s.Several, Marker: "other",
		scores: s, names: names, threshold: threshold}
	for slices.Contains(names, out.Marker) {
		out.Marker += "*"
	}
	count := 0.0
	for id, probabilities := range items {
		set := out.set(id, probabilities)
		count++
		out.MeanSize += float64(len(set))
		if len(set) == 1 {
			out.Single++
		}
		if len(set) >= len(names) {
			out.All++
		}
		if slices.Contains(set, Other) {
			out.Other++
		}
	}
	for _, sum := range []*float64{&out.MeanSize, &out.Single, &out.All, &out.Other} {
		*sum /= max(1, count)
	}
	return out, nil
}

func (s *Sets) set(id string, probabilities []float64) []int {
	return s.scores.Set(probabilities, Uniform(id, s.scores.Seed), s.threshold)
}

// Names returns the names of the classes in the prediction set of an item, by falling probability.
func (s *Sets) Names(id string, probabilities []float64) (list []string) {
	for _, class := range s.set(id, probabilities) {
		name := s.Marker
		if class != Other {
			name = s.names[class]
		}
		list = append(list, name)
	}
	return list
}

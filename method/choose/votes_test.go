package choose

import (
	"math/rand/v2"
	"testing"

	"github.com/heatwalk/heatwalk/classify"
)

// A decision of exactly 0 votes for the second class of a pair.
func TestCount(t *testing.T) {
	pairs := classify.Pairs{{Positive: 0, Negative: 1}, {Positive: 0, Negative: 2}, {Positive: 1, Negative: 2}}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		decisions := make([]float64, len(pairs))
		for m := range decisions {
			decisions[m] = float64(rng.IntN(3) - 1)
		}
		counts := make([]int, 3)
		CountVotes(counts, pairs, decisions)
		if got, want := classify.ArgMax([]float64{float64(counts[0]), float64(counts[1]), float64(counts[2])}), pairs.Predict(decisions); got != want {
			t.Fatalf("decisions %v: votes %v, predicted class %d", decisions, counts, want)
		}
	}
	counts := make([]uint8, 3)
	if CountVotes(counts, pairs, make([]float64, 3)); [3]uint8(counts) != [3]uint8{0, 1, 2} {
		t.Errorf("votes %v of machines that are all at 0, want 0, 1, 2", counts)
	}
}

package choose

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

func draw(r *rand.Rand, classes int, other float64) (row []float64, class int) {
	row = make([]float64, classes)
	for c := range row {
		row[c] = float64(1 + r.IntN(4)*r.IntN(4))
	}
	floats.Scale(1/floats.Sum(row), row)
	if r.Float64() < other {
		return row, Other
	}
	x := r.Float64()
	for class < classes-1 && x > row[class] {
		x -= row[class]
		class++
	}
	return row, class
}

func TestSetsAgreeWithScores(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		s := &Scores{Other: float64(r.IntN(3)) / 10}
		row, _ := draw(r, 1+r.IntN(6), s.Other)
		u := r.Float64()
		threshold := r.Float64()
		set := s.Set(row, u, threshold)
		if set[0] != slices.Index(row, slices.Max(row)) {
			t.Fatalf("set %v of %v does not begin with the likeliest class", set, row)
		}
		for class := Other; class < len(row); class++ {
			isIn := PlaceOf(0, row, class, s.Other).Score(u) <= threshold
			if class == Other && s.Other == 0 {
				isIn = false
			}
			if slices.Contains(set, class) != isIn {
				t.Fatalf("probabilities %v, other %v, u %v, threshold %v: set %v, class %d: %v by its score",
					row, s.Other, u, threshold, set, class, isIn)
			}
		}
	}
}

// The coverage by n scores follows the beta distribution of the rank of the threshold, or exceeds it if the label alone is
// right more often.
func TestCoverageFollowsBeta(t *testing.T) {
	const others = 4000
	r := rand.New(rand.NewPCG(3, 4))
	for _, number := range []int{100, 300, 1000} {
		for _, coverage := range []float64{0.8, 0.9, 0.95} {
			rank := float64(number+1) * coverage
			law := distuv.Beta{Alpha: rank, Beta: float64(number) + 1 - rank}
			outside := 0
			for range 20 {
				s := &Scores{Other: 0.1}
				for range number {
					row, class := draw(r, 6, s.Other)
					s.Sorted = append(s.Sorted, PlaceOf(0, row, class, s.Other).Score(r.Float64()))
				}
				slices.Sort(s.Sorted)
				threshold, err := Threshold(s.Sorted, coverage)
				if err != nil {
					t.Fatal(err)
				}
				covered := 0.0
				for range others {
					row, class := draw(r, 6, s.Other)
					if slices.Contains(s.Set(row, r.Float64(), threshold), class) {
						covered++
					}
				}
				const noise = 0.01 // error of the share of others
				if found := covered / others; found < law.Quantile(0.025)-noise || found > law.Quantile(0.975)+noise {
					outside++
				}
			}
			if outside > 3 {
				t.Errorf("%d scores, coverage %v: %d of 20 draws outside of 95 %% of the law", number, coverage, outside)
			}
		}
	}
	if _, err := Threshold(make([]float64, 8), 0.9); err != ErrFew {
		t.Errorf("8 scores have a threshold for a coverage of 0.9: %v", err)
	}
}

func TestUniform(t *testing.T) {
	const ids = 2000
	for seed := range uint64(2) {
		sum := 0.0
		for i := range ids {
			sum += Uniform(string(rune('a'+i%26))+string(rune('0'+i/26)), seed)
		}
		if mean := sum / ids; mean < 0.47 || mean > 0.53 {
			t.Errorf("seed %d: mean %v", seed, mean)
		}
	}
	if Uniform("a", 1) == Uniform("a", 2) {
		t.Error("the seed makes no difference")
	}
}

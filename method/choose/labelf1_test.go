package choose

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestLabelF1(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		items, labels := 1+rng.IntN(20), 1+rng.IntN(6)
		sets, scores := make([][]int, items), make([][]float64, items)
		for i := range items {
			for c := range labels {
				if rng.IntN(3) == 0 {
					sets[i] = append(sets[i], c)
				}
				scores[i] = append(scores[i], float64(rng.IntN(4)))
			}
		}
		tp, fp, fn := make([]float64, labels), make([]float64, labels), make([]float64, labels)
		for i, own := range sets {
			for c := range labels {
				better := 0
				for o := range labels {
					if scores[i][o] > scores[i][c] || scores[i][o] == scores[i][c] && o < c {
						better++
					}
				}
				switch given, has := better < len(own), slices.Contains(own, c); {
				case given && has:
					tp[c]++
				case given:
					fp[c]++
				case has:
					fn[c]++
				}
			}
		}
		var a, b, wantMacro float64
		for c := range labels {
			a, b = a+2*tp[c], b+2*tp[c]+fp[c]+fn[c]
			if tp[c] > 0 {
				wantMacro += 2 * tp[c] / (2*tp[c] + fp[c] + fn[c]) / float64(labels)
			}
		}
		wantMicro := a / max(1, b)
		micro, macro, _ := LabelF1(sets, labels, func(i int) []float64 { return scores[i] })
		if math.Abs(micro-wantMicro) > 1e-12 || math.Abs(macro-wantMacro) > 1e-12 {
			t.Errorf("%v with %v: %v and %v, want %v and %v", sets, scores, micro, macro, wantMicro, wantMacro)
		}
	}
}

func TestThreshold(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		items, labels := 1+rng.IntN(20), 1+rng.IntN(6)
		sets, scores := make([][]int, items), make([][]float64, items)
		for i := range items {
			for c := range labels {
				if rng.IntN(3) == 0 {
					sets[i] = append(sets[i], c)
				}
				scores[i] = append(scores[i], float64(rng.IntN(8))/8)
			}
		}
		micro := func(least float64) float64 {
			f, _, _ := SetF1(sets, labels, func(i int) (set []int) {
				for c, p := range scores[i] {
					if p >= least {
						set = append(set, c)
					}
				}
				return set
			})
			return f
		}
		got := micro(LabelThreshold(sets, func(i int) []float64 { return scores[i] }))
		for eighths := range 8 {
			if want := micro(float64(eighths) / 8); want > got+1e-12 {
				t.Errorf("micro-F1 %v, and %v above %d/8", got, want, eighths)
			}
		}
	}
}

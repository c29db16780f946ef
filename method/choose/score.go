package choose

import (
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/simd"
)

// testChunk is the number of test rows that machines decide on at a time.
const testChunk = 256

// undecided bounds decisions that are nothing but rounding.
const undecided = 1e-9

// score counts the right answers of machines of every strength. A machine that a higher cost does not change decides
// once. Where all machines are undecided the answer is the largest class.
func (w *Tester) score(models []*classify.Model, t *Trial, _ int, hits Hits) {
	if models[0] == nil {
		for _, class := range t.TestClass {
			if class == t.Largest {
				hits.all(t.Weight[class])
			}
		}
		return
	}
	pairs, n := models[0].Pairs, span(len(t.Test))
	w.decisions = slices.Grow(w.decisions[:0], len(pairs)*testChunk)[:len(pairs)*testChunk]
	one := make([]float64, len(pairs))
	for lo := 0; lo < len(t.Test); lo += testChunk {
		hi := min(lo+testChunk, n)
		var right int64
		var weight float64
		for strength, model := range models {
			changed := false
			for p := range pairs {
				if k := &model.Machines[p]; strength == 0 || !same(&models[strength-1].Machines[p], k) {
					w.decide(w.decisions[p*testChunk:][:hi-lo], k, n, lo)
					changed = true
				}
			}
			if changed {
				right, weight = 0, 0
				for i, class := range t.TestClass[lo:min(hi, len(t.TestClass))] {
					answer, isDecided := t.Largest, false
					for p := range one {
						one[p] = w.decisions[p*testChunk+i]
						isDecided = isDecided || math.Abs(one[p]) > undecided
					}
					if isDecided {
						answer = pairs.Predict(one)
					}
					if answer == class {
						right++
						weight += t.Weight[answer]
					}
				}
			}
			hits.Right[strength] += right
			hits.Weight[strength] += weight
		}
	}
}

// same reports whether two machines decide alike, to the bit.
func same(a, b *classify.Machine) bool {
	return a.Rho == b.Rho && slices.Equal(a.Index, b.Index) && slices.Equal(a.Coef, b.Coef)
}

// decide stores the decisions of a machine on the test rows from lo on, given the kernel between training and n test rows.
func (w *Tester) decide(dst []float64, k *classify.Machine, n, lo int) {
	var unread [testChunk]float64
	for i := range dst {
		dst[i] = -k.Rho
	}
	for start := 0; start < len(k.Index); start += 4 {
		var factor [8]float64
		var rows [4][]float64
		for q := range rows {
			s := min(start+q, len(k.Index)-1)
			rows[q] = w.cross[k.Index[s]*n+lo:][:len(dst)]
			if start+q == s {
				factor[q] = k.Coef[s]
			}
		}
		simd.AddPanels(dst, unread[:len(dst)], rows[0], rows[1], rows[2], rows[3], &factor)
	}
}

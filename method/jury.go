package method

import (
	"context"
	"errors"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/simd"
)

// jury has the machines of all strengths decide on all test rows at once.
// Machines that no higher cost changes are heard once.
type jury struct {
	benches   []bench
	slot      []int     // by strength and machine: where its decisions are
	coef      []float64 // by slot and training row
	rho       []float64 // by slot
	used      []bool    // by training row: scratch
	decisions []float64 // by slot, for testChunk test rows
	columns   [][]float64
	class     []int
}

// bench is one machine at the strengths that change it, in successive slots.
type bench struct {
	lo, hi int   // slots
	items  []int // training rows with a coefficient
}

// testChunk is the number of test rows that machines decide on at a time.
const testChunk = 256

// score fits machines of every strength and counts right answers.
func (w *tester) score(ctx context.Context, t *trial, terms int, hits []int64) error {
	models, err := w.fit(ctx, t, terms)
	if errors.Is(err, classify.ErrOneClass) {
		for _, class := range t.testClass {
			if class == t.largest {
				addOne(hits)
			}
		}
		return nil
	}
	if err != nil {
		return err
	}
	w.jury.seat(models, len(t.train))
	n := span(len(t.test))
	for lo := 0; lo < len(t.test); lo += testChunk {
		w.jury.decide(w.cross, n, lo, min(lo+testChunk, n))
		w.jury.count(hits, models[0].Pairs, t.testClass[lo:min(lo+testChunk, len(t.test))])
	}
	return nil
}

// seat takes up the models of all strengths on m training rows.
func (j *jury) seat(models []classify.KernelModel, m int) {
	machines := len(models[0].Pairs)
	j.benches, j.rho, j.coef = j.benches[:0], j.rho[:0], j.coef[:0]
	j.slot = slices.Grow(j.slot[:0], len(models)*machines)[:len(models)*machines]
	for p := range machines {
		b := bench{lo: len(j.rho)}
		if len(j.benches) < cap(j.benches) {
			b.items = j.benches[:len(j.benches)+1][len(j.benches)].items[:0]
		}
		j.used = slices.Grow(j.used[:0], m)[:m]
		clear(j.used)
		var before *classify.Machine
		for c := range models {
			k := &models[c].Machines[p]
			if before == nil || !same(before, k) {
				j.coef = append(j.coef, make([]float64, m)...)
				coef := j.coef[len(j.rho)*m:]
				for i, item := range k.Index {
					coef[item], j.used[item] = k.Coef[i], true
				}
				j.rho = append(j.rho, k.Rho)
				before = k
			}
			j.slot[c*machines+p] = len(j.rho) - 1
		}
		b.hi = len(j.rho)
		for item, used := range j.used {
			if used {
				b.items = append(b.items, item)
			}
		}
		j.benches = append(j.benches, b)
	}
}

// same reports whether two machines decide alike, to the bit.
func same(a, b *classify.Machine) bool {
	return a.Rho == b.Rho && slices.Equal(a.Index, b.Index) && slices.Equal(a.Coef, b.Coef)
}

// decide computes the decisions of all slots on the test rows lo ≤ t < hi,
// given the kernel between training and test rows with n of the latter.
func (j *jury) decide(cross []float64, n, lo, hi int) {
	slots := len(j.rho)
	m := len(j.coef) / slots
	j.decisions = slices.Grow(j.decisions[:0], (slots+1)*testChunk)[:(slots+1)*testChunk]
	row := func(slot int) []float64 { return j.decisions[slot*testChunk:][:hi-lo] }
	for s, rho := range j.rho {
		d := row(s)
		for t := range d {
			d[t] = -rho
		}
	}
	var f [8]float64
	var v [4][]float64
	for _, b := range j.benches {
		for at := 0; at < len(b.items); at += 4 {
			items := b.items[at:min(at+4, len(b.items))]
			for q := range v {
				item := items[min(q, len(items)-1)]
				v[q] = cross[item*n+lo : item*n+hi]
			}
			for s := b.lo; s < b.hi; s += 2 {
				next := s + 1
				if next == b.hi {
					next = slots // nobody reads it
				}
				f = [8]float64{}
				for q, item := range items {
					f[q] = j.coef[s*m+item]
					if next < slots {
						f[4+q] = j.coef[next*m+item]
					}
				}
				simd.AddPanels(row(s), row(next), v[0], v[1], v[2], v[3], &f)
			}
		}
	}
}

// count adds to the hits of each strength how often its machines name the class
// of a test row.
func (j *jury) count(hits []int64, pairs classify.Pairs, class []int) {
	j.columns = slices.Grow(j.columns[:0], len(pairs))[:len(pairs)]
	j.class = slices.Grow(j.class[:0], len(class))[:len(class)]
	var right int64
	for c := range hits {
		slot := j.slot[c*len(pairs) : (c+1)*len(pairs)]
		if c == 0 || !slices.Equal(slot, j.slot[(c-1)*len(pairs):c*len(pairs)]) {
			for p, s := range slot {
				j.columns[p] = j.decisions[s*testChunk:][:len(class)]
			}
			pairs.PredictAllTo(j.class, j.columns)
			right = 0
			for i, answer := range j.class {
				if answer == class[i] {
					right++
				}
			}
		}
		hits[c] += right
	}
}

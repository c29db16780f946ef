package choose

import (
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/simd"
)

// committee lets the machines of all strengths decide on all test rows at once. A
// machine that a higher cost does not change decides once.
type committee struct {
	paths     []costPath
	slot      []int     // by strength and machine: where its decisions are
	coef      []float64 // by slot and training row
	rho       []float64 // by slot
	used      []bool    // by training row: scratch
	decisions []float64 // by slot, for testChunk test rows
	one       []float64 // decisions of all machines on one test row
}

// costPath is one pair's machine at the strengths that change it, in successive slots.
type costPath struct {
	lo, hi int   // slots
	items  []int // training rows with a coefficient
}

// testChunk is the number of test rows that machines decide on at a time.
const testChunk = 256

// score counts the right answers of machines of every strength.
func (w *Tester) score(models []*classify.Model, t *Trial, _ int, hits Hits) {
	if models[0] == nil {
		for _, class := range t.TestClass {
			if class == t.Largest {
				hits.all(t.Weight[class])
			}
		}
		return
	}
	w.committee.take(models, len(t.Train))
	n := span(len(t.Test))
	for lo := 0; lo < len(t.Test); lo += testChunk {
		w.committee.decide(w.cross, n, lo, min(lo+testChunk, n))
		w.committee.count(hits, models[0].Pairs, t, t.TestClass[lo:min(lo+testChunk, len(t.Test))])
	}
}

// take copies the models of all strengths on m training rows.
func (c *committee) take(models []*classify.Model, m int) {
	machines := len(models[0].Pairs)
	c.paths, c.rho, c.coef = c.paths[:0], c.rho[:0], c.coef[:0]
	c.slot = slices.Grow(c.slot[:0], len(models)*machines)[:len(models)*machines]
	for p := range machines {
		b := costPath{lo: len(c.rho)}
		if len(c.paths) < cap(c.paths) {
			b.items = c.paths[:len(c.paths)+1][len(c.paths)].items[:0]
		}
		c.used = slices.Grow(c.used[:0], m)[:m]
		clear(c.used)
		var previous *classify.Machine
		for strength := range models {
			k := &models[strength].Machines[p]
			if previous == nil || !same(previous, k) {
				c.coef = append(c.coef, make([]float64, m)...)
				coef := c.coef[len(c.rho)*m:]
				for i, item := range k.Index {
					coef[item], c.used[item] = k.Coef[i], true
				}
				c.rho = append(c.rho, k.Rho)
				previous = k
			}
			c.slot[strength*machines+p] = len(c.rho) - 1
		}
		b.hi = len(c.rho)
		for item, used := range c.used {
			if used {
				b.items = append(b.items, item)
			}
		}
		c.paths = append(c.paths, b)
	}
}

// same reports whether two machines decide alike, to the bit.
func same(a, b *classify.Machine) bool {
	return a.Rho == b.Rho && slices.Equal(a.Index, b.Index) && slices.Equal(a.Coef, b.Coef)
}

// decide computes the decisions of all slots on the test rows lo ≤ t < hi,
// given the kernel between training and test rows with n of the latter.
func (c *committee) decide(cross []float64, n, lo, hi int) {
	slots := len(c.rho)
	m := len(c.coef) / slots
	c.decisions = slices.Grow(c.decisions[:0], (slots+1)*testChunk)[:(slots+1)*testChunk]
	row := func(slot int) []float64 { return c.decisions[slot*testChunk:][:hi-lo] }
	for s, rho := range c.rho {
		d := row(s)
		for t := range d {
			d[t] = -rho
		}
	}
	var f [8]float64
	var v [4][]float64
	for _, b := range c.paths {
		for start := 0; start < len(b.items); start += 4 {
			items := b.items[start:min(start+4, len(b.items))]
			for q := range v {
				item := items[min(q, len(items)-1)]
				v[q] = cross[item*n+lo : item*n+hi]
			}
			for s := b.lo; s < b.hi; s += 2 {
				next := s + 1
				if next == b.hi {
					next = slots // it is not read
				}
				f = [8]float64{}
				for q, item := range items {
					f[q] = c.coef[s*m+item]
					if next < slots {
						f[4+q] = c.coef[next*m+item]
					}
				}
				simd.AddPanels(row(s), row(next), v[0], v[1], v[2], v[3], &f)
			}
		}
	}
}

// undecided bounds decisions that are nothing but rounding.
const undecided = 1e-9

// count adds to the hits of each strength how often its machines name the class
// of a test row, or where they are all undecided, it is the largest class.
func (c *committee) count(hits Hits, pairs classify.Pairs, t *Trial, class []int) {
	c.one = slices.Grow(c.one[:0], len(pairs))[:len(pairs)]
	var right int64
	var weight float64
	for strength := range hits.Right {
		slot := c.slot[strength*len(pairs) : (strength+1)*len(pairs)]
		if strength == 0 || !slices.Equal(slot, c.slot[(strength-1)*len(pairs):strength*len(pairs)]) {
			right, weight = 0, 0
			for i, want := range class {
				answer, decided := t.Largest, false
				for p, s := range slot {
					c.one[p] = c.decisions[s*testChunk+i]
					decided = decided || math.Abs(c.one[p]) > undecided
				}
				if decided {
					answer = pairs.Predict(c.one)
				}
				if answer == want {
					right++
					weight += t.Weight[answer]
				}
			}
		}
		hits.Right[strength] += right
		hits.Weight[strength] += weight
	}
}

package sets

import (
	"math"
	"math/bits"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/sparse"
)

// Multiset is a finite multiset: bitmap b holds the elements whose number has the binary
// digit 2^b. It must not be changed once it is made.
type Multiset struct{ digits []*roaring.Bitmap }

// Of returns the multiset of the given elements: one that is given k times is there k
// times.
func Of(elements ...uint32) *Multiset {
	count := map[uint32]int{}
	for _, x := range elements {
		count[x]++
	}
	return Counted(count)
}

// Counted returns the multiset in which each element is so many times.
func Counted(count map[uint32]int) *Multiset {
	m := new(Multiset)
	for x, n := range count {
		for b := range bits.Len(uint(n)) {
			if b == len(m.digits) {
				m.digits = append(m.digits, roaring.New())
			}
			if n>>b&1 == 1 {
				m.digits[b].Add(x)
			}
		}
	}
	return m
}

// Support returns the set of the elements that are in m.
func (m *Multiset) Support() *Multiset {
	if len(m.digits) < 2 {
		return m
	}
	return &Multiset{[]*roaring.Bitmap{roaring.FastOr(m.digits...)}}
}

// IsEmpty reports whether m has no element.
func (m *Multiset) IsEmpty() bool {
	for _, d := range m.digits {
		if !d.IsEmpty() {
			return false
		}
	}
	return true
}

// each calls visit with every element of m, in increasing order, and its number.
func (m *Multiset) each(visit func(x uint32, count float64)) {
	all := m.Support()
	if len(all.digits) == 0 {
		return
	}
	for it := all.digits[0].Iterator(); it.HasNext(); {
		x, count := it.Next(), 0.0
		for b, d := range m.digits {
			if d.Contains(x) {
				count += math.Ldexp(1, b)
			}
		}
		visit(x, count)
	}
}

// Intersection returns μ(X ∩ Y), of multisets Σ_x μ(x)Γ_X(x)Γ_Y(x) (equations 1.3 and 1.6).
func Intersection(x, y *Multiset, measure []float64) (sum float64) {
	for a, p := range x.digits {
		for b, q := range y.digits {
			sum += math.Ldexp(common(p, q, measure), a+b)
		}
	}
	return sum
}

// common returns the measure of the intersection of two sets.
func common(p, q *roaring.Bitmap, measure []float64) (sum float64) {
	if measure == nil {
		return float64(p.AndCardinality(q))
	}
	for it := roaring.And(p, q).Iterator(); it.HasNext(); {
		sum += measure[it.Next()]
	}
	return sum
}

// Measure returns μ(X) of a set.
func Measure(x *Multiset, measure []float64) float64 { return Intersection(x, x, measure) }

// Union returns 1/μ(X ∪ Y) of two sets (equation 1.4), +Inf if both have measure 0.
func Union(x, y *Multiset, measure []float64) float64 {
	return 1 / unionOf(x, y, Intersection(x, y, measure), measure)
}

// unionOf returns μ(X ∪ Y), given μ(X ∩ Y).
func unionOf(x, y *Multiset, both float64, measure []float64) float64 {
	return Measure(x, measure) + Measure(y, measure) - both
}

// Tanimoto returns μ(X ∩ Y)/μ(X ∪ Y) of two sets (equation 1.5), NaN if both have
// measure 0.
func Tanimoto(x, y *Multiset, measure []float64) float64 {
	both := Intersection(x, y, measure)
	return both / unionOf(x, y, both, measure)
}

// Cross returns Σ_x Σ_y μ(x)Γ_X(x)·k(x, y)·Γ_Y(y)μ(y) with a kernel k between elements.
func Cross(x, y *Multiset, measure []float64, k *sparse.Block[float64]) (sum float64) {
	weight := func(e uint32, count float64) float64 {
		if measure != nil {
			count *= measure[e]
		}
		return count
	}
	x.each(func(a uint32, p float64) {
		row, part := k.Row(int(a)), 0.0
		y.each(func(b uint32, q float64) { part += float64(row[b] * weight(b, q)) })
		sum += float64(weight(a, p) * part)
	})
	return sum
}

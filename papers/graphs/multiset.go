package graphs

import (
	"math"
	"math/bits"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/sparse"
)

// multiset is a finite multiset of the elements 0, 1, 2 …: bitmap b holds the elements
// whose number has the binary digit 2^b. A set is a multiset of one digit. An inner product
// is a few intersections of bitmaps: Σ_x μ(x)Γ(x)Γ′(x) = Σ_ab 2^(a+b) μ(X_a ∩ Y_b), where a
// measure μ that is nil is 1 for each element. Kernels are those of Gärtner, Le and Smola,
// A short tour of kernel methods for graphs, 2006, definitions 1.3 and 1.4.
type multiset struct{ digits []*roaring.Bitmap }

// multisetOf returns the multiset with the given count of each element.
func multisetOf(count map[uint32]int) *multiset {
	m := new(multiset)
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

// support returns the set of the elements that are in m.
func (m *multiset) support() *multiset {
	if len(m.digits) < 2 {
		return m
	}
	return &multiset{[]*roaring.Bitmap{roaring.FastOr(m.digits...)}}
}

// isEmpty reports whether m has no element.
func (m *multiset) isEmpty() bool {
	for _, d := range m.digits {
		if !d.IsEmpty() {
			return false
		}
	}
	return true
}

// each calls visit with every element of m, in increasing order, and its number.
func (m *multiset) each(visit func(x uint32, count float64)) {
	support := m.support()
	if len(support.digits) == 0 {
		return
	}
	for it := support.digits[0].Iterator(); it.HasNext(); {
		x := it.Next()
		count := 0.0
		for b, d := range m.digits {
			if d.Contains(x) {
				count += math.Ldexp(1, b)
			}
		}
		visit(x, count)
	}
}

// intersectionOf returns μ(X ∩ Y), of multisets Σ_x μ(x)Γ_X(x)Γ_Y(x) (equations 1.3 and 1.6).
func intersectionOf(x, y *multiset, measure []float64) (sum float64) {
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

// measureOf returns μ(X) of a set.
func measureOf(x *multiset, measure []float64) float64 {
	return intersectionOf(x, x, measure)
}

// unionOf returns μ(X ∪ Y) of two sets.
func unionOf(x, y *multiset, measure []float64) float64 {
	return measureOf(x, measure) + measureOf(y, measure) -
		intersectionOf(x, y, measure)
}

// crossOf returns Σ_x Σ_y μ(x)Γ_X(x)·k(x, y)·Γ_Y(y)μ(y) with a kernel k between elements.
func crossOf(x, y *multiset, measure []float64,
	k *sparse.Block[float64]) (sum float64) {
	weight := func(e uint32, count float64) float64 {
		if measure != nil {
			count *= measure[e]
		}
		return count
	}
	x.each(func(a uint32, p float64) {
		row := k.Row(int(a))
		rowSum := 0.0
		y.each(func(b uint32, q float64) { rowSum += float64(row[b] * weight(b, q)) })
		sum += float64(weight(a, p) * rowSum)
	})
	return sum
}

// Package sets holds kernels between sets and multisets of the elements 0, 1, 2 …, on
// Roaring bitmaps.
//
//	x, y := sets.Of(1, 5, 6, 7), sets.Of(5, 6, 8)
//	sets.Intersection(x, y, nil)     // 2
//	sets.Tanimoto(x, y, nil)         // 2/5
//	measure := []float64{…}          // μ of each element, ≥ 0; nil: 1 each
//
// A [Multiset] holds the binary digits of how often each element is there, a bitmap for
// each digit, so that an inner product of multisets is a few intersections of bitmaps:
// Σ_x μ(x)Γ(x)Γ′(x) = Σ_ab 2^(a+b) μ(X_a ∩ Y_b). A set is a multiset of one digit.
//
// Source: Gärtner, Le and Smola, A short tour of kernel methods for graphs, 2006,
// definitions 1.3 and 1.4.
package sets

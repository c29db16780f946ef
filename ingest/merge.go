package ingest

import (
	"errors"
	"math"
	"slices"
)

// merger makes one entry of all lines for it.
type merger struct {
	policy Duplicates
	values bool

	// perDirection merges the lines of each direction first and takes equal
	// results for one edge whatever the policy: entries of a matrix, which has
	// both directions of an edge. Of different ones max, min and first choose; a
	// sum would double some edges and not others.
	perDirection bool

	// symmetric asks for both directions of every entry with equal values.
	symmetric bool

	directed bool
}

// mergeCount counts what was merged.
type mergeCount struct {
	duplicates int64 // lines beside the first of the same direction
	reciprocal int64 // edges with lines of both directions
	loops      int64 // entries on the diagonal
}

var errAsymmetric = errors.New("ingest: not symmetric")

// mergeError is an entry whose lines do not agree. Its text is made where the
// lines are known.
type mergeError struct {
	row, col uint32
	kind     mergeKind
}

type mergeKind int

const (
	repeated  mergeKind = iota // several lines and ErrorDuplicates
	differing                  // both directions with different weights
	infinite                   // the weights add up to infinity
)

// Error implements error.
func (e *mergeError) Error() string { return "ingest: lines of one edge do not agree" }

// mergeRows makes the rows of a bucket from its sorted entries.
func mergeRows[K key](m *merger, out *sorted, rows int, column uint, keys []K, values []float64) error {
	out.ptr = append(out.ptr, 0)
	out.col = slices.Grow(out.col, len(keys))
	var err error
	if m.values || m.symmetric {
		err = mergeValues(m, out, column, keys, values)
	} else {
		err = mergePlain(m, out, column, keys)
	}
	for len(out.ptr) <= rows {
		out.ptr = append(out.ptr, len(out.col))
	}
	return err
}

// mergePlain is mergeRows where most entries need nothing but their column.
func mergePlain[K key](m *merger, out *sorted, column uint, keys []K) error {
	shift, mask := (column+1)&63, K(1)<<(column&63)-1
	col := out.col[:len(keys)]
	n := 0
	var row, last K
	for i := 0; i < len(keys); i++ {
		k := keys[i]
		if n > 0 && k>>1 == last>>1 {
			j := i + 1
			for j < len(keys) && keys[j]>>1 == last>>1 {
				j++
			}
			if _, kind, ok := mergeLines(m, &out.mergeCount, keys[i-1:j], nil, out.lo+int(row), int(col[n-1])); !ok {
				return &mergeError{uint32(out.lo + int(row)), col[n-1], kind}
			}
			i = j - 1
			continue
		}
		last = k
		if k>>shift != row {
			row = k >> shift
			for len(out.ptr) <= int(row) {
				out.ptr = append(out.ptr, n)
			}
		}
		c := uint32(k >> 1 & mask)
		if uint32(out.lo)+uint32(row) == c {
			out.loops++
		}
		col[n] = c
		n++
	}
	out.col = col[:n]
	return nil
}

// mergeValues is mergeRows where the lines of each entry are looked at.
func mergeValues[K key](m *merger, out *sorted, column uint, keys []K, values []float64) error {
	column &= 63
	mask := K(1)<<column - 1
	for i := 0; i < len(keys); {
		place := keys[i] >> 1
		row, col := int(place>>column), uint32(place&mask)
		for len(out.ptr) <= row {
			out.ptr = append(out.ptr, len(out.col))
		}
		j := i + 1
		for j < len(keys) && keys[j]>>1 == place {
			j++
		}
		value := 1.0
		if m.values {
			value = values[i]
		}
		if j > i+1 || m.symmetric {
			var v []float64
			if m.values {
				v = values[i:j]
			}
			var kind mergeKind
			var ok bool
			value, kind, ok = mergeLines(m, &out.mergeCount, keys[i:j], v, out.lo+row, int(col))
			if m.symmetric && !ok && kind != infinite {
				return errAsymmetric
			}
			if !ok {
				return &mergeError{uint32(out.lo + row), col, kind}
			}
		}
		if uint32(out.lo+row) == col {
			out.loops++
		}
		out.col = append(out.col, col)
		if m.values {
			out.val = append(out.val, value)
		}
		i = j
	}
	return nil
}

// mergeLines merges the lines of the entry (row, col): it returns its value, or
// why there is none.
func mergeLines[K key](m *merger, n *mergeCount, keys []K, values []float64, row, col int) (value float64, kind mergeKind, ok bool) {
	back := 0 // lines of the other direction
	for _, k := range keys {
		back += int(k & 1)
	}
	ahead := len(keys) - back
	kind, ok = m.count(n, ahead, back, row, col)
	switch {
	case !ok:
		return 0, kind, false
	case values == nil:
		return 1, 0, true
	case !m.byDirection():
		return finite(m.reduce(values))
	}
	var bufferA, bufferB [16]float64
	a, b := bufferA[:0], bufferB[:0]
	for i, k := range keys {
		if k&1 == 0 {
			a = append(a, values[i])
		} else {
			b = append(b, values[i])
		}
	}
	switch {
	case len(b) == 0:
		return finite(m.reduce(a))
	case len(a) == 0:
		return finite(m.reduce(b))
	}
	return m.join(m.reduce(a), m.reduce(b), values[0])
}

// byDirection reports whether the lines of each direction are merged first.
func (m *merger) byDirection() bool {
	return m.perDirection || m.policy == DefaultDuplicates || m.policy == ErrorDuplicates
}

// adds reports whether weights are added.
func (m *merger) adds() bool { return m.policy == DefaultDuplicates || m.policy == SumDuplicates }

// count counts the lines of the entry (row, col), so many of each direction, or tells
// why they are no entry.
func (m *merger) count(n *mergeCount, ahead, back, row, col int) (kind mergeKind, ok bool) {
	if m.countsPair(row, col) {
		n.duplicates += int64(max(ahead-1, 0) + max(back-1, 0))
		if ahead > 0 && back > 0 {
			n.reciprocal++
		}
	}
	switch {
	case m.symmetric && row != col && (ahead == 0 || back == 0):
		return differing, false
	case m.policy == ErrorDuplicates && (ahead > 1 || back > 1):
		return repeated, false
	}
	return 0, true
}

// countsPair reports whether the lines of the entry (row, col) are counted there: each
// pair of an undirected graph is seen twice.
func (m *merger) countsPair(row, col int) bool { return m.directed || row <= col }

// join returns the value of an entry with lines of both directions, given what each
// direction came to and the first line of all.
func (m *merger) join(ahead, back, first float64) (value float64, kind mergeKind, ok bool) {
	switch {
	case ahead == back:
		return finite(ahead)
	case m.symmetric:
	case m.policy == MaxDuplicates:
		return finite(max(ahead, back))
	case m.policy == MinDuplicates:
		return finite(min(ahead, back))
	case m.policy == FirstDuplicates:
		return finite(first)
	}
	return 0, differing, false
}

// finite returns a value with what is wrong if it is none.
func finite(value float64) (float64, mergeKind, bool) {
	return value, infinite, !math.IsInf(value, 0)
}

// reduce merges weights, which are in the order of the input.
func (m *merger) reduce(weights []float64) float64 {
	switch m.policy {
	case MaxDuplicates:
		return slices.Max(weights)
	case MinDuplicates:
		return slices.Min(weights)
	case FirstDuplicates:
		return weights[0]
	}
	if len(weights) == 1 {
		return weights[0]
	}
	// Sorted, so that the sum depends on the weights alone, not on the order
	// of the lines.
	var buffer [16]float64
	terms := append(buffer[:0], weights...)
	slices.Sort(terms)
	var sum float64
	for _, w := range terms {
		sum += w
	}
	return sum
}

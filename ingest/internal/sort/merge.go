package sort

import (
	"errors"
	"math"
	"slices"
)

// Policy is the rule for several lines of one entry. Its values are as in ingest.Duplicates.
type Policy int

// Default adds the weights of each direction.
const (
	Default Policy = iota
	Sum
	Max
	Min
	First
	Error
)

type Merger struct {
	Policy Policy
	Values bool

	// Coded states that values are packed with codes, see [Pack]. Lines with different codes are different
	// entries.
	Coded bool

	// PerDirection states that the lines of each direction are merged first, and that equal results of both
	// directions are one edge, as in a matrix. If the results differ, Max, Min and First choose one of them;
	// Sum must not be used, because it would double some edges only.
	PerDirection bool

	// Symmetric states that every entry must have both directions, with equal values.
	Symmetric bool

	Directed bool
}

// Count counts merged lines.
type Count struct {
	Duplicates int64 // lines after the first line of the same direction
	Reciprocal int64 // edges with lines in both directions
	Averaged   int64 // edges whose weights in the two directions differ by rounding
	Loops      int64 // entries on the diagonal
}

func (n *Count) Add(m Count) {
	n.Duplicates += m.Duplicates
	n.Reciprocal += m.Reciprocal
	n.Averaged += m.Averaged
	n.Loops += m.Loops
}

var ErrAsymmetric = errors.New("ingest: not symmetric")

// MergeError is the error about an entry whose lines disagree. The caller knows the lines and writes the
// message.
type MergeError struct {
	Row, Col uint32
	Code     uint32 // see [Pack]
	Kind     MergeKind
}

// MergeKind is a disagreement between lines of an entry; 0: none.
type MergeKind int

const (
	Repeated  MergeKind = iota + 1 // several lines, with the policy Error
	Differing                      // both directions with different weights
	Infinite                       // the weights add up to infinity
)

func (e *MergeError) Error() string {
	return "ingest: lines of one edge do not agree"
}

// mergeRows merges the sorted entries keys of a bucket, with values or without, and appends the given number
// of rows to out. column is the number of bits of a column.
func mergeRows[K key](m *Merger, out *Rows, rows int, column uint, keys []K,
	values []float64) (err error) {
	out.Ptr = append(out.Ptr, 0)
	out.Col = slices.Grow(out.Col, len(keys))
	if m.Values || m.Symmetric {
		err = mergeValues(m, out, column&63, keys, values)
	} else {
		err = mergePlain(m, out, column, keys)
	}
	out.end(rows)
	return err
}

// mergeValues merges entries with values, or entries that must have both directions, see [mergeRows].
func mergeValues[K key](m *Merger, out *Rows, column uint, keys []K,
	values []float64) error {
	mask := K(1)<<column - 1
	j := joiner[K]{m: m, out: out, column: column}
	for i, next := 0, 0; i < len(keys); i = next {
		place := keys[i] >> 1
		for next = i + 1; next < len(keys) && keys[next]>>1 == place; next++ {
		}
		if next == i+1 && !m.Symmetric {
			out.add(int(place>>column), uint32(place&mask))
			out.Val = append(out.Val, values[i])
			continue
		}
		lines := sortedRun[K]{keys: keys[i:next]}
		if values != nil {
			lines.values = values[i:next]
		}
		lines.shorten(m, out.Lo, column, &out.Duplicates)
		_ = j.add(lines.keys, lines.values) // cannot fail: they are lines of one entry
		if err := j.end(); err != nil {
			return err
		}
	}
	return nil
}

func (b *Rows) add(row int, col uint32) {
	b.end(row)
	if uint32(b.Lo+row) == col {
		b.Loops++
	}
	b.Col = append(b.Col, col)
}

// end adds rows without entries until b has the given number of rows.
func (b *Rows) end(rows int) {
	for len(b.Ptr) <= rows {
		b.Ptr = append(b.Ptr, len(b.Col))
	}
}

// mergePlain merges entries without values, see [mergeRows]. Most of them need only their column.
func mergePlain[K key](m *Merger, out *Rows, column uint, keys []K) error {
	shift := (column + 1) & 63
	mask := K(1)<<(column&63) - 1
	col := out.Col[:len(keys)]
	n := 0
	var row, last K
	for i := 0; i < len(keys); i++ {
		k := keys[i]
		if n > 0 && k>>1 == last>>1 {
			lines := [2]int{} // number of lines of each direction
			lines[last&1]++
			for ; i < len(keys) && keys[i]>>1 == last>>1; i++ {
				lines[keys[i]&1]++
			}
			if kind := m.count(&out.Count, lines[0], lines[1], out.Lo+int(row),
				int(col[n-1])); kind != 0 {
				return &MergeError{uint32(out.Lo + int(row)), col[n-1], 0, kind}
			}
			i--
			continue
		}
		last = k
		if k>>shift != row {
			row = k >> shift
			for len(out.Ptr) <= int(row) {
				out.Ptr = append(out.Ptr, n)
			}
		}
		c := uint32(k >> 1 & mask)
		if uint32(out.Lo)+uint32(row) == c {
			out.Loops++
		}
		col[n] = c
		n++
	}
	out.Col = col[:n]
	return nil
}

// byDirection reports whether the lines of each direction are merged before the two directions.
func (m *Merger) byDirection() bool {
	return m.PerDirection || m.Policy == Default || m.Policy == Error
}

func (m *Merger) adds() bool {
	return m.Policy == Default || m.Policy == Sum
}

// count counts in n the lines of the entry (row, col), of which ahead lines have one direction and back lines
// the other. It returns how the directions disagree.
func (m *Merger) count(n *Count, ahead, back, row, col int) MergeKind {
	if m.countsPair(row, col) {
		n.Duplicates += int64(max(ahead-1, 0) + max(back-1, 0))
		if ahead > 0 && back > 0 {
			n.Reciprocal++
		}
	}
	switch {
	case m.Symmetric && row != col && (ahead == 0 || back == 0):
		return Differing
	case m.Policy == Error && (ahead > 1 || back > 1):
		return Repeated
	}
	return 0
}

// countsPair reports whether the lines of a pair of nodes are counted at the entry (row, col). An undirected
// graph has two entries for each pair, and counts its lines at the first.
func (m *Merger) countsPair(row, col int) bool {
	return m.Directed || row <= col
}

// nearlyEqual is the largest relative difference that counts as rounding between the weights of an edge in
// its two directions, for example in D·A·D, where the factors are multiplied in different orders.
const nearlyEqual = 1e-10

func isRounded(ahead, back float64) bool {
	return ahead != back &&
		math.Abs(ahead-back) <= nearlyEqual*max(math.Abs(ahead), math.Abs(back))
}

// join returns the value of an entry. ahead and back are the values of its directions, and first is the value
// of its first line. It averages values that differ by rounding, unless the policy chooses one. kind states a
// disagreement.
func (m *Merger) join(ahead, back, first float64) (value float64, kind MergeKind) {
	switch {
	case ahead == back:
		return finite(ahead)
	case m.averages() && isRounded(ahead, back):
		return ahead/2 + back/2, 0
	case m.Symmetric:
	case m.Policy == Max:
		return finite(max(ahead, back))
	case m.Policy == Min:
		return finite(min(ahead, back))
	case m.Policy == First:
		return finite(first)
	}
	return 0, Differing
}

func (m *Merger) averages() bool {
	return m.Symmetric || m.Policy == Default || m.Policy == Sum && m.PerDirection
}

func finite(value float64) (float64, MergeKind) {
	if math.IsInf(value, 0) {
		return value, Infinite
	}
	return value, 0
}

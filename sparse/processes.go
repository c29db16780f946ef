package sparse

import (
	"errors"
	"iter"
	"math"
)

// Team describes the rows of the blocks of a process, if several processes share the rows of a square matrix. Each
// block has three groups of rows:
//
//   - 0 ≤ i < Own: rows that no other process has
//   - Own ≤ i < First: padding, so that all processes have the same number of rows and make the same decisions
//   - First ≤ i < First+Named: rows of the named nodes, for example of nodes with labels; every process has them, with the same values
//
// A sum over the rows of the matrix is computed over the rows that count in each process, see [Team.CountingRows], and
// then over the processes, see [Team.Sum]. Own rows count in their process, and named rows count in process 0. Padding
// is zero in blocks that are computed by linear operations.
//
// A nil Team means one process that has all rows.
type Team struct {
	Network
	Own, First, Named int
	Total             int      // number of rows of the matrix
	Entries           int64    // number of its stored entries
	Rows              []uint32 // row of the matrix for each row of a block; padding has no meaning
}

// TeamOf returns the team of a matrix or of a linear map, or nil if this process has all rows.
func TeamOf(x any) *Team {
	if shared, ok := x.(interface{ Team() *Team }); ok {
		return shared.Team()
	}
	return nil
}

// Counts reports whether row i counts in this process.
func (t *Team) Counts(i int) bool {
	return t == nil || i < t.Own || i >= t.First && t.Rank() == 0
}

// IsNamed reports whether row i belongs to a named node, which all processes have.
func (t *Team) IsNamed(i int) bool {
	return t != nil && i >= t.First
}

// IsPadding reports whether row i is padding.
func (t *Team) IsPadding(i int) bool {
	return t != nil && i >= t.Own && i < t.First
}

// CountingRows yields the rows lo ≤ i < hi that count in this process, in up to two runs.
func (t *Team) CountingRows(lo, hi int) iter.Seq2[int, int] {
	return func(yield func(lo, hi int) bool) {
		// The own rows end at end. The named rows, if they count, start at named.
		end := hi
		named := hi
		if t != nil {
			end = min(hi, t.Own)
			if t.Rank() == 0 {
				named = max(lo, t.First)
			}
		}
		if lo < end && !yield(lo, end) {
			return
		}
		if named < hi {
			yield(named, hi)
		}
	}
}

// Row returns the row of the matrix that row i of a block belongs to.
func (t *Team) Row(i int) int {
	if t == nil {
		return i
	}
	return int(t.Rows[i])
}

// TotalOf returns the number of rows of the matrix, which is rows for a nil team.
func (t *Team) TotalOf(rows int) int {
	if t == nil {
		return rows
	}
	return t.Total
}

// EntriesOf returns the number of stored entries of a matrix. For a [Divided] matrix it counts the entries of the whole
// matrix.
func EntriesOf(a Matrix) int64 {
	if t := TeamOf(a); t != nil {
		return t.Entries
	}
	return a.NNZ()
}

// Sum replaces v by its sum over all processes, in their order.
func (t *Team) Sum(v []float64) {
	t.combine(v, func(a, b float64) float64 { return a + b })
}

// Max replaces each element of v by its largest value in any process.
func (t *Team) Max(v []float64) {
	t.combine(v, func(a, b float64) float64 { return max(a, b) })
}

// LeastLimit returns the smallest memory limit of all processes, so that all processes compute the same slabs. A limit
// of 0 means no limit.
func (t *Team) LeastLimit(limit int64) int64 {
	if t == nil {
		return limit
	}
	if limit == 0 {
		limit = math.MaxInt64
	}
	negated := []float64{-float64(limit)}
	if t.Max(negated); -negated[0] >= math.MaxInt64 {
		return 0
	}
	return int64(-negated[0])
}

// SumNamed replaces the elements of v for named rows by their sums over all processes. Each process must have stored
// the elements of the named rows that it computes, and 0 for the other named rows, see [LocalRows].
func (t *Team) SumNamed(v []float64) {
	if t != nil {
		t.Sum(v[t.First:])
	}
}

// combine replaces each element of v by f over the elements of all processes. It uses the order of ranks, so that all
// processes get the same bits.
func (t *Team) combine(v []float64, f func(a, b float64) float64) {
	if t == nil || len(v) == 0 {
		return
	}
	vectors := make([]float64, t.Size()*len(v))
	t.AllGather(vectors, v)
	copy(v, vectors)
	for vectors = vectors[len(v):]; len(vectors) > 0; vectors = vectors[len(v):] {
		for i := range v {
			v[i] = f(v[i], vectors[i])
		}
	}
}

// ErrOther is the error of a computation that has failed in another process.
var ErrOther = errors.New("sparse: another process has failed")

// Agree returns err. If err is nil and another process has an error, it returns [ErrOther], so that all processes end a
// common computation.
func (t *Team) Agree(err error) error {
	failed := []float64{0}
	if err != nil {
		failed[0] = 1
	}
	if t.Max(failed); err == nil && failed[0] > 0 {
		return ErrOther
	}
	return err
}

// Concat returns the slices v of all processes, joined in the order of the processes. For a nil team it returns v.
func (t *Team) Concat(v []float64) []float64 {
	if t == nil {
		return v
	}
	longest := []float64{float64(len(v))}
	t.Max(longest)
	padded := make([]float64, 1+int(longest[0]))
	padded[0] = float64(len(v))
	copy(padded[1:], v)
	parts := make([]float64, t.Size()*len(padded))
	t.AllGather(parts, padded)
	var joined []float64
	for ; len(parts) > 0; parts = parts[len(padded):] {
		joined = append(joined, parts[1:1+int(parts[0])]...)
	}
	return joined
}

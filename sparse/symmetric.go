package sparse

import (
	"context"
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/internal/system"
)

// Symmetric is a checked symmetric matrix without zeros.
type Symmetric struct {
	*CSR
	Negative int64 // entries below 0
	Loops    int64 // entries on the diagonal
	Averaged int64 // pairs of mirror images that differed by rounding and now hold their mean
}

// nearlyEqual is the largest relative difference of two mirror images that counts as rounding.
const nearlyEqual = 1e-10

// NewSymmetric returns the n×n matrix of the arrays of [NewCSR], which it keeps. It checks that columns increase
// strictly in each row, that values are finite and not 0, and that the matrix is symmetric. Mirror images that differ
// by at most 1e-10 of the larger value are replaced by their mean, because products such as D·A·D of a symmetric A
// differ by rounding. The error wraps [ErrStructure]. Cost: one pass, and a second pass if values differ.
//
// Symmetry is checked with a sum of hashes in which mirror images cancel, so that rows are read in their order. A
// matrix that is not symmetric passes with probability 2⁻⁶⁴.
func NewSymmetric(ctx context.Context, n int, ptr []int64, col []uint32,
	val []float64, workers int) (*Symmetric, error) {
	if n < 0 || n > math.MaxUint32 {
		return nil, fmt.Errorf("%w: %d×%d", ErrStructure, n, n)
	}
	if err := checkPointers(n, ptr, col, val); err != nil {
		return nil, err
	}
	s := &Symmetric{CSR: &CSR{rows: n, cols: n, ptr: ptr, col: col, val: val}}
	s.cut()
	sums := make([]uint64, len(s.ranges))
	loops := make([]int64, len(s.ranges))
	negative := make([]int64, len(s.ranges))
	err := Sweep(ctx, s, workers, func(_ int, p Panel) (err error) {
		for i := p.Lo; i < p.Hi && err == nil; i++ {
			var sum uint64
			var diagonal int64
			cols, vals := p.Row(i - p.Lo)
			previous := int64(-1)
			if p.Piece > 0 {
				previous = int64(col[ptr[i]+int64(p.Piece)*MaxRange-1])
			}
			sum, diagonal, err = checkRow(uint32(i), n, previous, cols, vals)
			sums[p.Index] += sum
			loops[p.Index] += diagonal
			for _, v := range vals {
				if v < 0 {
					negative[p.Index]++
				}
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var sum uint64
	for i := range sums {
		sum += sums[i]
		s.Loops += loops[i]
		s.Negative += negative[i]
	}
	if sum != 0 {
		err = s.average(ctx)
	}
	return s, err
}

// checkRow checks the entries of row i that follow the column previous. It returns their contribution to the sum of
// hashes, and the number of entries on the diagonal.
func checkRow(i uint32, n int, previous int64, col []uint32,
	val []float64) (sum uint64, loops int64, err error) {
	one := math.Float64bits(1)
	for e, c := range col {
		if int64(c) <= previous || int64(c) >= int64(n) {
			return 0, 0, fmt.Errorf("%w: row %d, entry %d: column %d",
				ErrStructure, i, e, c)
		}
		previous = int64(c)
		v := one
		if val != nil {
			if x := val[e]; x == 0 || x-x != 0 {
				return 0, 0, badValue(int(i), c, x)
			}
			v = math.Float64bits(val[e])
		}
		switch {
		case c > i:
			sum += simd.PairHash(uint64(i)<<32|uint64(c), v)
		case c < i:
			sum -= simd.PairHash(uint64(c)<<32|uint64(i), v)
		default:
			loops++
		}
	}
	return sum, loops, nil
}

// average replaces mirror images that differ by rounding by their mean. It returns an error if an entry has no mirror
// image, or if the two differ by more.
func (s *Symmetric) average(ctx context.Context) error {
	next := make([]int64, s.rows) // first entry of each row above the diagonal without a mirror image yet
	for i := range s.rows {
		if i%MaxRange == 0 && ctx.Err() != nil {
			return sched.Cause(ctx)
		}
		e := s.ptr[i]
		end := s.ptr[i+1]
		for ; e < end && s.col[e] < uint32(i); e++ {
			j := s.col[e]
			mirror := next[j]
			if mirror == s.ptr[j+1] || s.col[mirror] != uint32(i) {
				return fmt.Errorf("%w: row %d, column %d has no mirror image",
					ErrStructure, i, j)
			}
			next[j]++
			if s.val == nil || s.val[e] == s.val[mirror] {
				continue
			}
			v := s.val[e]
			w := s.val[mirror]
			if math.Abs(v-w) > nearlyEqual*max(math.Abs(v), math.Abs(w)) {
				return fmt.Errorf("%w: row %d, column %d: value %v, and %v in its mirror image", ErrStructure, i, j, v, w)
			}
			s.Averaged++
			mean := v/2 + w/2
			s.val[e] = mean
			s.val[mirror] = mean
		}
		if e < end && s.col[e] == uint32(i) {
			e++
		}
		next[i] = e
	}
	for j, e := range next {
		if e != s.ptr[j+1] {
			return fmt.Errorf("%w: row %d, column %d has no mirror image",
				ErrStructure, j, s.col[e])
		}
	}
	return nil
}

// MakeColumns returns a slice of n column ids whose capacity has the spare ids that sweeps may read.
func MakeColumns(n int) []uint32 {
	return system.Make[uint32](n + spareIDs)[:n]
}

package sparse_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/sparse"
)

func TestNewCSRRefuses(t *testing.T) {
	for _, c := range []struct {
		rows, cols int
		ptr        []int64
		col        []uint32
		val        []float64
		want       string
	}{
		{rows: -1, cols: 1, ptr: nil, want: "-1×1"},
		{rows: 1, cols: -1, ptr: []int64{0, 0}, want: "1×-1"},
		{rows: 0, cols: math.MaxUint32 + 1, ptr: []int64{0}, want: "0×4294967296"},
		{rows: 2, cols: 2, ptr: []int64{0, 1}, col: []uint32{0}, want: "row pointers do not span the columns"},
		{rows: 1, cols: 2, ptr: []int64{1, 1}, col: []uint32{0}, want: "row pointers do not span the columns"},
		{rows: 1, cols: 2, ptr: []int64{0, 2}, col: []uint32{0}, want: "row pointers do not span the columns"},
		{rows: 1, cols: 2, ptr: []int64{0, 1}, col: []uint32{0}, val: []float64{1, 2}, want: "2 values for 1 entries"},
		{rows: 2, cols: 2, ptr: []int64{0, 2, 1}, col: []uint32{0}, want: "row pointer 1 is out of order"},
		{rows: 3, cols: 9, ptr: []int64{0, 2, 1, 3}, col: []uint32{0, 1, 2}, want: "row pointer 2 is out of order"},
		{rows: 2, cols: 2, ptr: []int64{0, 1, 2}, col: []uint32{1, 2}, want: "row 1, entry 0: column 2"},
		{rows: 1, cols: 9, ptr: []int64{0, 2}, col: []uint32{4, 4}, want: "row 0, entry 1: column 4"},
		{rows: 1, cols: 9, ptr: []int64{0, 2}, col: []uint32{4, 3}, want: "row 0, entry 1: column 3"},
	} {
		_, err := sparse.NewCSR(c.rows, c.cols, c.ptr, c.col, c.val)
		if !errors.Is(err, sparse.ErrStructure) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d×%d, pointers %v, columns %v: error %v, want %q", c.rows, c.cols, c.ptr, c.col, err, c.want)
		}
	}
	if _, err := sparse.NewCSR(2, 9, []int64{0, 1, 2}, []uint32{8, 0}, nil); err != nil {
		t.Error(err)
	}
}

func TestFromTripletsRefuses(t *testing.T) {
	for _, e := range []sparse.Triplet{{Row: 2, Col: 0}, {Row: 0, Col: 3}, {Val: math.NaN()}, {Val: math.Inf(-1)}} {
		if _, err := sparse.FromTriplets(2, 3, []sparse.Triplet{e}); !errors.Is(err, sparse.ErrStructure) {
			t.Errorf("entry (%d, %d, %v) in 2×3: error %v", e.Row, e.Col, e.Val, err)
		}
	}
	if _, err := sparse.FromTriplets(-1, 3, nil); !errors.Is(err, sparse.ErrStructure) {
		t.Errorf("-1 rows: error %v", err)
	}
}

func TestFromTriplets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 8).Draw(t, "rows"), rapid.IntRange(1, 8).Draw(t, "columns")
		dense, stored := mat.NewDense(rows, cols, nil), map[[2]int]bool{}
		entries := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) sparse.Triplet {
			return sparse.Triplet{
				Row: rapid.Uint32Range(0, uint32(rows-1)).Draw(t, "row"),
				Col: rapid.Uint32Range(0, uint32(cols-1)).Draw(t, "column"),
				Val: rapid.SampledFrom([]float64{0, 1, 1, 1e16, -1e16, 0.5}).Draw(t, "value"),
			}
		}), 0, 30).Draw(t, "entries")
		for _, e := range entries {
			i, j := int(e.Row), int(e.Col)
			dense.Set(i, j, dense.At(i, j)+e.Val)
			stored[[2]int{i, j}] = true
		}
		m, err := sparse.FromTriplets(rows, cols, entries)
		if err != nil {
			t.Fatal(err)
		}
		if m.NNZ() != int64(len(stored)) || !mat.Equal(m, dense) {
			t.Fatalf("%v with %d entries, want %v with %d", mat.Formatted(m), m.NNZ(), mat.Formatted(dense), len(stored))
		}
		weighted := false
		m.DoNonZero(func(i, j int, v float64) {
			if !stored[[2]int{i, j}] {
				t.Fatalf("(%d, %d) is stored", i, j)
			}
			weighted = weighted || v != 1
		})
		if m.Weighted() != weighted {
			t.Fatalf("weighted: %v", m.Weighted())
		}
	})
}

type byRows struct{ *mat.Dense }

func (byRows) At(int, int) float64 { panic("read element by element") }

func (m byRows) DoRowNonZero(i int, f func(i, j int, v float64)) {
	_, c := m.Dims()
	for j := c - 1; j >= 0; j-- {
		if v := m.Dense.At(i, j); v != 0 {
			f(i, j, v)
		}
	}
}

type byColumns struct{ *mat.Dense }

func (byColumns) At(int, int) float64 { panic("read element by element") }

func (m byColumns) DoColNonZero(j int, f func(i, j int, v float64)) {
	byRows{mat.DenseCopyOf(m.Dense.T())}.DoRowNonZero(j, func(j, i int, v float64) { f(i, j, v) })
}

type byEntries struct{ *mat.Dense }

func (byEntries) At(int, int) float64 { panic("read element by element") }

func (m byEntries) DoNonZero(f func(i, j int, v float64)) {
	r, _ := m.Dims()
	for i := r - 1; i >= 0; i-- {
		byRows(m).DoRowNonZero(i, f)
	}
}

func TestFromMat(t *testing.T) {
	rng := newRand(t, 11)
	random := func(n int) []float64 {
		v := vector(rng, n)
		for i := range v {
			v[i] = math.Abs(v[i])
			if rng.IntN(3) == 0 {
				v[i] = 0
			}
		}
		return v
	}
	dense := mat.NewDense(4, 6, random(24))
	csr, err := sparse.FromMat(dense)
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]mat.Matrix{
		"Dense":      dense,
		"transpose":  dense.T(),
		"SymDense":   mat.NewSymDense(4, random(16)),
		"TriDense":   mat.NewTriDense(4, mat.Upper, random(16)),
		"BandDense":  mat.NewBandDense(5, 5, 1, 2, random(20)),
		"Tridiag":    mat.NewTridiag(4, random(3), random(4), random(3)),
		"DiagDense":  mat.NewDiagDense(4, random(4)),
		"CSR":        csr,
		"rows only":  byRows{dense},
		"columns":    byColumns{dense},
		"entries":    byEntries{dense},
		"no entries": mat.NewDense(2, 2, nil),
	} {
		got, err := sparse.FromMat(m)
		if err != nil {
			t.Fatal(err)
		}
		want := m
		switch m := m.(type) {
		case byRows:
			want = m.Dense
		case byColumns:
			want = m.Dense
		case byEntries:
			want = m.Dense
		}
		if !mat.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, mat.Formatted(got), mat.Formatted(want))
		}
		for _, turned := range []mat.Matrix{m.T(), mat.Transpose{Matrix: m}, mat.Transpose{Matrix: mat.Transpose{Matrix: m.T()}}} {
			if got, err = sparse.FromMat(turned); err != nil {
				t.Fatal(err)
			}
			if !mat.Equal(got, mat.DenseCopyOf(want).T()) {
				t.Errorf("transpose of %s: %v, want %v", name, mat.Formatted(got), mat.Formatted(want.T()))
			}
		}
	}
}

func TestFromMatReadsNoElements(t *testing.T) {
	const n = 1 << 17 // squared, it takes minutes
	a, err := sparse.FromTriplets(n, n+1, []sparse.Triplet{{Row: 3, Col: n, Val: 2}, {Row: n - 1, Col: 0, Val: 5}})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []mat.Matrix{a.T(), mat.Transpose{Matrix: mat.Transpose{Matrix: a.T()}}} {
		got, err := sparse.FromMat(m)
		if err != nil {
			t.Fatal(err)
		}
		if r, c := got.Dims(); r != n+1 || c != n || got.NNZ() != 2 || got.At(n, 3) != 2 || got.At(0, n-1) != 5 {
			t.Errorf("%d×%d with %d entries", r, c, got.NNZ())
		}
	}
}

// Zeros are dropped, because they would connect components.
func TestFromMatRefuses(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		dense := mat.NewDense(3, 4, []float64{0, 1, 0, 0, 0, 0, 0, v, 0, 2, 0, 0})
		for _, m := range []mat.Matrix{dense, byRows{dense}, byColumns{dense}, byEntries{dense}, mat.NewDiagDense(2, []float64{1, v})} {
			for _, m := range []mat.Matrix{m, m.T(), mat.Transpose{Matrix: m}} {
				_, err := sparse.FromMat(m)
				if !errors.Is(err, sparse.ErrStructure) || !strings.HasSuffix(err.Error(), fmt.Sprintf("value %v", v)) {
					t.Errorf("%T with %v: error %v", m, v, err)
				}
			}
		}
	}
	stored, err := sparse.FromTriplets(2, 2, []sparse.Triplet{{Row: 0, Col: 1}, {Row: 1, Col: 1, Val: math.Copysign(0, -1)}, {Row: 1, Col: 0, Val: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := sparse.FromMat(stored); err != nil || got.NNZ() != 1 || got.Weighted() {
		t.Errorf("%v with %d entries: error %v", mat.Formatted(got), got.NNZ(), err)
	}
}

// twice visits every entry a second time, with the opposite sign except for the last entry.
type twice struct{ *mat.Dense }

func (m twice) DoNonZero(f func(i, j int, v float64)) {
	r, c := m.Dims()
	for i := range r {
		for j := range c {
			f(i, j, m.At(i, j))
			if i+j < r+c-2 {
				f(i, j, -m.At(i, j))
			}
		}
	}
}

func TestFromMatDropsWhatCancels(t *testing.T) {
	got, err := sparse.FromMat(twice{mat.NewDense(2, 2, []float64{0, 3, 3, 2})})
	if err != nil || got.NNZ() != 1 || got.At(1, 1) != 2 {
		t.Errorf("%v with %d entries: error %v", mat.Formatted(got), got.NNZ(), err)
	}
}

func TestTranspose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "rng seed"), 0))
		p := pattern{rows: rng.IntN(30), cols: 1 + rng.IntN(30), mean: rng.IntN(5), weighted: rng.IntN(2) == 0}
		m := random(t, rng, p)
		mt := m.Transpose()
		if p.rows > 0 && !mat.Equal(mt, m.T()) || mt.NNZ() != m.NNZ() || mt.Weighted() != m.Weighted() {
			t.Fatalf("the transpose of %v is %v", mat.Formatted(m), mat.Formatted(mt))
		}
		var ptr, col, val = []int64{0}, []uint32{}, []float64(nil)
		for i := range p.cols {
			c, v := mt.Row(i)
			col, val = append(col, c...), append(val, v...)
			ptr = append(ptr, int64(len(col)))
		}
		if !mt.Weighted() {
			val = nil
		}
		if _, err := sparse.NewCSR(p.cols, p.rows, ptr, col, val); err != nil {
			t.Fatal(err)
		}
	})
}

func TestCSRElements(t *testing.T) {
	m := random(t, newRand(t, 13), pattern{rows: 3, cols: 4, mean: 2})
	for _, p := range [][2]int{{-1, 0}, {0, -1}, {3, 0}, {0, 4}} {
		panics(t, outside, func() { m.At(p[0], p[1]) })
	}
}

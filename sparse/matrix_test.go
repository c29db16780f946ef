package sparse_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

type pattern struct {
	rows, cols int
	mean       int // mean entries of a row
	hubs       []int
	weighted   bool
}

func random(t interface{ Fatal(...any) }, rng *rand.Rand, p pattern) *sparse.CSR {
	var entries []sparse.Triplet
	for i := range p.rows {
		n := rng.IntN(2*p.mean + 1)
		for range n {
			entries = append(entries, sparse.Triplet{Row: uint32(i), Col: rng.Uint32N(uint32(p.cols)), Val: 1})
		}
	}
	for _, i := range p.hubs {
		for j := range p.cols {
			entries = append(entries, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: 1})
		}
	}
	m, err := sparse.FromTriplets(p.rows, p.cols, entries)
	if err != nil {
		t.Fatal(err)
	}
	ptr, col := []int64{0}, []uint32{}
	var val []float64
	for i := range p.rows {
		c, _ := m.Row(i)
		col = append(col, c...)
		ptr = append(ptr, int64(len(col)))
	}
	if p.weighted {
		for range col {
			val = append(val, rng.NormFloat64())
		}
	}
	m, err = sparse.NewCSR(p.rows, p.cols, ptr, col, val)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestDegrees(t *testing.T) {
	for name, p := range patterns {
		a := random(t, newRand(t, 12), p)
		got, err := sparse.Degrees(t.Context(), a, 2)
		if err != nil {
			t.Fatal(err)
		}
		for i := range p.rows {
			col, val := a.Row(i)
			want, size := float64(len(col)), float64(len(col))
			if val != nil {
				want, size = 0, 0
				for _, v := range val {
					want, size = want+math.Abs(v), size+math.Abs(v)
				}
			}
			if math.Abs(got[i]-want) > float64(len(col))*0x1p-52*size {
				t.Errorf("%s: row %d adds up to %v, want %v", name, i, got[i], want)
			}
		}
	}
}

func newRand(t testing.TB, seed uint64) *rand.Rand {
	t.Helper()
	t.Logf("rng seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

var patterns = map[string]pattern{
	"nothing":     {rows: 0, cols: 0},
	"no entries":  {rows: 20000, cols: 3},
	"one row":     {rows: 1, cols: 9, mean: 4},
	"one range":   {rows: 60, cols: 50, mean: 3},
	"weighted":    {rows: 60, cols: 60, mean: 3, weighted: true},
	"many ranges": {rows: 21000, cols: 300, mean: 4},
	"hubs":        {rows: 40, cols: 40000, mean: 5, hubs: []int{0, 17, 18, 39}, weighted: true},
	"exact piece": {rows: 3, cols: 2 * sparse.MaxRange, mean: 1, hubs: []int{1}},
}

func TestCSRKeepsTheContract(t *testing.T) {
	for name, p := range patterns {
		t.Run(name, func(t *testing.T) {
			m := random(t, newRand(t, 1), p)
			testgraph.TestMatrix(t, func() sparse.Matrix { return m }, m)
		})
	}
}

func TestCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := rapid.SliceOfN(rapid.OneOf(
			rapid.Just(int64(0)),
			rapid.Int64Range(0, 9),
			rapid.Int64Range(sparse.MaxRange/3, 4*sparse.MaxRange),
			rapid.SampledFrom([]int64{sparse.MaxRange - 1, sparse.MaxRange, sparse.MaxRange + 1, 2 * sparse.MaxRange}),
		), 0, 40).Draw(t, "lengths")
		if rapid.Bool().Draw(t, "many empty rows") {
			length = append(length, make([]int64, 2*sparse.MaxRange+5)...)
		}
		ranges := sparse.Cut(len(length), func(i int) int64 { return length[i] })
		row, piece := 0, 0
		for at, r := range ranges {
			if r.Lo != row || r.Piece != piece || r.Entries > sparse.MaxRange || r.Hi <= r.Lo || r.Hi-r.Lo > sparse.MaxRange {
				t.Fatalf("range %d is %+v after row %d, piece %d", at, r, row, piece)
			}
			if length[r.Lo] > sparse.MaxRange {
				rest := length[r.Lo] - int64(piece)*sparse.MaxRange
				if int64(r.Entries) != min(rest, sparse.MaxRange) || r.Hi != r.Lo+1 || int64(r.Pieces) != (length[r.Lo]+sparse.MaxRange-1)/sparse.MaxRange {
					t.Fatalf("range %d is %+v of a row of %d entries", at, r, length[r.Lo])
				}
				piece++
				if piece == r.Pieces {
					row, piece = r.Hi, 0
				}
				continue
			}
			var sum int64
			for _, n := range length[r.Lo:r.Hi] {
				sum += n
			}
			if int64(r.Entries) != sum || r.Pieces != 1 {
				t.Fatalf("range %d is %+v over %d entries", at, r, sum)
			}
			full := r.Hi == len(length) || r.Hi-r.Lo == sparse.MaxRange || sum+length[r.Hi] > sparse.MaxRange
			if !full {
				t.Fatalf("range %d is %+v and had room for the next row's %d entries", at, r, length[r.Hi])
			}
			row = r.Hi
		}
		if row != len(length) || piece != 0 {
			t.Fatalf("the cut ends at row %d of %d, piece %d", row, len(length), piece)
		}
	})
}

package classify

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/sparse"
	"gonum.org/v1/gonum/mat"
)

func TestGrams(t *testing.T) {
	p := clouds(3, 23, 7, 2, 1)
	dense := p.gram()
	wide := mat.NewDense(25, 30, nil)
	narrow := &denseGram[float32]{Rows: 23, Cols: 23, Stride: 24, Data: make([]float32, 23*24)}
	for i := range 23 {
		for j := range 23 {
			v := mat.Dot(mat.NewVecDense(7, p.f.Row(i)), mat.NewVecDense(7, p.f.Row(j)))
			within(t, "kernel value", dense.Data[i*23+j], v, 1e-14*(1+math.Abs(v)))
			wide.Set(i+1, j+2, dense.Data[i*23+j])
			narrow.Data[i*24+j] = float32(dense.Data[i*23+j])
		}
	}
	grams := map[string]Gram{
		"features":      LinearGram(p.f),
		"dense matrix":  DenseGram(sparse.BlockOfDense(wide.Slice(1, 24, 2, 25).(*mat.Dense))),
		"single values": narrow,
	}
	rng := rand.New(rand.NewPCG(1, 1))
	want, row, part := make([]float64, 23), make([]float64, 23), make([]float64, 9)
	for name, k := range grams {
		for i := range 23 {
			dense.RowTo(want, i)
			k.RowTo(row, i)
			if name != "single values" && (k.Len() != 23 || !reflect.DeepEqual(row, want)) {
				t.Fatalf("%s: row %d of %d differs", name, i, k.Len())
			}
			items := rng.Perm(23)[:9]
			k.PartTo(part, i, items)
			for j, item := range items {
				v := want[item]
				if name == "single values" {
					v = float64(float32(v))
				}
				if part[j] != v {
					t.Fatalf("%s: K(%d, %d) = %v, want %v", name, i, item, part[j], v)
				}
			}
		}
	}
	panics(t, badShape, func() { DenseGram(sparse.NewBlock[float64](2, 3)) })
	panics(t, badLength, func() { dense.RowTo(make([]float64, 3), 0) })
	panics(t, badLength, func() { LinearGram(p.f).RowTo(make([]float64, 3), 0) })
}

func TestRowCache(t *testing.T) {
	t.Run("float32", testRowCache[float32])
	t.Run("float64", testRowCache[float64])
}

func testRowCache[T sparse.Float](t *testing.T) {
	const n = 40
	p := clouds(9, n, 3, 2, 1)
	k := p.gram()
	for _, rows := range []int64{1, 2, 5, n} {
		rng := rand.New(rand.NewPCG(uint64(rows), 1))
		var c rowCache[T]
		for range 3 {
			item := rng.Perm(n)[:20+rng.IntN(n-20)]
			c.reset(k, item, rows*budget.Vector[T](len(item)))
			var held []T
			for range 2000 {
				if rng.IntN(4) == 0 {
					a, b := rng.IntN(len(item)), rng.IntN(len(item))
					if a != b {
						a, b = min(a, b), max(a, b)
						c.swap(a, b)
						item[a], item[b] = item[b], item[a]
					}
					held = nil
					continue
				}
				i, columns := rng.IntN(len(item)), 1+rng.IntN(len(item))
				before := append([]T(nil), held...)
				row, from, kept := held, 0, rng.IntN(4) > 0
				if kept {
					row = c.row(i, columns)
				} else {
					from = len(item) - columns
					row = c.after(i, from)
				}
				for j, v := range row {
					if want := T(k.Data[item[i]*n+item[from+j]]); v != want {
						t.Fatalf("row %d, column %d: %v, want %v", i, from+j, v, want)
					}
				}
				if len(row) != columns {
					t.Fatalf("%d columns, want %d", len(row), columns)
				}
				if !reflect.DeepEqual(append([]T(nil), held...), before) {
					t.Fatal("the row asked for before is gone")
				}
				if held = nil; kept {
					held = row
				}
			}
			if got := len(c.owner); got > int(max(2, rows)) {
				t.Fatalf("%d rows held, limit %d", got, rows)
			}
		}
	}
}

type ordinals struct{ Gram }

func (ordinals) PartTo(dst []float64, i int, items []int) {
	for j, item := range items {
		dst[j] = float64(i + item)
	}
}

func TestRowCacheLongRows(t *testing.T) {
	var c rowCache[float64]
	for _, n := range []int{10, 1<<14 + 5, 3 << 14, 7} {
		item := make([]int, n)
		for i := range item {
			item[i] = i
		}
		c.reset(ordinals{}, item, int64(3*8*n))
		for _, i := range []int{0, 5, 3, 0, n - 1} {
			if got, want := c.row(i, n)[n-1], float64(i+n-1); got != want {
				t.Errorf("%d items: last value of row %d is %v, want %v", n, i, got, want)
			}
		}
	}
}

func TestGramOfFeatures(t *testing.T) {
	for _, shape := range [][2]int{{1, 1}, {6, 3}, {67, 5}, {131, 600}} {
		rng := rand.New(rand.NewPCG(3, uint64(shape[0])))
		f := &sparse.Block[float32]{Rows: shape[0], Cols: shape[1], Stride: shape[1] + 2, Data: make([]float32, shape[0]*(shape[1]+2))}
		for i := range f.Data {
			f.Data[i] = float32(rng.NormFloat64())
		}
		one, err := rowProducts(t.Context(), f, f, 1)
		if err != nil {
			t.Fatal(err)
		}
		many, err := rowProducts(t.Context(), f, f, 7)
		if err != nil || !reflect.DeepEqual(one, many) {
			t.Fatal("values depend on the number of workers", err)
		}
		row := make([]float64, f.Rows)
		for i := range f.Rows {
			LinearGram(f).RowTo(row, i)
			for j, v := range row {
				within(t, "kernel value", one.Data[i*f.Rows+j], v, 1e-13*float64(f.Cols))
				if one.Data[i*f.Rows+j] != one.Data[j*f.Rows+i] {
					t.Fatalf("K(%d, %d) is not K(%d, %d)", i, j, j, i)
				}
			}
		}
	}
}

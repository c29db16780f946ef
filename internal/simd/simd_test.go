package simd

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

type variant struct {
	name string
	use  func()
}

func eachVariant(t *testing.T, test func(*testing.T)) {
	for _, v := range variants() {
		v.use()
		t.Run(v.name, test)
	}
	variants()[0].use()
}

// guard surrounds every slice of a loop: a number that is not the result of any sum.
const guard = 12345

func guarded[E comparable](t *testing.T, n int, value E) (s []E, check func()) {
	t.Helper()
	const margin = 40
	all := make([]E, n+2*margin)
	for i := range all {
		all[i] = value
	}
	return all[margin : margin+n : margin+n], func() {
		t.Helper()
		for i, v := range all {
			if (i < margin || i >= margin+n) && v != value {
				t.Fatalf("element %d of %d was written", i-margin, n)
			}
		}
	}
}

type graph[T Float] struct {
	n   int // rows of x
	ptr []int64
	col []uint32
	val []T
}

func newGraph[T Float](rng *rand.Rand, rows, mean int) graph[T] {
	g := graph[T]{n: 1 + rng.IntN(50), ptr: []int64{int64(rng.IntN(1000))}}
	for range rows {
		for range rng.IntN(2*mean + 1) {
			g.col = append(g.col, rng.Uint32N(uint32(g.n)))
			g.val = append(g.val, T(rng.NormFloat64()))
		}
		g.ptr = append(g.ptr, g.ptr[0]+int64(len(g.col)))
	}
	return g
}

func bitsOf[T Float](v T) uint64 { return math.Float64bits(float64(v)) }

func testGather[T Float](t *testing.T, weighted bool) {
	eachVariant(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		for k := 1; k <= 150; k++ {
			for _, rows := range []int{0, 1, 7, 60} {
				g := newGraph[T](rng, rows, rng.IntN(9))
				dstStride, stride := k+rng.IntN(4), k+rng.IntN(4)
				col, checkCol := guarded[uint32](t, len(g.col), math.MaxUint32)
				copy(col, g.col)
				if rng.IntN(2) == 0 {
					col = append(make([]uint32, 0, len(col)+300), col...)
				}
				x, checkX := guarded(t, (g.n-1)*stride+k, T(guard))
				dst, checkDst := guarded(t, max(0, (rows-1)*dstStride+k), T(guard))
				scale, checkScale := guarded(t, rows, T(guard))
				for i := range x {
					x[i] = T(rng.NormFloat64())
				}
				for r := range scale {
					scale[r] = T(rng.NormFloat64())
				}
				to, from := Rows[T]{dst, dstStride}, Rows[T]{x, stride}
				if weighted {
					Gather(to, k, scale, from, g.ptr, col, g.val)
				} else {
					Gather(to, k, scale, from, g.ptr, col, nil)
				}
				for r := range rows {
					for j := range dstStride {
						if r == rows-1 && j >= k {
							break
						}
						want := T(guard)
						if j < k {
							var sum T
							for e := g.ptr[r] - g.ptr[0]; e < g.ptr[r+1]-g.ptr[0]; e++ {
								v := x[int(g.col[e])*stride+j]
								if weighted {
									v *= g.val[e]
								}
								sum += T(v)
							}
							want = scale[r] * sum
						}
						if got := dst[r*dstStride+j]; bitsOf(got) != bitsOf(want) {
							t.Fatalf("width %d, %d rows: element (%d, %d) is %v, want %v", k, rows, r, j, got, want)
						}
					}
				}
				checkCol()
				checkX()
				checkDst()
				checkScale()
			}
		}
	})
}

func TestGather(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	t.Run("float32", func(t *testing.T) { testGather[float32](t, false) })
	t.Run("float64", func(t *testing.T) { testGather[float64](t, false) })
}

func TestGatherOfValues(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	t.Run("float32", func(t *testing.T) { testGather[float32](t, true) })
	t.Run("float64", func(t *testing.T) { testGather[float64](t, true) })
}

// Rows have equal lengths, or one row is as long as all other rows together and is first, last or in the middle. Rows
// without entries are everywhere.
func testLongRows[T Float](t *testing.T, weighted bool) {
	eachVariant(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		for _, k := range []int{1, 2, 3, 4, 8, 16} {
			for _, lengths := range [][]int{
				{700, 700}, {0, 2000}, {2000, 0}, {0, 0, 2000, 0, 0, 0}, {600, 1, 700, 0}, {1, 1, 1, 4000},
				{4000, 1, 1, 1}, {500, 3000, 20, 0, 900, 31}, {100, 0, 100, 99, 101, 0, 0, 250, 600, 3, 70, 80, 90, 100},
			} {
				g := graph[T]{n: 40, ptr: []int64{3}}
				for _, n := range lengths {
					for range n {
						g.col = append(g.col, rng.Uint32N(uint32(g.n)))
						g.val = append(g.val, T(rng.NormFloat64()))
					}
					g.ptr = append(g.ptr, g.ptr[len(g.ptr)-1]+int64(n))
				}
				rows, dstStride := len(lengths), k+rng.IntN(3)
				col := append(make([]uint32, 0, len(g.col)+rng.IntN(2)*400), g.col...)
				x, dst, scale := make([]T, g.n*k), slices.Repeat([]T{guard}, rows*dstStride), make([]T, rows)
				for i := range x {
					x[i] = T(rng.NormFloat64())
				}
				for r := range scale {
					scale[r] = T(rng.NormFloat64())
				}
				if weighted {
					Gather(Rows[T]{dst, dstStride}, k, scale, Rows[T]{x, k}, g.ptr, col, g.val)
				} else {
					Gather(Rows[T]{dst, dstStride}, k, scale, Rows[T]{x, k}, g.ptr, col, nil)
				}
				for i, got := range dst {
					r, j, want := i/dstStride, i%dstStride, T(guard)
					if j < k {
						want = 0
						for e := g.ptr[r] - g.ptr[0]; e < g.ptr[r+1]-g.ptr[0]; e++ {
							v := x[int(g.col[e])*k+j]
							if weighted {
								v *= g.val[e]
							}
							want += T(v)
						}
						want *= scale[r]
					}
					if bitsOf(got) != bitsOf(want) {
						t.Fatalf("width %d, rows of %v entries: element (%d, %d) is %v, want %v", k, lengths, r, j, got, want)
					}
				}
			}
		}
	})
}

func TestLongRows(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testLongRows[float32](t, false) })
	t.Run("float64", func(t *testing.T) { testLongRows[float64](t, false) })
	t.Run("float32 weighted", func(t *testing.T) { testLongRows[float32](t, true) })
	t.Run("float64 weighted", func(t *testing.T) { testLongRows[float64](t, true) })
}

func testAddRows[T Float](t *testing.T) {
	eachVariant(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		for k := 1; k <= 70; k++ {
			for _, rows := range []int{0, 1, 2, 9} {
				matrix := func() (Rows[T], func()) {
					stride := k + rng.IntN(4)
					data, check := guarded(t, max(0, (rows-1)*stride+k), T(guard))
					for r := range rows {
						for j := range k {
							data[r*stride+j] = T(rng.NormFloat64())
						}
					}
					return Rows[T]{data, stride}, check
				}
				dst, checkDst := matrix()
				a, checkA := matrix()
				x, checkX := matrix()
				switch rng.IntN(4) {
				case 0:
					a = dst
				case 1:
					x = dst
				case 2:
					a.Stride = 0
				case 3:
					x.Stride = 0
				}
				scale := make([]T, max(1, rows))
				if rng.IntN(3) == 0 {
					scale = scale[:1]
				}
				for r := range scale {
					scale[r] = T(rng.NormFloat64())
				}
				want := slices.Clone(dst.Data)
				for r := range rows {
					f := scale[min(r, len(scale)-1)]
					for j := range k {
						want[r*dst.Stride+j] = a.Data[r*a.Stride+j] + T(f*x.Data[r*x.Stride+j])
					}
				}
				AddRows(dst, rows, k, a, scale, x)
				for i := range want {
					if bitsOf(dst.Data[i]) != bitsOf(want[i]) {
						t.Fatalf("width %d, %d rows: element %d is %v, want %v", k, rows, i, dst.Data[i], want[i])
					}
				}
				checkDst()
				checkA()
				checkX()
			}
		}
	})
}

func TestAddRowsInTurn(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for k := 1; k < 40; k++ {
		x, scale, got := make([]float64, 5*(k+3)), make([]float64, 5), make([]float64, k)
		for _, s := range [][]float64{x, scale, got} {
			for i := range s {
				s[i] = rng.NormFloat64()
			}
		}
		want := slices.Clone(got)
		for r, f := range scale {
			for j := range want {
				want[j] += float64(f * x[r*(k+3)+j])
			}
		}
		sum := Rows[float64]{Data: got}
		AddRows(sum, 5, k, sum, scale, Rows[float64]{Data: x, Stride: k + 3})
		if !slices.Equal(got, want) {
			t.Fatalf("%d columns: %v, want %v", k, got, want)
		}
	}
}

func TestAddRows(t *testing.T) {
	t.Run("float32", testAddRows[float32])
	t.Run("float64", testAddRows[float64])
}

func testScaleTo[T Float](t *testing.T) {
	eachVariant(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 8))
		for n := range 40 {
			dst, check := guarded(t, n, T(guard))
			x, alpha := make([]float64, n), rng.NormFloat64()
			for i := range x {
				x[i] = rng.NormFloat64()
			}
			ScaleTo(dst, alpha, x)
			for i, v := range x {
				if want := T(alpha * v); bitsOf(dst[i]) != bitsOf(want) {
					t.Fatalf("number %d of %d is %v, want %v", i, n, dst[i], want)
				}
			}
			check()
		}
	})
}

func TestScaleTo(t *testing.T) {
	t.Run("float32", testScaleTo[float32])
	t.Run("float64", testScaleTo[float64])
}

// encode is the inverse of Decode, with the spare bytes that Decode requires.
func encode(ids []uint32, widths [4]uint8, idBits uint8) (sel, data []byte) {
	sel, data = make([]byte, (len(ids)+3)/4), make([]byte, len(ids)*4+9)
	modulus := uint32(1)<<idBits - 1
	last, pos := modulus, 0
	for e, id := range ids {
		d := (id - last - 1) & modulus
		last = id
		best := -1
		for s, w := range widths {
			if bits.Len32(d) <= int(w) && (best < 0 || w < widths[best]) {
				best = s
			}
		}
		sel[e/4] |= byte(best) << (2 * (e % 4))
		word := binary.LittleEndian.Uint64(data[pos/8:])
		binary.LittleEndian.PutUint64(data[pos/8:], word|uint64(d)<<(pos%8))
		pos += int(widths[best])
	}
	spare := slices.Repeat([]byte{0xa5}, 68)
	return append(sel, spare...), append(data[:(pos+7)/8], spare...)
}

func decodeOneByOne(dst []uint32, sel, data []byte, widths [4]uint8, idBits uint8) {
	modulus := uint32(1)<<idBits - 1
	last, pos := modulus, uint(0)
	for e := range dst {
		width := widths[sel[e/4]>>(2*(e%4))&3]
		d := uint32(binary.LittleEndian.Uint64(data[pos>>3:])>>(pos&7)) & (1<<width - 1)
		pos += uint(width)
		last = (last + 1 + d) & modulus
		dst[e] = last
	}
}

func decodedCounts(n int) (counts []int) {
	for i := range n {
		counts = append(counts, i)
	}
	return append(counts, 240, 241, 255, 256, 257, 272, 273, 496, 511, 512, 513, 768, 1024, 16384)
}

func TestDecode(t *testing.T) {
	eachVariant(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		for _, c := range []struct {
			widths [4]uint8
			bits   uint8
		}{
			{[4]uint8{4, 8, 12, 20}, 20},
			{[4]uint8{0, 5, 11, 19}, 19},
			{[4]uint8{19, 11, 5, 0}, 19},
			{[4]uint8{0, 0, 0, 1}, 1},
			{[4]uint8{31, 31, 31, 31}, 31},
			{[4]uint8{0, 7, 30, 31}, 31},
			{[4]uint8{1, 2, 31, 32}, 32},
			{[4]uint8{0, 0, 0, 0}, 0},
		} {
			modulus := uint32(1)<<c.bits - 1
			for _, n := range decodedCounts(200) {
				ids := make([]uint32, n)
				for i := range ids {
					ids[i] = rng.Uint32() >> rng.IntN(32) & modulus
					if i > 0 && rng.IntN(2) == 0 {
						ids[i] = (ids[i-1] + 1 + rng.Uint32N(40)) & modulus
					}
				}
				sel, data := encode(ids, c.widths, c.bits)
				defined := make([]uint32, n)
				decodeOneByOne(defined, sel, data, c.widths, c.bits)
				if !slices.Equal(defined, ids) {
					t.Fatalf("widths %v, %d ids: coded %v, want %v", c.widths, n, defined, ids)
				}
				dst, check := guarded[uint32](t, n+16, guard)
				Decode(dst, n, sel, data, c.widths, c.bits)
				if !slices.Equal(dst[:n], ids) {
					t.Fatalf("widths %v, %d ids: %v, want %v", c.widths, n, dst[:n], ids)
				}
				check()
			}
		}
	})
}

func TestDecodeByHand(t *testing.T) {
	eachVariant(t, func(t *testing.T) {
		// Distances 5, 0, 2, 0 and −4 mod 16, minus one each after the first:
		// ids 5, 6, 9, 10, 7 in widths 3, 0, 2, 0, 4 under selectors 2, 0, 1, 0, 3.
		sel := append([]byte{0b00_01_00_10, 0b11}, make([]byte, 68)...)
		data := append([]byte{0b100_10_101, 0b1}, make([]byte, 68)...)
		dst := make([]uint32, 5+16)
		Decode(dst, 5, sel, data, [4]uint8{0, 2, 3, 4}, 4)
		if want := []uint32{5, 6, 9, 10, 7}; !slices.Equal(dst[:5], want) {
			t.Errorf("%v, want %v", dst[:5], want)
		}
	})
}

func TestHashPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 0))
	all := make([]uint32, 500)
	for i := range all {
		all[i] = rng.Uint32()
	}
	all[0], all[1] = 0, math.MaxUint32
	eachVariant(t, func(t *testing.T) {
		for n := range 200 {
			start, number := rng.IntN(100), uint64(rng.Uint32())
			ids := all[start : start+n : start+n]
			var row, column uint64
			for _, id := range ids {
				for _, x := range []struct {
					sum  *uint64
					pair uint64
				}{{&row, number<<32 + uint64(id)}, {&column, uint64(id)<<32 + number}} {
					h := (x.pair ^ x.pair>>32) * 0xd6e8feb86659fd93
					h = (h ^ math.Float64bits(1) ^ h>>29) * 0x9e3779b97f4a7c15
					*x.sum += h ^ h>>32
				}
			}
			if got := HashPairs(number<<32, 0, ids); got != row {
				t.Fatalf("row %d, %d ids from %d on: %x, want %x", number, n, start, got, row)
			}
			if got := HashPairs(number, 32, ids); got != column {
				t.Fatalf("column %d, %d ids from %d on: %x, want %x", number, n, start, got, column)
			}
		}
	})
}

func TestChecksum(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 0))
	all := make([]byte, 5000)
	for i := range all {
		all[i] = byte(rng.Uint32())
	}
	eachVariant(t, func(t *testing.T) {
		for n := range 2600 {
			start, sum := rng.IntN(100), rng.Uint32()
			data := all[start : start+n : start+n]
			if got, want := Checksum(sum, data), crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), data); got != want {
				t.Fatalf("%d bytes from %d on: %08x, want %08x", n, start, got, want)
			}
		}
		if got := Checksum(0, []byte("123456789")); got != 0xe3069283 {
			t.Errorf("%08x", got)
		}
	})
}

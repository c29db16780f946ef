package simd

// Float is the element type of the loops.
type Float interface{ float32 | float64 }

// Rows is a group of consecutive rows of a dense matrix: element (i, j) is Data[i·Stride+j].
type Rows[T Float] struct {
	Data   []T
	Stride int
}

// RowsOf returns the rows of a matrix from row i on.
func RowsOf[T Float](data []T, stride, i int) Rows[T] {
	return Rows[T]{data[min(i*stride, len(data)):], stride}
}

// Gather stores scaled sums of rows of x in dst. Row r of dst, r < len(ptr)−1, is the sum over the entries of row r,
// added in the order of the entries:
//
//	dst[r][j] = scale[r]·Σ_e val[e]·x[col[e]][j],  ptr[r] ≤ e + ptr[0] < ptr[r+1],  j < k
//
// A nil val means ones. ptr[0] need not be 0: the first entry has the id col[0] and the value val[0]. dst must not
// overlap x.
//
// Gather does not check ids: x must have every row that an id refers to. Prefetches may read the elements between
// length and capacity of col.
func Gather[T Float](dst Rows[T], k int, scale []T, x Rows[T], ptr []int64,
	col []uint32, val []T) {
	g := gather[T]{dst: dst, x: x, scale: scale, ptr: ptr, col: col, val: val}
	g.run(k)
}

// GatherOnto is [Gather] with sums that begin with the values in dst:
//
//	dst[r][j] = scale[r]·(dst[r][j] + Σ_e val[e]·x[col[e]][j])
func GatherOnto[T Float](dst Rows[T], k int, scale []T, x Rows[T], ptr []int64,
	col []uint32, val []T) {
	g := gather[T]{dst: dst, x: x, scale: scale, ptr: ptr, col: col, val: val,
		onto: true}
	g.run(k)
}

// gather has the arguments of Gather or GatherOnto.
type gather[T Float] struct {
	dst, x Rows[T]
	scale  []T
	ptr    []int64
	col    []uint32
	val    []T  // nil: ones
	onto   bool // sums begin with the values in dst
}

// plain gathers k columns in plain Go: eight columns at a time, then four, then one. The sums of eight columns stay in
// registers.
func (g *gather[T]) plain(k int) {
	x := g.x
	column := 0
	for ; column+8 <= k; column += 8 {
		for r := range len(g.ptr) - 1 {
			col, val := g.row(r)
			y := (*[8]T)(g.dst.Data[r*g.dst.Stride+column:])
			w := T(1)
			if !g.onto {
				*y = [8]T{}
			}
			a0 := y[0]
			a1 := y[1]
			a2 := y[2]
			a3 := y[3]
			a4 := y[4]
			a5 := y[5]
			a6 := y[6]
			a7 := y[7]
			for e, c := range col {
				v := (*[8]T)(x.Data[int(c)*x.Stride+column:])
				if val != nil {
					w = val[e]
				}
				a0 += T(w * v[0])
				a1 += T(w * v[1])
				a2 += T(w * v[2])
				a3 += T(w * v[3])
				a4 += T(w * v[4])
				a5 += T(w * v[5])
				a6 += T(w * v[6])
				a7 += T(w * v[7])
			}
			f := g.scale[r]
			y[0] = f * a0
			y[1] = f * a1
			y[2] = f * a2
			y[3] = f * a3
			y[4] = f * a4
			y[5] = f * a5
			y[6] = f * a6
			y[7] = f * a7
		}
	}
	for ; column+4 <= k; column += 4 {
		for r := range len(g.ptr) - 1 {
			col, val := g.row(r)
			y := (*[4]T)(g.dst.Data[r*g.dst.Stride+column:])
			w := T(1)
			if !g.onto {
				*y = [4]T{}
			}
			a0 := y[0]
			a1 := y[1]
			a2 := y[2]
			a3 := y[3]
			for e, c := range col {
				v := (*[4]T)(x.Data[int(c)*x.Stride+column:])
				if val != nil {
					w = val[e]
				}
				a0 += T(w * v[0])
				a1 += T(w * v[1])
				a2 += T(w * v[2])
				a3 += T(w * v[3])
			}
			f := g.scale[r]
			y[0] = f * a0
			y[1] = f * a1
			y[2] = f * a2
			y[3] = f * a3
		}
	}
	for ; column < k; column++ {
		for r := range len(g.ptr) - 1 {
			col, val := g.row(r)
			y := &g.dst.Data[r*g.dst.Stride+column]
			w := T(1)
			a := T(0)
			if g.onto {
				a = *y
			}
			for e, c := range col {
				if val != nil {
					w = val[e]
				}
				a += T(w * x.Data[int(c)*x.Stride+column])
			}
			*y = g.scale[r] * a
		}
	}
}

func (g *gather[T]) row(r int) (col []uint32, val []T) {
	lo, hi := g.ptr[r]-g.ptr[0], g.ptr[r+1]-g.ptr[0]
	if g.val != nil {
		val = g.val[lo:hi]
	}
	return g.col[lo:hi], val
}

func plainGatherTile[T Float](dst Rows[T], k int, x Rows[T], ptr []int64,
	col []uint16, val []T) {
	for r := range len(ptr) - 1 {
		lo, hi := ptr[r]-ptr[0], ptr[r+1]-ptr[0]
		weights := val
		if val != nil {
			weights = val[lo:hi]
		}
		addNamed(dst.Data[r*dst.Stride:][:k], x, col[lo:hi], weights)
	}
}

func addNamed[T Float](y []T, x Rows[T], ids []uint16, val []T) {
	w := T(1)
	for e, c := range ids {
		if val != nil {
			w = val[e]
		}
		for j, v := range x.Data[int(c)*x.Stride:][:len(y)] {
			y[j] += T(w * v)
		}
	}
}

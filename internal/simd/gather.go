package simd

// Float is the element type of the loops.
type Float interface{ float32 | float64 }

// Rows is a run of rows of a dense matrix: element (i, j) is Data[i·Stride+j].
type Rows[T Float] struct {
	Data   []T
	Stride int
}

// GatherSum stores in row r of dst, for every r < len(ptr)−1, the scaled sum
// of the rows of x that its run of col names, added in the order of the ids:
//
//	dst[r][j] = scale[r]·Σ_e x[col[e]][j],  ptr[r] ≤ e + ptr[0] < ptr[r+1],  j < k
//
// Only differences of ptr matter: col[0] is the entry at ptr[0]. dst must not
// overlap x.
//
// Ids are not checked: the caller vouches that x has every row col names. What
// lies between length and capacity of col may be read, and is never used.
func GatherSum[T Float](dst Rows[T], k int, scale []T, x Rows[T], ptr []int64, col []uint32) {
	gatherSum(dst, k, scale, x, ptr, col)
}

// GatherTile is GatherSum for sums that go on from what dst holds, without factors,
// for at most 65,536 rows of x that are in a cache of the core: ids have 16 bits, and
// nothing is prefetched. Products with the values of the entries are rounded before
// they are added; nil stands for ones.
//
//	dst[r][j] = dst[r][j] + Σ_e val[e]·x[col[e]][j]
func GatherTile[T Float](dst Rows[T], k int, x Rows[T], ptr []int64, col []uint16, val []T) {
	gatherTile(dst, k, x, ptr, col, val)
}

// GatherSumOnto is GatherSum, or GatherWeighted if there are values, for sums that go
// on from what dst holds:
//
//	dst[r][j] = scale[r]·(dst[r][j] + Σ_e val[e]·x[col[e]][j])
//
// What dst held is added to first, as by a sum in the order of all ids.
func GatherSumOnto[T Float](dst Rows[T], k int, scale []T, x Rows[T], ptr []int64, col []uint32, val []T) {
	gatherSumOnto(dst, k, scale, x, ptr, col, val)
}

// GatherWeighted is GatherSum with a factor for each entry, whose products are
// rounded before they are added:
//
//	dst[r][j] = scale[r]·Σ_e val[e]·x[col[e]][j]
func GatherWeighted[T Float](dst Rows[T], k int, scale []T, x Rows[T], ptr []int64, col []uint32, val []T) {
	gatherWeighted(dst, k, scale, x, ptr, col, val)
}

// The plain bodies take the columns eight at a time, then four, then one: the
// sums of so many stay in registers.

func plainGatherSum[T Float](dst Rows[T], k int, scale []T, x Rows[T], ptr []int64, col []uint32) {
	at := 0
	for ; at+8 <= k; at += 8 {
		for r := range len(ptr) - 1 {
			var a0, a1, a2, a3, a4, a5, a6, a7 T
			for _, c := range col[ptr[r]-ptr[0] : ptr[r+1]-ptr[0]] {
				v := (*[8]T)(x.Data[int(c)*x.Stride+at:])
				a0 += v[0]
				a1 += v[1]
				a2 += v[2]
				a3 += v[3]
				a4 += v[4]
				a5 += v[5]
				a6 += v[6]
				a7 += v[7]
			}
			f, y := scale[r], (*[8]T)(dst.Data[r*dst.Stride+at:])
			y[0], y[1], y[2], y[3] = f*a0, f*a1, f*a2, f*a3
			y[4], y[5], y[6], y[7] = f*a4, f*a5, f*a6, f*a7
		}
	}
	for ; at+4 <= k; at += 4 {
		for r := range len(ptr) - 1 {
			var a0, a1, a2, a3 T
			for _, c := range col[ptr[r]-ptr[0] : ptr[r+1]-ptr[0]] {
				v := (*[4]T)(x.Data[int(c)*x.Stride+at:])
				a0 += v[0]
				a1 += v[1]
				a2 += v[2]
				a3 += v[3]
			}
			f, y := scale[r], (*[4]T)(dst.Data[r*dst.Stride+at:])
			y[0], y[1], y[2], y[3] = f*a0, f*a1, f*a2, f*a3
		}
	}
	for ; at < k; at++ {
		for r := range len(ptr) - 1 {
			var a T
			for _, c := range col[ptr[r]-ptr[0] : ptr[r+1]-ptr[0]] {
				a += x.Data[int(c)*x.Stride+at]
			}
			dst.Data[r*dst.Stride+at] = scale[r] * a
		}
	}
}

func plainGatherTile[T Float](dst Rows[T], k int, x Rows[T], ptr []int64, col []uint16, val []T) {
	for r := range len(ptr) - 1 {
		addNamed(dst.Data[r*dst.Stride:][:k], x, col, val, ptr[r]-ptr[0], ptr[r+1]-ptr[0])
	}
}

func plainGatherSumOnto[T Float](dst Rows[T], k int, scale []T, x Rows[T], ptr []int64, col []uint32, val []T) {
	for r := range len(ptr) - 1 {
		y := dst.Data[r*dst.Stride:][:k]
		addNamed(y, x, col, val, ptr[r]-ptr[0], ptr[r+1]-ptr[0])
		for j := range y {
			y[j] *= scale[r]
		}
	}
}

// addNamed adds to y the rows of x that the entries lo ≤ e < hi name.
func addNamed[T Float, ID uint16 | uint32](y []T, x Rows[T], col []ID, val []T, lo, hi int64) {
	w := T(1)
	for e := lo; e < hi; e++ {
		if val != nil {
			w = val[e]
		}
		for j, v := range x.Data[int(col[e])*x.Stride:][:len(y)] {
			y[j] += T(w * v)
		}
	}
}

func plainGatherWeighted[T Float](dst Rows[T], k int, scale []T, x Rows[T], ptr []int64, col []uint32, val []T) {
	at := 0
	for ; at+8 <= k; at += 8 {
		for r := range len(ptr) - 1 {
			lo, hi := ptr[r]-ptr[0], ptr[r+1]-ptr[0]
			weights := val[lo:hi]
			var a0, a1, a2, a3, a4, a5, a6, a7 T
			for e, c := range col[lo:hi] {
				w, v := weights[e], (*[8]T)(x.Data[int(c)*x.Stride+at:])
				a0 += T(w * v[0])
				a1 += T(w * v[1])
				a2 += T(w * v[2])
				a3 += T(w * v[3])
				a4 += T(w * v[4])
				a5 += T(w * v[5])
				a6 += T(w * v[6])
				a7 += T(w * v[7])
			}
			f, y := scale[r], (*[8]T)(dst.Data[r*dst.Stride+at:])
			y[0], y[1], y[2], y[3] = f*a0, f*a1, f*a2, f*a3
			y[4], y[5], y[6], y[7] = f*a4, f*a5, f*a6, f*a7
		}
	}
	for ; at+4 <= k; at += 4 {
		for r := range len(ptr) - 1 {
			lo, hi := ptr[r]-ptr[0], ptr[r+1]-ptr[0]
			weights := val[lo:hi]
			var a0, a1, a2, a3 T
			for e, c := range col[lo:hi] {
				w, v := weights[e], (*[4]T)(x.Data[int(c)*x.Stride+at:])
				a0 += T(w * v[0])
				a1 += T(w * v[1])
				a2 += T(w * v[2])
				a3 += T(w * v[3])
			}
			f, y := scale[r], (*[4]T)(dst.Data[r*dst.Stride+at:])
			y[0], y[1], y[2], y[3] = f*a0, f*a1, f*a2, f*a3
		}
	}
	for ; at < k; at++ {
		for r := range len(ptr) - 1 {
			lo, hi := ptr[r]-ptr[0], ptr[r+1]-ptr[0]
			weights := val[lo:hi]
			var a T
			for e, c := range col[lo:hi] {
				a += T(weights[e] * x.Data[int(c)*x.Stride+at])
			}
			dst.Data[r*dst.Stride+at] = scale[r] * a
		}
	}
}

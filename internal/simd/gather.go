package simd

// Float is the element type of the loops.
type Float interface{ float32 | float64 }

// GatherSum stores in row r of dst, for every r < len(ptr)-1, the sum of the
// rows x[c] for the ids c of its run of col, in the order of the ids:
//
//	dst[r·k+j] = Σ_e x[col[e]·stride+j],  ptr[r] ≤ e + ptr[0] < ptr[r+1],  j < k
//
// Rows of dst lie k apart, rows of x stride apart. Only differences of ptr
// matter: col[0] is the entry at ptr[0]. Ids are not checked: the
// caller vouches for (id+1)·stride ≤ len(x) + stride − k.
func GatherSum[T Float](dst []T, k int, x []T, stride int, ptr []int64, col []uint32) {
	base := ptr[0]
	for r := 0; r+1 < len(ptr); r++ {
		y := dst[r*k : (r+1)*k]
		clear(y)
		for _, c := range col[ptr[r]-base : ptr[r+1]-base] {
			row := x[int(c)*stride:][:len(y)]
			for j, v := range row {
				y[j] += v
			}
		}
	}
}

// GatherWeighted is GatherSum with a factor for each entry:
//
//	dst[r·k+j] = Σ_e val[e]·x[col[e]·stride+j]
//
// Every product is rounded to T before it is added.
func GatherWeighted[T Float](dst []T, k int, x []T, stride int, ptr []int64, col []uint32, val []T) {
	base := ptr[0]
	for r := 0; r+1 < len(ptr); r++ {
		y := dst[r*k : (r+1)*k]
		clear(y)
		lo, hi := ptr[r]-base, ptr[r+1]-base
		weights := val[lo:hi]
		for e, c := range col[lo:hi] {
			w := weights[e]
			row := x[int(c)*stride:][:len(y)]
			for j, v := range row {
				y[j] += T(w * v)
			}
		}
	}
}

package simd

// AddRows stores the sum of two runs of rows, the second one scaled:
//
//	dst[r][j] = a[r][j] + scale[r]·x[r][j],  r < rows,  j < k
//
// One factor in scale stands for all rows; a stride of 0 repeats one row, to which, if it is
// dst and a, rows are added in turn. dst may be a or x, and must not overlap them otherwise. The product is
// rounded before it is added.
func AddRows[T Float](dst Rows[T], rows, k int, a Rows[T], scale []T, x Rows[T]) {
	if len(scale) == 1 && dst.Stride == k && a.Stride == k && x.Stride == k {
		rows, k = 1, rows*k
	}
	addRows(dst, rows, k, a, scale, x)
}

func plainAddRows[T Float](dst Rows[T], rows, k int, a Rows[T], scale []T, x Rows[T]) {
	for r := range rows {
		f := scale[0]
		if len(scale) > 1 {
			f = scale[r]
		}
		d, b, c := dst.Data[r*dst.Stride:][:k], a.Data[r*a.Stride:][:k], x.Data[r*x.Stride:][:k]
		for j := range d {
			d[j] = b[j] + T(f*c[j])
		}
	}
}

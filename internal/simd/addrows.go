package simd

// AddRows stores the sum of two runs of rows, of which the second is scaled:
//
//	dst[r][j] = a[r][j] + scale[r]·x[r][j],  r < rows,  j < k
//
// If scale has one factor, the factor applies to all rows. A stride of 0 repeats one row. If dst and a are the same
// repeated row, AddRows adds the rows of x to it one after the other. dst may be a or x, and must not overlap them
// otherwise.
func AddRows[T Float](dst Rows[T], rows, k int, a Rows[T], scale []T, x Rows[T]) {
	if len(scale) == 1 && dst.Stride == k && a.Stride == k && x.Stride == k {
		rows, k = 1, rows*k
	}
	addRows(dst, rows, k, a, scale, x)
}

func plainAddRows[T Float](dst Rows[T], rows, k int, a Rows[T], scale []T,
	x Rows[T]) {
	for r := range rows {
		f := scale[0]
		if len(scale) > 1 {
			f = scale[r]
		}
		d := dst.Data[r*dst.Stride:][:k]
		b := a.Data[r*a.Stride:][:k]
		c := x.Data[r*x.Stride:][:k]
		for j := range d {
			d[j] = b[j] + T(f*c[j])
		}
	}
}

// AddWeighted adds the weighted rows of x to sum one after the other, in float64:
//
//	sum[j] += Σ_r weight[r]·x[r][j]
//
// Four columns at a time stay in registers.
func AddWeighted[T Float](sum, weight []float64, x Rows[T]) {
	j := 0
	for ; j+4 <= len(sum); j += 4 {
		s := (*[4]float64)(sum[j:])
		s0, s1, s2, s3 := s[0], s[1], s[2], s[3]
		for r, f := range weight {
			e := (*[4]T)(x.Data[r*x.Stride+j:])
			s0 += float64(f * float64(e[0]))
			s1 += float64(f * float64(e[1]))
			s2 += float64(f * float64(e[2]))
			s3 += float64(f * float64(e[3]))
		}
		*s = [4]float64{s0, s1, s2, s3}
	}
	for ; j < len(sum); j++ {
		for r, f := range weight {
			sum[j] += float64(f * float64(x.Data[r*x.Stride+j]))
		}
	}
}

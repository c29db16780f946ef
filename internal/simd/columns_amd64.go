//go:build amd64 && !noasm

package simd

import "unsafe"

// columnLanes is the number of columns in one step of the assembly.
const columnLanes = registerBytes / 8

// DotColumns adds to sums the inner products of the columns of a with the same columns of b:
//
//	sums[j] += Σ_r a[r][j]·b[r][j],  r < rows
func DotColumns[T Float](sums []float64, rows int, a, b Rows[T]) {
	k := len(sums) / columnLanes * columnLanes
	if !hasAVX2 || k == 0 || rows < 1 {
		plainDotColumns(sums, rows, a, b)
		return
	}
	_, _ = a.Data[(rows-1)*a.Stride+k-1], b.Data[(rows-1)*b.Stride+k-1]
	u, v := a.first(), b.first()
	if sizeOf[T]() == 4 {
		dotColumnsF32AVX2(&sums[0], (*float32)(u), a.Stride*4, (*float32)(v),
			b.Stride*4, rows, k)
	} else {
		dotColumnsF64AVX2(&sums[0], (*float64)(u), a.Stride*8, (*float64)(v),
			b.Stride*8, rows, k)
	}
	if k < len(sums) {
		plainDotColumns(sums[k:], rows, a.from(k), b.from(k))
	}
}

// ResidualColumns updates the residual r of conjugate gradients, with q = A·p:
//
//	r[r][j] −= alpha[j]·q[r][j]
//	rr[j] += Σ_r weight[r]·r[r][j]²
//	rz[j] += Σ_r inverse[r]·r[r][j]²
//
// q may be r.
func ResidualColumns[T Float](r, q Rows[T],
	alpha, weight, inverse, rr, rz []float64) {
	k := len(alpha) / columnLanes * columnLanes
	rows := len(weight)
	if !hasAVX2 || k == 0 || rows < 1 {
		plainResidualColumns(r, q, alpha, weight, inverse, rr, rz)
		return
	}
	_, _ = r.Data[(rows-1)*r.Stride+k-1], q.Data[(rows-1)*q.Stride+k-1]
	_, _, _ = inverse[rows-1], rr[k-1], rz[k-1]
	u, v := r.first(), q.first()
	if sizeOf[T]() == 4 {
		residualColumnsF32AVX2((*float32)(u), r.Stride*4, (*float32)(v), q.Stride*4,
			&alpha[0], &weight[0], &inverse[0], &rr[0], &rz[0], rows, k)
	} else {
		residualColumnsF64AVX2((*float64)(u), r.Stride*8, (*float64)(v), q.Stride*8,
			&alpha[0], &weight[0], &inverse[0], &rr[0], &rz[0], rows, k)
	}
	if k < len(alpha) {
		plainResidualColumns(r.from(k), q.from(k), alpha[k:], weight, inverse,
			rr[k:], rz[k:])
	}
}

// TurnColumns updates the solution x and the direction p of conjugate gradients from the residual z:
//
//	x[r][j] += alpha[j]·p[r][j]
//	p[r][j] = factor[r]·z[r][j] + beta[j]·p[r][j]
func TurnColumns[T Float](x, p, z Rows[T], alpha, beta, factor []float64) {
	k := len(alpha) / columnLanes * columnLanes
	rows := len(factor)
	if !hasAVX2 || k == 0 || rows < 1 {
		plainTurnColumns(x, p, z, alpha, beta, factor)
		return
	}
	_, _, _ = x.Data[(rows-1)*x.Stride+k-1], p.Data[(rows-1)*p.Stride+k-1],
		z.Data[(rows-1)*z.Stride+k-1]
	_ = beta[k-1]
	u := x.first()
	v := p.first()
	w := z.first()
	if sizeOf[T]() == 4 {
		turnColumnsF32AVX2((*float32)(u), x.Stride*4, (*float32)(v), p.Stride*4,
			(*float32)(w), z.Stride*4, &alpha[0], &beta[0], &factor[0], rows, k)
	} else {
		turnColumnsF64AVX2((*float64)(u), x.Stride*8, (*float64)(v), p.Stride*8,
			(*float64)(w), z.Stride*8, &alpha[0], &beta[0], &factor[0], rows, k)
	}
	if k < len(alpha) {
		plainTurnColumns(x.from(k), p.from(k), z.from(k), alpha[k:],
			beta[k:], factor)
	}
}

func (m Rows[T]) first() unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(m.Data))
}

func (m Rows[T]) from(j int) Rows[T] {
	return Rows[T]{Data: m.Data[j:], Stride: m.Stride}
}

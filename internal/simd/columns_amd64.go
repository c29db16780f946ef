//go:build amd64 && !noasm

package simd

// The twins take whole registers of columns; the columns beyond are left to
// the plain bodies.
const columnLanes = registerBytes / 8

func dotColumns(sums []float64, rows int, a, b Rows[float64]) {
	k := len(sums) / columnLanes * columnLanes
	if !hasAVX2 || k == 0 || rows < 1 {
		plainDotColumns(sums, rows, a, b)
		return
	}
	_, _ = a.Data[(rows-1)*a.Stride+k-1], b.Data[(rows-1)*b.Stride+k-1]
	dotColumnsAVX2(&sums[0], &a.Data[0], a.Stride*8, &b.Data[0], b.Stride*8, rows, k*8)
	if k < len(sums) {
		plainDotColumns(sums[k:], rows, from(a, k), from(b, k))
	}
}

func residualColumns(r, q Rows[float64], alpha, weight, inverse, rr, rz []float64) {
	k, rows := len(alpha)/columnLanes*columnLanes, len(weight)
	if !hasAVX2 || k == 0 || rows < 1 {
		plainResidualColumns(r, q, alpha, weight, inverse, rr, rz)
		return
	}
	_, _ = r.Data[(rows-1)*r.Stride+k-1], q.Data[(rows-1)*q.Stride+k-1]
	_, _, _ = inverse[rows-1], rr[k-1], rz[k-1]
	residualColumnsAVX2(&r.Data[0], r.Stride*8, &q.Data[0], q.Stride*8, &alpha[0], &weight[0], &inverse[0], &rr[0], &rz[0], rows, k*8)
	if k < len(alpha) {
		plainResidualColumns(from(r, k), from(q, k), alpha[k:], weight, inverse, rr[k:], rz[k:])
	}
}

func turnColumns(x, p, z Rows[float64], alpha, beta, factor []float64) {
	k, rows := len(alpha)/columnLanes*columnLanes, len(factor)
	if !hasAVX2 || k == 0 || rows < 1 {
		plainTurnColumns(x, p, z, alpha, beta, factor)
		return
	}
	_, _, _ = x.Data[(rows-1)*x.Stride+k-1], p.Data[(rows-1)*p.Stride+k-1], z.Data[(rows-1)*z.Stride+k-1]
	_ = beta[k-1]
	turnColumnsAVX2(&x.Data[0], x.Stride*8, &p.Data[0], p.Stride*8, &z.Data[0], z.Stride*8, &alpha[0], &beta[0], &factor[0], rows, k*8)
	if k < len(alpha) {
		plainTurnColumns(from(x, k), from(p, k), from(z, k), alpha[k:], beta[k:], factor)
	}
}

// from returns the rows from column j on.
func from(m Rows[float64], j int) Rows[float64] {
	return Rows[float64]{Data: m.Data[j:], Stride: m.Stride}
}

package simd

// The loops of this file have a factor or a sum for each column. The number of rows is the length of the row factors.
// Sums run over the rows in order. Arithmetic is in float64; results are rounded when they are stored. Blocks must not
// overlap except where a comment allows it.

// few is the number of columns from which the loops process row by row. With fewer columns they process column by
// column, so that the sum of a column stays in a register. The order of additions within a column is the same.
const few = 4

func plainDotColumns[T Float](sums []float64, rows int, a, b Rows[T]) {
	if len(sums) < few {
		for j, s := range sums {
			for i := range rows {
				s += float64(float64(a.Data[i*a.Stride+j]) * float64(b.Data[i*b.Stride+j]))
			}
			sums[j] = s
		}
		return
	}
	for i := range rows {
		u, v := a.Data[i*a.Stride:][:len(sums)], b.Data[i*b.Stride:][:len(sums)]
		for j, s := range sums {
			sums[j] = s + float64(float64(u[j])*float64(v[j]))
		}
	}
}

func plainResidualColumns[T Float](r, q Rows[T],
	alpha, weight, inverse, rr, rz []float64) {
	rr = rr[:len(alpha)]
	rz = rz[:len(alpha)]
	inverse = inverse[:len(weight)]
	if len(alpha) < few {
		for j, a := range alpha {
			sum := rr[j]
			product := rz[j]
			for i, f := range weight {
				u := &r.Data[i*r.Stride+j]
				*u = T(float64(*u) - float64(a*float64(q.Data[i*q.Stride+j])))
				t := float64(*u)
				t *= t
				sum += float64(f * t)
				product += float64(inverse[i] * t)
			}
			rr[j] = sum
			rz[j] = product
		}
		return
	}
	for i, f := range weight {
		g := inverse[i]
		u, v := r.Data[i*r.Stride:][:len(alpha)], q.Data[i*q.Stride:][:len(alpha)]
		for j, a := range alpha {
			u[j] = T(float64(u[j]) - float64(a*float64(v[j])))
			t := float64(u[j])
			t *= t
			rr[j] += float64(f * t)
			rz[j] += float64(g * t)
		}
	}
}

func plainTurnColumns[T Float](x, p, z Rows[T], alpha, beta, factor []float64) {
	beta = beta[:len(alpha)]
	if len(alpha) < few {
		for j, a := range alpha {
			for i, f := range factor {
				u, v := &x.Data[i*x.Stride+j], &p.Data[i*p.Stride+j]
				t := float64(*v)
				*u = T(float64(*u) + float64(a*t))
				*v = T(float64(f*float64(z.Data[i*z.Stride+j])) +
					float64(beta[j]*t))
			}
		}
		return
	}
	for i, f := range factor {
		u := x.Data[i*x.Stride:][:len(alpha)]
		v := p.Data[i*p.Stride:][:len(alpha)]
		w := z.Data[i*z.Stride:][:len(alpha)]
		for j, a := range alpha {
			t := float64(v[j])
			u[j] = T(float64(u[j]) + float64(a*t))
			v[j] = T(float64(f*float64(w[j])) + float64(beta[j]*t))
		}
	}
}

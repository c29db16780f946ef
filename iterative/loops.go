package iterative

// The loops below run over rows of blocks, which lie stride apart, four
// columns at a time: the factors and sums of so many stay in registers. Every
// sum is over the rows in their order and every product is rounded before it
// is added, so how columns are grouped changes nothing.

// loopRows is the number of rows for which a loop runs over all columns before
// it takes the next ones, so that they stay in the nearest cache.
const loopRows = 64

// dotLoop adds pᵀq to the sums, one for each column.
func dotLoop(sums, p, q []float64, stride, rows int) {
	for ; rows > 0; rows -= loopRows {
		n := min(rows, loopRows)
		j := 0
		for ; j+4 <= len(sums); j += 4 {
			s0, s1, s2, s3 := sums[j], sums[j+1], sums[j+2], sums[j+3]
			for at := j; at < j+n*stride; at += stride {
				u, v := (*[4]float64)(p[at:]), (*[4]float64)(q[at:])
				s0 += float64(u[0] * v[0])
				s1 += float64(u[1] * v[1])
				s2 += float64(u[2] * v[2])
				s3 += float64(u[3] * v[3])
			}
			sums[j], sums[j+1], sums[j+2], sums[j+3] = s0, s1, s2, s3
		}
		for ; j < len(sums); j++ {
			s := sums[j]
			for at := j; at < j+n*stride; at += stride {
				s += float64(p[at] * q[at])
			}
			sums[j] = s
		}
		p, q = p[min(n*stride, len(p)):], q[min(n*stride, len(q)):]
	}
}

// residualLoop does r −= q·diag(α) and adds weight·r² to rr and inverse·r² to
// rz, where weight and inverse have one factor for each row.
func residualLoop(r, q []float64, stride int, alpha, weight, inverse, rr, rz []float64) {
	rr, rz = rr[:len(alpha)], rz[:len(alpha)]
	for len(weight) > 0 {
		n := min(len(weight), loopRows)
		w, d := weight[:n], inverse[:n]
		j := 0
		for ; j+4 <= len(alpha); j += 4 {
			a0, a1, a2, a3 := alpha[j], alpha[j+1], alpha[j+2], alpha[j+3]
			r0, r1, r2, r3 := rr[j], rr[j+1], rr[j+2], rr[j+3]
			z0, z1, z2, z3 := rz[j], rz[j+1], rz[j+2], rz[j+3]
			at := j
			for i, f := range w {
				u, v := (*[4]float64)(r[at:]), (*[4]float64)(q[at:])
				g := d[i]
				t := u[0] - float64(a0*v[0])
				u[0] = t
				t *= t
				r0 += float64(f * t)
				z0 += float64(g * t)
				t = u[1] - float64(a1*v[1])
				u[1] = t
				t *= t
				r1 += float64(f * t)
				z1 += float64(g * t)
				t = u[2] - float64(a2*v[2])
				u[2] = t
				t *= t
				r2 += float64(f * t)
				z2 += float64(g * t)
				t = u[3] - float64(a3*v[3])
				u[3] = t
				t *= t
				r3 += float64(f * t)
				z3 += float64(g * t)
				at += stride
			}
			rr[j], rr[j+1], rr[j+2], rr[j+3] = r0, r1, r2, r3
			rz[j], rz[j+1], rz[j+2], rz[j+3] = z0, z1, z2, z3
		}
		for ; j < len(alpha); j++ {
			at := j
			for i, f := range w {
				t := r[at] - float64(alpha[j]*q[at])
				r[at] = t
				t *= t
				rr[j] += float64(f * t)
				rz[j] += float64(d[i] * t)
				at += stride
			}
		}
		weight, inverse = weight[n:], inverse[n:]
		r, q = r[min(n*stride, len(r)):], q[min(n*stride, len(q)):]
	}
}

// turnLoop does x += p·diag(α) and p = diag(factor)·z + p·diag(β).
func turnLoop(x []float64, xStride int, p, z []float64, stride int, alpha, beta, factor []float64) {
	beta = beta[:len(alpha)]
	for len(factor) > 0 {
		n := min(len(factor), loopRows)
		j := 0
		for ; j+4 <= len(alpha); j += 4 {
			a0, a1, a2, a3 := alpha[j], alpha[j+1], alpha[j+2], alpha[j+3]
			b0, b1, b2, b3 := beta[j], beta[j+1], beta[j+2], beta[j+3]
			at, atX := j, j
			for _, f := range factor[:n] {
				u, v, w := (*[4]float64)(x[atX:]), (*[4]float64)(p[at:]), (*[4]float64)(z[at:])
				t := v[0]
				u[0] += float64(a0 * t)
				v[0] = float64(f*w[0]) + float64(b0*t)
				t = v[1]
				u[1] += float64(a1 * t)
				v[1] = float64(f*w[1]) + float64(b1*t)
				t = v[2]
				u[2] += float64(a2 * t)
				v[2] = float64(f*w[2]) + float64(b2*t)
				t = v[3]
				u[3] += float64(a3 * t)
				v[3] = float64(f*w[3]) + float64(b3*t)
				at += stride
				atX += xStride
			}
		}
		for ; j < len(alpha); j++ {
			at, atX := j, j
			for _, f := range factor[:n] {
				t := p[at]
				x[atX] += float64(alpha[j] * t)
				p[at] = float64(f*z[at]) + float64(beta[j]*t)
				at += stride
				atX += xStride
			}
		}
		factor = factor[n:]
		x = x[min(n*xStride, len(x)):]
		p, z = p[min(n*stride, len(p)):], z[min(n*stride, len(z)):]
	}
}

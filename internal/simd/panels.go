package simd

// The loops of this file process contiguous columns of equal length, a multiple of 4.

// DotPanels adds to sums the inner products of each of two columns with each of four columns:
//
//	sums[4·i+j] += Σ_r v[i][r]·w[j][r],  i < 2, j < 4
//
// Each product is (s₀ + s₁) + (s₂ + s₃), where s_m is the sum over the rows r with r mod 4 = m.
func DotPanels(sums *[8]float64, v0, v1, w0, w1, w2, w3 []float64) {
	n := len(v0)
	var lanes [32]float64
	dotPanels(&lanes, v0, v1[:n], w0[:n], w1[:n], w2[:n], w3[:n])
	for i := range sums {
		s := lanes[4*i : 4*i+4]
		sums[i] += (s[0] + s[1]) + (s[2] + s[3])
	}
}

// AddPanels adds to each of two columns a combination of four columns:
//
//	w[j][r] += v[0][r]·c[4·j] + v[1][r]·c[4·j+1] + …,  j < 2
//
// The terms are added one after the other. w0 and w1 must not overlap each other or the v.
func AddPanels(w0, w1, v0, v1, v2, v3 []float64, c *[8]float64) {
	n := len(w0)
	addPanels(w0, w1[:n], v0[:n], v1[:n], v2[:n], v3[:n], c)
}

// plainDotPanels adds to lanes the four sums s₀ … s₃ of each of the eight products.
func plainDotPanels(lanes *[32]float64, v0, v1, w0, w1, w2, w3 []float64) {
	for j, w := range [4][]float64{w0, w1, w2, w3} {
		p, q := (*[4]float64)(lanes[4*j:]), (*[4]float64)(lanes[16+4*j:])
		for r := 0; r+4 <= len(w); r += 4 {
			x := (*[4]float64)(v0[r:])
			y := (*[4]float64)(v1[r:])
			z := (*[4]float64)(w[r:])
			p[0] += float64(x[0] * z[0])
			p[1] += float64(x[1] * z[1])
			p[2] += float64(x[2] * z[2])
			p[3] += float64(x[3] * z[3])
			q[0] += float64(y[0] * z[0])
			q[1] += float64(y[1] * z[1])
			q[2] += float64(y[2] * z[2])
			q[3] += float64(y[3] * z[3])
		}
	}
}

func plainAddPanels(w0, w1, v0, v1, v2, v3 []float64, c *[8]float64) {
	w1 = w1[:len(w0)]
	v0 = v0[:len(w0)]
	v1 = v1[:len(w0)]
	v2 = v2[:len(w0)]
	v3 = v3[:len(w0)]
	for r := range w0 {
		p := v0[r]
		q := v1[r]
		s := v2[r]
		t := v3[r]
		w0[r] = w0[r] + float64(p*c[0]) + float64(q*c[1]) + float64(s*c[2]) +
			float64(t*c[3])
		w1[r] = w1[r] + float64(p*c[4]) + float64(q*c[5]) + float64(s*c[6]) +
			float64(t*c[7])
	}
}

package simd

// Dot returns ⟨x, y⟩ in float64. y must be as long as x. The order of additions is fixed: of the first products, a
// multiple of 4, product i is added to s_(i mod 16), but products after the last group of 16 are added to s₀ … s₃. Then
// l_j = (s_j + s_4+j) + (s_8+j + s_12+j) for j < 4, and the sum is (l₀ + l₁) + (l₂ + l₃). At most three remaining
// products are added to it one after another.
func Dot[T Float](x []T, y []float64) float64 {
	var lanes [4]float64
	y = y[:len(x)]
	n := len(x) / 4 * 4
	dot(&lanes, x[:n], y[:n])
	sum := (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
	for i := n; i < len(x); i++ {
		sum += float64(float64(x[i]) * y[i])
	}
	return sum
}

// AddScaled adds a·x to dst, which must be as long as x.
func AddScaled[T Float](dst []float64, a float64, x []T) {
	dst = dst[:len(x)]
	n := len(x) / 4 * 4
	addScaled(dst[:n], a, x[:n])
	plainAddScaled(dst[n:], a, x[n:])
}

// plainDot stores in lanes the sums l₀ … l₃ of Dot, for a length that is a multiple of 4.
func plainDot[T Float](lanes *[4]float64, x []T, y []float64) {
	var s [16]float64
	y = y[:len(x)]
	r := 0
	for ; r+16 <= len(x); r += 16 {
		p, q := (*[16]T)(x[r:]), (*[16]float64)(y[r:])
		for j := range s {
			s[j] += float64(float64(p[j]) * q[j])
		}
	}
	for ; r+4 <= len(x); r += 4 {
		p, q := (*[4]T)(x[r:]), (*[4]float64)(y[r:])
		for j := range p {
			s[j] += float64(float64(p[j]) * q[j])
		}
	}
	for j := range lanes {
		lanes[j] = (s[j] + s[4+j]) + (s[8+j] + s[12+j])
	}
}

func plainAddScaled[T Float](dst []float64, a float64, x []T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] += float64(a * float64(v))
	}
}

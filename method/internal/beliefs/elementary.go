package beliefs

import "math"

// exp32 returns e^x for x ≤ 0, with a relative error below 3e-7, and 0 below −87. Products are rounded before additions, for
// the same bits on all architectures.
func exp32(x float32) float32 {
	if x < -87 {
		return 0
	}
	// e^x = 2^k e^r, |r| ≤ ln 2 / 2
	k := float32(math.Floor(float64(float32(x*1.44269504)) + 0.5))
	r := x - float32(k*0.693359375)
	r -= float32(k * -2.12194440e-4)
	p := float32(1.9875691500e-4)
	p = float32(p*r) + 1.3981999507e-3
	p = float32(p*r) + 8.3334519073e-3
	p = float32(p*r) + 4.1665795894e-2
	p = float32(p*r) + 1.6666665459e-1
	p = float32(p*r) + 5.0000001201e-1
	p = float32(p*float32(r*r)) + r + 1
	return p * math.Float32frombits(uint32(int32(k)+127)<<23)
}

// log32 returns ln x for a normal x > 0, with an error below 3e-7, relative to the result or to 1.
func log32(x float32) float32 {
	// x = 2^k m with m in [√½, √2)
	bits := math.Float32bits(x)
	k := int32(bits>>23) - 126
	m := math.Float32frombits(bits&0x7fffff | 126<<23)
	if m < 0.70710678 {
		m += m
		k--
	}
	m--
	z := m * m
	p := float32(7.0376836292e-2)
	p = float32(p*m) - 1.1514610310e-1
	p = float32(p*m) + 1.1676998740e-1
	p = float32(p*m) - 1.2420140846e-1
	p = float32(p*m) + 1.4249322787e-1
	p = float32(p*m) - 1.6668057665e-1
	p = float32(p*m) + 2.0000714765e-1
	p = float32(p*m) - 2.4999993993e-1
	p = float32(p*m) + 3.3333331174e-1
	y := float32(float32(p*m) * z)
	y += float32(float32(k) * -2.12194440e-4)
	y -= float32(0.5 * z)
	return m + y + float32(float32(k)*0.693359375)
}

package simd

// StripWidth is the number of numbers in a row of [RotateStrip].
const StripWidth = 16

// Rotation is that of rows Row and Row+1 of a strip.
type Rotation struct {
	Row  int
	C, S float64
}

// maxRotations bounds one call of a loop that cannot be interrupted.
const maxRotations = 4096

// RotateStrip rotates rows of a strip, StripWidth numbers each, one rotation
// after the other:
//
//	x[i], x[i+1] = C·x[i] − S·x[i+1], S·x[i] + C·x[i+1],  i = Row
//
// Products are rounded before they are added. It panics if a row lies outside.
func RotateStrip(x []float64, rotations []Rotation) {
	last := len(x)/StripWidth - 1
	for _, r := range rotations {
		if uint(r.Row) >= uint(max(0, last)) {
			panic("simd: rotation of a row outside of its strip")
		}
	}
	for len(rotations) > 0 {
		n := min(len(rotations), maxRotations)
		rotateStrip(x, rotations[:n])
		rotations = rotations[n:]
	}
}

func plainRotateStrip(x []float64, rotations []Rotation) {
	for _, r := range rotations {
		a := (*[StripWidth]float64)(x[r.Row*StripWidth:])
		b := (*[StripWidth]float64)(x[(r.Row+1)*StripWidth:])
		for k, v := range a {
			w := b[k]
			a[k] = float64(r.C*v) - float64(r.S*w)
			b[k] = float64(r.S*v) + float64(r.C*w)
		}
	}
}

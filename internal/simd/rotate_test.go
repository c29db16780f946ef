package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRotateStrip compares with rotations by hand, to the bit between variants.
func TestRotateStrip(t *testing.T) {
	var first []float64
	eachVariant(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		var all []float64
		for _, rows := range []int{2, 3, 40} {
			for _, count := range []int{0, 1, 2, maxRotations + 3} {
				x, check := guarded(t, rows*StripWidth, float64(guard))
				for i := range x {
					x[i] = rng.NormFloat64()
				}
				want := slices.Clone(x)
				rotations := make([]Rotation, count)
				for i := range rotations {
					r := Rotation{rng.IntN(rows - 1), rng.Float64(), rng.Float64()}
					rotations[i] = r
					for k := range StripWidth {
						a, b := &want[r.Row*StripWidth+k], &want[(r.Row+1)*StripWidth+k]
						p, q := *a, *b
						*a = float64(r.C*p) - float64(r.S*q)
						*b = float64(r.S*p) + float64(r.C*q)
					}
				}
				RotateStrip(x, rotations)
				if !slices.Equal(x, want) {
					t.Fatalf("%d rotations of %d rows differ", count, rows)
				}
				check()
				all = append(all, x...)
			}
		}
		if first == nil {
			first = all
		}
		if !slices.Equal(first, all) {
			t.Error("other bits")
		}
	})
	for _, row := range []int{-1, 1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("row %d of 2 was rotated with the next", row)
				}
			}()
			RotateStrip(make([]float64, 2*StripWidth), []Rotation{{row, 1, 0}})
		}()
	}
}

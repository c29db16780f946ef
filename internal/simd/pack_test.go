package simd

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

func TestPack(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 0))
	eachVariant(t, func(t *testing.T) {
		for n := range 200 {
			for _, most := range []int{1, 5, 17, 27, 28, 29, 31} {
				// Widths increase, the last for the longest number.
				widths := [4]int{rng.IntN(most + 1), rng.IntN(most + 1), rng.IntN(most + 1), most}
				var by [32]Width
				for length := range most + 1 {
					s := 3
					for k, w := range widths {
						if w >= length && w < widths[s] {
							s = k
						}
					}
					by[length] = Width{uint32(s), uint32(widths[s])}
				}
				delta := make([]uint32, n)
				total := 0
				for e := range delta {
					delta[e] = uint32(rng.Uint64() & (1<<most - 1) >> rng.IntN(most+1))
					total += int(by[bits.Len32(delta[e])].Bits)
				}
				size := (total + 7) / 8
				sel, checkSel := guarded[byte](t, (n+15)/16*4, 0xa5)
				data, checkData := guarded[byte](t, size+8, 0xa5)
				Pack(sel, data, delta, &by)
				bit := 0
				for e, d := range delta {
					w := by[bits.Len32(d)]
					if s := sel[e/4] >> (e % 4 * 2) & 3; uint32(s) != w.Selector {
						t.Fatalf("%d numbers of %d bits: selector %d is %d, want %d", n, most, e, s, w.Selector)
					}
					var got uint32
					for i := range w.Bits {
						got |= uint32(data[bit/8]>>(bit%8)&1) << i
						bit++
					}
					if got != d {
						t.Fatalf("%d numbers of %d bits: number %d is %d, want %d", n, most, e, got, d)
					}
				}
				for ; bit < 8*size; bit++ {
					if data[bit/8]>>(bit%8)&1 != 0 {
						t.Fatalf("%d numbers of %d bits: bit %d behind %d is set", n, most, bit, total)
					}
				}
				for e := n; e < 4*len(sel); e++ {
					if sel[e/4]>>(e%4*2)&3 != 0 {
						t.Fatalf("%d numbers: selector %d is set", n, e)
					}
				}
				checkSel()
				checkData()
			}
		}
	})
}

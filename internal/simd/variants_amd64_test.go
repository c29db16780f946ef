//go:build amd64 && !noasm

package simd

// processor is what it really has.
var processor = [3]bool{hasAVX2, hasDecodeAVX2, hasDecodeAVX512}

// variants are the forms of the loops that the processor has, the one it
// would choose first.
func variants() []variant {
	use := func(avx2, decodeAVX2, decodeAVX512 bool) func() {
		return func() { hasAVX2, hasDecodeAVX2, hasDecodeAVX512 = avx2, decodeAVX2, decodeAVX512 }
	}
	var v []variant
	if processor[2] {
		v = append(v, variant{"AVX512", use(true, true, true)})
	}
	if processor[0] {
		v = append(v, variant{"AVX2", use(true, processor[1], false)})
	}
	return append(v, variant{"plain", use(false, false, false)})
}

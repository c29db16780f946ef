//go:build amd64 && !noasm

package simd

// processor is what it really has, cache what it is taken to have.
var (
	processor = [7]bool{hasAVX2, hasAVX512, hasDecodeAVX2, hasDecodeAVX512, hasChecksumAVX512, hasHashesAVX512, hasDistancesAVX512}
	cache     = cachedBytes
)

// variants are the forms of the loops that the processor has, the one it
// would choose first, and the choice where nothing is in a near cache.
func variants() []variant {
	use := func(avx2, avx512, decodeAVX2, decodeAVX512, checksumAVX512, hashesAVX512, distancesAVX512 bool) func() {
		return func() {
			cachedBytes = cache
			hasAVX2, hasAVX512 = avx2, avx512
			hasDecodeAVX2, hasDecodeAVX512 = decodeAVX2, decodeAVX512
			hasChecksumAVX512, hasHashesAVX512, hasDistancesAVX512 = checksumAVX512, hashesAVX512, distancesAVX512
		}
	}
	var v []variant
	if processor[1] {
		v = append(v, variant{"AVX512", use(true, true, processor[2], processor[3], processor[4], processor[5], processor[6])})
	}
	if processor[0] {
		v = append(v, variant{"AVX2", use(true, false, processor[2], false, false, false, false)})
		v = append(v, variant{"uncached", func() { v[0].use(); cachedBytes = 0 }})
	}
	return append(v, variant{"plain", use(false, false, false, false, false, false, false)})
}

// hasNumbers tells whether Numbers reads anything.
func hasNumbers() bool { return hasDecodeAVX512 }

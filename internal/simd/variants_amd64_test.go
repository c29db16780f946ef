//go:build amd64 && !noasm

package simd

var processor = [7]bool{hasAVX2, hasAVX512, hasDecodeAVX2, hasDecodeAVX512, hasChecksumAVX512, hasHashesAVX512, hasDistancesAVX512}

// variants begins with the form that the processor would choose.
func variants() []variant {
	use := func(avx2, decodeAVX2, decodeAVX512, checksumAVX512, hashesAVX512, distancesAVX512 bool) func() {
		return func() {
			hasAVX2, hasDecodeAVX2, hasDecodeAVX512 = avx2, decodeAVX2, decodeAVX512
			hasChecksumAVX512, hasHashesAVX512, hasDistancesAVX512 = checksumAVX512, hashesAVX512, distancesAVX512
		}
	}
	var v []variant
	if processor[1] {
		v = append(v, variant{"AVX512", use(true, processor[2], processor[3], processor[4], processor[5], processor[6])})
	}
	if processor[0] {
		v = append(v, variant{"AVX2", use(true, processor[2], false, false, false, false)})
	}
	return append(v, variant{"plain", use(false, false, false, false, false, false)})
}

func hasNumbers() bool { return hasDecodeAVX512 }

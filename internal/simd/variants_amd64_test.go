//go:build amd64 && !noasm

package simd

// processor lists the features of this machine.
var processor = [7]bool{hasAVX2, hasAVX512, hasDecodeAVX2, hasDecodeAVX512, hasChecksumAVX512, hasHashesAVX512, hasDistancesAVX512}

// variants returns the forms of the loops that the processor has, beginning with the form that it would choose.
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

// hasNumbers reports whether Numbers reads anything.
func hasNumbers() bool { return hasDecodeAVX512 }

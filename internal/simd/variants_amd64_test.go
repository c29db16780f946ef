//go:build amd64 && !noasm

package simd

import "testing"

// eachVariant runs a test with every form of the loops the processor has.
func eachVariant(t *testing.T, test func(*testing.T)) {
	avx2, decodeAVX2, decodeAVX512 := hasAVX2, hasDecodeAVX2, hasDecodeAVX512
	defer func() { hasAVX2, hasDecodeAVX2, hasDecodeAVX512 = avx2, decodeAVX2, decodeAVX512 }()
	if hasDecodeAVX512 {
		t.Run("AVX512", test)
		hasDecodeAVX512 = false
	}
	if hasAVX2 {
		t.Run("AVX2", test)
		hasAVX2, hasDecodeAVX2 = false, false
	}
	t.Run("plain", test)
}

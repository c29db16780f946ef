package simd

// PairHash returns a 64-bit hash of a pair x of two 32-bit numbers and the bits of a value.
func PairHash(x, value uint64) uint64 {
	x = (x ^ x>>32) * firstFactor
	x = (x ^ value ^ x>>29) * secondFactor
	return x ^ x>>32
}

const (
	firstFactor  = 0xd6e8feb86659fd93
	secondFactor = 0x9e3779b97f4a7c15
	oneBits      = 0x3ff0000000000000
)

func plainHashPairs(number uint64, shift uint, ids []uint32) (sum uint64) {
	shift &= 63
	for _, id := range ids {
		sum += PairHash(number|uint64(id)<<shift, oneBits)
	}
	return sum
}

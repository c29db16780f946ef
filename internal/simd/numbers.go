package simd

// NumberLines says how lines of two numbers look that [Numbers] reads. A number v
// stands for the code v − Base.
type NumberLines struct {
	Sep   byte   // between the numbers of a line
	Base  uint64 // the least number
	Limit uint64 // all codes are below
	Least int64  // the first code of a line is so much above the second at least
}

// Numbers reads lines at the beginning of text, each of two numbers of one to eight
// digits, without a zero before other digits, the second with a line feed behind it.
// It stores their codes and returns how many bytes it has read, whole lines, and the
// number of codes. It stops before lines that look otherwise, before the last 64 bytes
// or codes, or at once: what it does not read is for the caller to look at.
func Numbers(code []uint32, text []byte, l NumberLines) (read, n int) {
	return numbers(code, text, l)
}

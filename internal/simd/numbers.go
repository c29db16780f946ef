package simd

// NumberLines describes the lines of two numbers that [Numbers] reads. The code of a number v
// is v − Base.
type NumberLines struct {
	Sep   byte   // between the numbers of a line
	Base  uint64 // the least number
	Limit uint64 // all codes are below
	Least int64  // least difference between the first and the second code of a line
}

// Numbers reads lines at the beginning of text, each of two numbers of one to eight
// digits, without a zero before other digits, the second with a line feed behind it.
// It stores their codes and returns the number of bytes that it has read, which are whole lines,
// and the number of codes. It stops before lines of another form, and before the last 64 bytes
// or codes; it may stop at once. The caller parses the rest.
func Numbers(code []uint32, text []byte, l NumberLines) (read, n int) {
	return numbers(code, text, l)
}

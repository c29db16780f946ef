package simd

// NumberLines describes the lines of two numbers that [Numbers] reads. The code of a number v
// is v − Base.
type NumberLines struct {
	Sep   byte   // between the numbers of a line
	Base  uint64 // the least number
	Limit uint64 // all codes are below
	Least int64  // least difference between the first and the second code of a line
}

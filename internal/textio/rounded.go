package textio

import (
	"bytes"
	"strconv"
)

// MaxExact is the number up to which float64 holds every integer.
const MaxExact = 1 << 53

// Rounded reports whether a word is an integer that float64 does not hold, w being
// the value that was read from it. Numbers with a point or an exponent are taken
// for measured ones, which are rounded anyway.
func Rounded(word []byte, w float64) bool {
	word = bytes.TrimLeft(word, "+-")
	if -MaxExact < w && w < MaxExact || len(word) == 0 || len(bytes.Trim(word, "0123456789")) > 0 {
		return false
	}
	digits := bytes.TrimPrefix(strconv.AppendFloat(nil, w, 'f', 0, 64), []byte{'-'})
	return !bytes.Equal(bytes.TrimLeft(word, "0"), digits)
}

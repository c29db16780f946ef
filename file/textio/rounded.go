package textio

import (
	"bytes"
	"strconv"
)

// MaxExact is the largest n such that float64 represents every integer from 0 to n.
const MaxExact = 1 << 53

// IsRounded reports whether word, of parsed value w, is an integer that float64 does not represent, for example
// 9007199254740993. Numbers with a point or an exponent are measurements, which are rounded anyway.
func IsRounded(word []byte, w float64) bool {
	word = bytes.TrimLeft(word, "+-")
	if -MaxExact < w && w < MaxExact || len(word) == 0 ||
		len(bytes.Trim(word, "0123456789")) > 0 {
		return false
	}
	digits := bytes.TrimPrefix(strconv.AppendFloat(nil, w, 'f', 0, 64), []byte{'-'})
	return !bytes.Equal(bytes.TrimLeft(word, "0"), digits)
}

package lines

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/simd"
)

var powersOfTen = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
	1e11, 1e12, 1e13, 1e14, 1e15}

const zeros = 0x3030303030303030 // eight digits '0'

// word loads eight bytes, each xored with '0'. The first byte is the lowest byte.
func word(b []byte) uint64 {
	return binary.LittleEndian.Uint64(b) ^ zeros
}

// notDigits returns a word in which the highest bit of the first byte that is not a digit is set, and perhaps
// bits of later bytes. Adding 0x76 to a byte that is 10 or more carries into its highest bit.
func notDigits(x uint64) uint64 {
	return (x + 0x7676767676767676 | x) & 0x8080808080808080
}

// digitBits returns 8 times the number of digits at the start of a word.
func digitBits(x uint64) uint {
	return uint(bits.TrailingZeros64(notDigits(x))) &^ 7
}

// number reads the decimal digits at the start of b, which must have at least 16 bytes. It returns the value
// and the number of digits. If there are more than 15 digits, it returns 0 and 17.
func number(b []byte) (value uint64, digits uint) {
	x := word(b)
	k := digitBits(x)
	if k == 64 {
		return longNumber(b, x)
	}
	return eightDigits(x << (64 - k)), k >> 3 // a shift by 64 gives 0
}

// longNumber is [number] if b begins with eight digits or more. x holds the first eight digits.
func longNumber(b []byte, x uint64) (value uint64, digits uint) {
	y := word(b[8:])
	k := digitBits(y)
	if k == 64 {
		return 0, 17
	}
	return eightDigits(x)*powersOfTen[k>>3] + eightDigits(y<<(64-k)), 8 + k>>3
}

// eightDigits returns the value of eight digits. The first digit is the lowest byte.
func eightDigits(x uint64) uint64 {
	x = x*10 + x>>8
	return ((x&0x000000FF000000FF)*0x000F424000000064 +
		(x>>16&0x000000FF000000FF)*0x0000271000000001) >> 32
}

// Template describes the lines of the fast loop: two numbers and, if Weighted is set, a weight, with one
// separator between them. The code of a number v is v − Base, which must be below Limit.
type Template struct {
	Sep         byte
	Weighted    bool
	Base, Limit uint64
	Lower       bool // the first number is not less than the second
	Strict      bool // the numbers differ
	Whole       bool // weights are integers
}

// Scan reads the lines of text from offset on, up to the first line that does not follow the template, and
// returns the offset of this line. It appends two codes for each line to code, and the weights to weight.
// lineWindow readable bytes that are not digits must follow text.
func (t Template) Scan(text []byte, offset int, code []uint32,
	weight []float64) (int, []uint32, []float64) {
	if !t.Weighted {
		read, n := simd.Numbers(code[len(code):cap(code)], text[offset:],
			simd.NumberLines{Sep: t.Sep, Base: t.Base, Limit: t.Limit,
				Least: t.least()})
		offset += read
		code = code[:len(code)+n]
	}
	end := len(text)
	text = text[:end+lineWindow]
	for offset < end {
		// This is number, twice, inlined by hand.
		x := word(text[offset:])
		k := digitBits(x)
		u := eightDigits(x << (64 - k))
		n := k >> 3
		if k == 64 {
			u, n = longNumber(text[offset:], x)
		}
		if n-1 >= 10 || n > 1 && text[offset] == '0' {
			break
		}
		j := offset + int(n)
		if text[j] != t.Sep {
			break
		}
		j++
		x = word(text[j:])
		k = digitBits(x)
		v := eightDigits(x << (64 - k))
		n = k >> 3
		if k == 64 {
			v, n = longNumber(text[j:], x)
		}
		if n-1 >= 10 || n > 1 && text[j] == '0' || u-t.Base >= t.Limit ||
			v-t.Base >= t.Limit ||
			t.Lower && (u < v || t.Strict && u == v) {
			break
		}
		j += int(n)
		if t.Weighted {
			if text[j] != t.Sep {
				break
			}
			j++
			w, n := decimal(text[j:])
			if n == 0 {
				n = bytes.IndexByte(text[j:end], '\n')
				var fault string
				w, fault = table.ParseWeight(bytes.TrimSuffix(text[j:j+n],
					[]byte{'\r'}), false)
				if fault != "" || w >= textio.MaxExact {
					break // larger integers are read where rounding is counted
				}
				if n > 0 && text[j+n-1] == '\r' {
					n--
				}
			}
			if t.Whole && w != math.Trunc(w) {
				break
			}
			j += n
			weight = append(weight, w)
		}
		c := text[j]
		if c == '\r' {
			j++
			c = text[j]
		}
		if c != '\n' {
			if t.Weighted {
				weight = weight[:len(weight)-1]
			}
			break
		}
		code = append(code, uint32(u-t.Base), uint32(v-t.Base))
		offset = j + 1
	}
	return offset, code, weight
}

// least returns the smallest difference between the two numbers of a line.
func (t Template) least() int64 {
	switch {
	case t.Strict:
		return 1
	case t.Lower:
		return 0
	}
	return math.MinInt32
}

const lineWindow = 24

// decimal reads a number of at most 15 digits, or returns n = 0. float64 represents both the digits and the
// power of ten exactly, so that their quotient is the nearest number.
func decimal(b []byte) (value float64, n int) {
	integer, k := number(b)
	if k-1 >= 15 {
		return 0, 0
	}
	if b[k] != '.' {
		if b[k] > ' ' {
			return 0, 0
		}
		return float64(integer), int(k)
	}
	if len(b) < int(k)+17 {
		return 0, 0
	}
	fraction, f := number(b[k+1:])
	if f-1 >= 15 || k+f > 15 || b[k+1+f] > ' ' {
		return 0, 0
	}
	return float64(integer*powersOfTen[f]+fraction) / float64(powersOfTen[f]),
		int(k + 1 + f)
}

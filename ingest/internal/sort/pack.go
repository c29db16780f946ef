package sort

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// wideCode is the least width of codes that are written with 32 bits. Two shorter codes and a start within a
// byte fit into 64 bits.
const wideCode = 28

// packSlack is the number of bytes after a record that packing and unpacking may access.
const packSlack = 8

// packCodes appends an even number of codes with width bits each.
func packCodes(dst []byte, code []uint32, width uint) []byte {
	offset := len(dst)
	total := offset + (len(code)*int(width)+7)/8
	dst = slices.Grow(dst, total-offset+packSlack)[:total+packSlack]
	// pending holds bits that do not fill a byte yet.
	pending := uint64(0)
	n := uint(0)
	for ; len(code) >= 2; code = code[2:] {
		pending |= (uint64(code[0]) | uint64(code[1])<<width) << n
		binary.LittleEndian.PutUint64(dst[offset:], pending)
		n += 2 * width
		offset += int(n >> 3)
		pending >>= n &^ 7
		n &= 7
	}
	dst[offset] = byte(pending)
	return dst[:total]
}

// unpackCodes is the inverse of packCodes. packSlack bytes after b must be readable.
func unpackCodes(code []uint32, b []byte, width uint) {
	mask := uint64(1)<<width - 1
	bit := uint(0)
	for ; len(code) >= 2; code = code[2:] {
		x := binary.LittleEndian.Uint64(b[bit>>3:]) >> (bit & 7)
		code[0] = uint32(x & mask)
		code[1] = uint32(x >> width & mask)
		bit += 2 * width
	}
}

// CodeWidth returns the number of bits of the codes 0 to top.
func CodeWidth(top uint32) uint {
	if w := uint(bits.Len32(top)); w < wideCode {
		return max(1, w)
	}
	return 32
}

func formOf(weight []float64) weightForm {
	form := weightsEqual
	for _, w := range weight {
		if form == weightsEqual && w != weight[0] {
			form = weightsOf32
		}
		if form == weightsOf32 && float64(float32(w)) != w {
			return weightsOf64
		}
	}
	if form == weightsOf32 && float64(float32(weight[0])) != weight[0] {
		return weightsOf64
	}
	return form
}

func appendWeights(dst []byte, weight []float64, form weightForm) []byte {
	le := binary.LittleEndian
	switch form {
	case weightsEqual:
		if len(weight) > 0 {
			dst = le.AppendUint64(dst, math.Float64bits(weight[0]))
		}
	case weightsOf32:
		for _, w := range weight {
			dst = le.AppendUint32(dst, math.Float32bits(float32(w)))
		}
	case weightsOf64:
		for _, w := range weight {
			dst = le.AppendUint64(dst, math.Float64bits(w))
		}
	}
	return dst
}

func weightsTo(weight []float64, b []byte, form weightForm) {
	le := binary.LittleEndian
	for i := range weight {
		switch form {
		case weightsEqual:
			weight[i] = math.Float64frombits(le.Uint64(b))
		case weightsOf32:
			weight[i] = float64(math.Float32frombits(le.Uint32(b[4*i:])))
		case weightsOf64:
			weight[i] = math.Float64frombits(le.Uint64(b[8*i:]))
		}
	}
}

// appendKeys appends keys with width ≤ 8 bytes each.
func appendKeys[K key](dst []byte, keys []K, width int) []byte {
	offset := len(dst)
	dst = slices.Grow(dst, len(keys)*width+packSlack)
	room := dst[offset:cap(dst)]
	for i, k := range keys {
		binary.LittleEndian.PutUint64(room[i*width:], uint64(k))
	}
	return dst[:offset+len(keys)*width]
}

// keysFrom appends n keys of width bytes from b. packSlack bytes after b must be readable.
func keysFrom[K key](dst []K, b []byte, n, width int) []K {
	first := len(dst)
	dst = slices.Grow(dst, n)[:first+n]
	b = b[:n*width+packSlack]
	mask := uint64(1)<<(8*width) - 1 // a shift by 64 gives 0
	for i := range dst[first:] {
		dst[first+i] = K(binary.LittleEndian.Uint64(b[i*width:]) & mask)
	}
	return dst
}

package graphfile

import (
	"bufio"
	"errors"
	"io"
	"math/bits"
)

// bitReader reads numbers in the codes of WebGraph, the highest bit of each byte first. It keeps the first error;
// numbers read after an error are 0.
type bitReader struct {
	in     *bufio.Reader
	bytes  int64
	window uint64 // next bits, the first one highest
	have   uint   // valid bits of window, at least 57 after fill unless the file ends
	err    error
}

var errBits = errors.New("damaged")

func (b *bitReader) fail() {
	if b.err == nil {
		b.err = errBits
	}
}

// fill reads until window has at least 57 valid bits or the file ends.
func (b *bitReader) fill() {
	for b.have <= 56 {
		next, err := b.in.ReadByte()
		if err != nil && !errors.Is(err, io.EOF) && b.err == nil {
			b.err = err
		}
		if err != nil {
			return
		}
		b.bytes++
		b.window |= uint64(next) << (56 - b.have)
		b.have += 8
	}
}

// take returns the next n ≤ 57 bits.
func (b *bitReader) take(n uint) uint64 {
	if b.have < n {
		if b.fill(); b.have < n && b.err == nil {
			b.err = io.ErrUnexpectedEOF
		}
	}
	if b.err != nil || n > 57 {
		b.fail()
		return 0
	}
	v := b.window >> (64 - n)
	b.window <<= n
	b.have -= n
	return v
}

// unary reads a number in unary code: the number of zeros before the next one bit.
func (b *bitReader) unary() (n uint64) {
	for b.err == nil {
		if zeros := uint(bits.LeadingZeros64(b.window)); zeros < b.have {
			b.window <<= zeros + 1
			b.have -= zeros + 1
			return n + uint64(zeros)
		}
		n += uint64(b.have)
		b.window = 0
		b.have = 0
		if b.fill(); b.have == 0 && b.err == nil {
			b.err = io.ErrUnexpectedEOF
		}
	}
	return 0
}

// binary reads a number whose highest bit has position msb. The stream holds only the bits below it.
func (b *bitReader) binary(msb uint64) uint64 {
	if msb > 57 {
		b.fail()
		return 0
	}
	return 1<<msb | b.take(uint(msb))
}

// gamma reads n, written as n+1 in Elias' code γ.
func (b *bitReader) gamma() uint64 {
	return b.natural(b.binary(b.unary()))
}

// delta reads n, written as n+1 in Elias' code δ.
func (b *bitReader) delta() uint64 {
	return b.natural(b.binary(b.gamma()))
}

// natural converts n, which counts from 1, to n−1. After an error it returns 0.
func (b *bitReader) natural(n uint64) uint64 {
	if b.err != nil {
		return 0
	}
	return n - 1
}

// zeta reads n, written as n+1 in the code ζ_k (P. Boldi and S. Vigna, Codes for the World Wide Web, Internet
// Mathematics 2, 2005): h in unary, then n+1 between 2^hk and 2^(h+1)k in minimal binary.
func (b *bitReader) zeta(k uint) uint64 {
	h := b.unary()
	if h > 57 {
		b.fail()
		return 0
	}
	place := uint(h) * k
	low := b.take(place + k - 1)
	if left := uint64(1) << min(place, 63); low < left {
		return b.natural(low + left)
	}
	return b.natural(2*low + b.take(1))
}

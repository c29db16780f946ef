package budget

import (
	"math"
	"math/bits"
	"sort"
	"unsafe"
)

// Size is an upper bound of the memory of a computation in bytes. AllOf, AnyOf, Times and Block do not overflow: a size
// beyond int64 becomes the largest int64, which exceeds every limit.
type Size = int64

// AllOf returns the size of parts that are all in memory at the same time, the sum.
func AllOf(parts ...Size) (sum Size) {
	for _, part := range parts {
		if part > math.MaxInt64-sum {
			return math.MaxInt64
		}
		sum += part
	}
	return sum
}

// AnyOf returns the size of parts of which only one is in memory at a time, the largest.
func AnyOf(parts ...Size) (largest Size) {
	for _, part := range parts {
		largest = max(largest, part)
	}
	return largest
}

// Times returns the size of count parts in memory at the same time.
func Times[N int | int64](count N, part Size) Size {
	high, low := bits.Mul64(uint64(count), uint64(part))
	if high > 0 || low > math.MaxInt64 {
		return math.MaxInt64
	}
	return Size(low)
}

// Block returns the size of a block of T, with rows of the size of [Row]. A large block begins on a huge page, see package
// system.
func Block[T any](rows, columns int) Size {
	const huge = 2 << 20
	size := Times(rows, Row[T](columns))
	if size >= 4*huge {
		size = AllOf(size, huge)
	}
	return size
}

// Row returns the bytes of a row with the given number of columns. Rows are padded for vector registers: to 1, 2, 4, 8, 16
// or 32 bytes, or a multiple of 32 bytes.
func Row[T any](columns int) Size {
	const register = 32
	bytes := Vector[T](max(1, columns))
	if bytes > register/2 {
		return (bytes + register - 1) / register * register
	}
	return 1 << bits.Len64(uint64(bytes-1))
}

// Vector returns the size of n elements of type T.
func Vector[T any, N int | int64](n N) Size { return Times(n, Size(unsafe.Sizeof(*new(T)))) }

// Widest returns the largest number of columns, from 1 to all, whose size is within limit. If one column exceeds the limit, it
// returns 1. A limit of 0 means no limit. size must increase with the number of columns.
func Widest(all int, limit Size, size func(columns int) Size) int {
	if limit == 0 {
		return all
	}
	return max(1, sort.Search(all, func(i int) bool { return size(i+1) > limit }))
}

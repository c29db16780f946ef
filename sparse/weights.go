package sparse

import (
	"math"

	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/internal/system"
)

// weights holds the values of some entries in one of three types. It is empty if all values are 1.
type weights struct {
	bytes   []uint8
	singles []float32
	doubles []float64
}

// none reports whether all values are 1.
func (w weights) none() bool {
	return w.bytes == nil && w.singles == nil && w.doubles == nil
}

// A weightType represents all values of the types that are listed before it.
type weightType uint8

const (
	ones weightType = iota
	byteWeights
	singleWeights
	doubleWeights
)

func (t weightType) narrow() bool {
	return t == byteWeights || t == singleWeights
}

// with returns the narrowest type that represents the values of type t and the values val exactly. A nil val means
// ones.
func (t weightType) with(val []float64) weightType {
	for _, v := range val {
		if t == ones && v != 1 {
			t = byteWeights
		}
		if t == byteWeights && (float64(uint8(v)) != v || math.Signbit(v)) {
			t = singleWeights
		}
		if t == singleWeights && float64(float32(v)) != v {
			return doubleWeights
		}
	}
	return t
}

func (t weightType) make(n int) (w weights) {
	switch t {
	case byteWeights:
		w.bytes = system.Make[uint8](n)
	case singleWeights:
		w.singles = system.Make[float32](n)
	case doubleWeights:
		w.doubles = system.Make[float64](n)
	}
	return w
}

func (w weights) part(lo, hi int64) weights {
	switch {
	case w.bytes != nil:
		w.bytes = w.bytes[lo:hi]
	case w.singles != nil:
		w.singles = w.singles[lo:hi]
	case w.doubles != nil:
		w.doubles = w.doubles[lo:hi]
	}
	return w
}

func (w weights) store(val []float64, n int) {
	for e := range n {
		v := valueAt(val, e)
		switch {
		case w.bytes != nil:
			w.bytes[e] = uint8(v)
		case w.singles != nil:
			w.singles[e] = float32(v)
		case w.doubles != nil:
			w.doubles[e] = v
		}
	}
}

// convertValues returns w as values of type T, or nil if all are 1. It may store them in buffer, which it may enlarge.
func convertValues[T Float](w weights, buffer *[]T) []T {
	if values, ok := any(w.singles).([]T); ok && values != nil {
		return values
	}
	if values, ok := any(w.doubles).([]T); ok && values != nil {
		return values
	}
	n := len(w.bytes) + len(w.singles) + len(w.doubles)
	if n == 0 {
		return nil
	}
	*buffer = grow(*buffer, max(n, MaxRange))
	val := (*buffer)[:n]
	switch {
	case w.bytes != nil:
		simd.Widen(val, w.bytes)
	case w.singles != nil:
		simd.Widen(val, w.singles)
	default:
		simd.Widen(val, w.doubles)
	}
	return val
}

package shard

import (
	"encoding/binary"
	"math"

	"github.com/heatwalk/heatwalk/internal/simd"
)

// Forms of the values of a frame. A frame has the first form that represents all its values exactly.
const (
	valuesOnes = iota // not stored
	valuesUint8
	valuesUint16
	valuesUint32
	valuesFloat32
	valuesFloat64
	valueForms
)

var valueBytes = [valueForms]int{0, 1, 2, 4, 4, 8}

func negative(val []float64) (count int64) {
	for _, v := range val {
		if v < 0 {
			count++
		}
	}
	return count
}

// valueForm returns the first form that represents all values of val exactly. An integer form does not represent −0.
func valueForm(val []float64) int {
	ones := true
	integer := true
	single := true
	var top float64
	for _, v := range val {
		ones = ones && v == 1
		integer = integer && v >= 0 && v <= math.MaxUint32 && v == math.Trunc(v) &&
			!(v == 0 && math.Signbit(v))
		single = single && float64(float32(v)) == v
		top = max(top, v)
	}
	switch {
	case ones:
		return valuesOnes
	case integer && top <= math.MaxUint8:
		return valuesUint8
	case integer && top <= math.MaxUint16:
		return valuesUint16
	case integer:
		return valuesUint32
	case single:
		return valuesFloat32
	}
	return valuesFloat64
}

func appendValues(dst []byte, form int, val []float64) []byte {
	for _, v := range val {
		switch form {
		case valuesUint8:
			dst = append(dst, uint8(v))
		case valuesUint16:
			dst = binary.LittleEndian.AppendUint16(dst, uint16(v))
		case valuesUint32:
			dst = binary.LittleEndian.AppendUint32(dst, uint32(v))
		case valuesFloat32:
			dst = binary.LittleEndian.AppendUint32(dst,
				math.Float32bits(float32(v)))
		case valuesFloat64:
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
		}
	}
	return dst
}

func valuesTo(dst []float64, form int, b []byte) {
	switch form {
	case valuesUint8:
		simd.Widen(dst, b)
	case valuesUint16:
		for i := range dst {
			dst[i] = float64(binary.LittleEndian.Uint16(b[2*i:]))
		}
	case valuesUint32:
		for i := range dst {
			dst[i] = float64(binary.LittleEndian.Uint32(b[4*i:]))
		}
	case valuesFloat32:
		for i := range dst {
			dst[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
		}
	case valuesFloat64:
		for i := range dst {
			dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
	}
}

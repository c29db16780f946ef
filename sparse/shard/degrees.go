package shard

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// The degrees file holds A·1 so that no sweep is needed to know it: the coded
// row lengths of an unweighted store, float64 numbers of a weighted one.

func appendDegrees(dst []byte, degrees []float64, weighted bool) []byte {
	if weighted {
		dst = slices.Grow(dst, 8*len(degrees))
		for _, d := range degrees {
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(d))
		}
		return dst
	}
	dst = slices.Grow(dst, len(degrees))
	for _, d := range degrees {
		dst = appendLengths(dst, []uint32{uint32(d)})
	}
	return dst
}

// parseDegrees reads the degrees file without its head.
func parseDegrees(path string, b []byte, m *Manifest) ([]float64, error) {
	wrong := func() error {
		return &CorruptError{Path: path, Offset: -1, What: fmt.Sprintf("%d bytes for %d rows", len(b), m.Rows) + restore}
	}
	if int64(len(b)) < m.Rows || m.Weighted && int64(len(b)) != 8*m.Rows {
		return nil, wrong()
	}
	degrees := make([]float64, m.Rows)
	if m.Weighted {
		valuesTo(degrees, valuesFloat64, b)
		return degrees, nil
	}
	at := 0
	for i := range degrees {
		var ptr [2]int64
		n := lengthsTo(ptr[:], b[at:])
		if n < 0 {
			return nil, wrong()
		}
		degrees[i] = float64(ptr[1])
		at += n
	}
	if at != len(b) {
		return nil, wrong()
	}
	return degrees, nil
}

package shard

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/sparse"
)

// The degrees file holds A·1, so that reading the degrees needs no sweep. An unweighted store has coded row lengths, a weighted
// store has float64 numbers.

// degreeList is the content of the degrees file while a store is written. It begins as coded row lengths. After the
// first weight other than 1 it has float64 numbers.
type degreeList struct {
	rows     int // final number of rows, or 0 if it is not known
	weighted bool
	content  []byte
	hub      float64 // sum over the first pieces of a long row whose last piece is missing
}

func (l *degreeList) add(degrees []float64, last bool) {
	if !last || l.hub != 0 {
		l.hub += degrees[0]
		if !last {
			return
		}
		degrees = []float64{l.hub}
		l.hub = 0
	}
	if l.content == nil {
		l.content = make([]byte, 0, l.rows)
	}
	for _, d := range degrees {
		if l.weighted {
			l.content = binary.LittleEndian.AppendUint64(l.content,
				math.Float64bits(d))
		} else {
			l.content = appendLengths(l.content, []uint32{uint32(d)})
		}
	}
}

func (l *degreeList) weigh() {
	if l.weighted {
		return
	}
	coded := l.content
	l.weighted = true
	l.content = make([]byte, 0, 8*max(l.rows, len(coded)))
	for len(coded) > 0 {
		var ptr [2]int64
		coded = coded[lengthsTo(ptr[:], coded):]
		l.content = binary.LittleEndian.AppendUint64(l.content,
			math.Float64bits(float64(ptr[1])))
	}
}

func parseDegrees(path string, b []byte, m *Manifest) ([]float64, error) {
	wrong := newDamage(path, "%d bytes for %d rows", len(b), m.Rows)
	if int64(len(b)) < m.Rows || m.Weighted && int64(len(b)) != 8*m.Rows {
		return nil, wrong
	}
	degrees := make([]float64, m.Rows)
	if m.Weighted {
		valuesTo(degrees, valuesFloat64, b)
		for i, d := range degrees {
			if d-d != 0 {
				return nil, &CorruptError{Path: path, Offset: int64(fileHead + 8*i),
					What: fmt.Sprintf("degree of row %d is %v", i, d) + restore}
			}
		}
		return degrees, nil
	}
	offset := 0
	for i := range degrees {
		var ptr [2]int64
		n := lengthsTo(ptr[:], b[offset:])
		if n < 0 {
			return nil, wrong
		}
		degrees[i] = float64(ptr[1])
		offset += n
	}
	if offset != len(b) {
		return nil, wrong
	}
	return degrees, nil
}

// checkDegrees describes the first whole row of a panel whose degree differs from the degrees file, or returns "".
func checkDegrees(p sparse.Panel, degrees []float64) (wrong string) {
	if p.Pieces > 1 {
		return ""
	}
	for i, want := range degrees[p.Lo:p.Hi] {
		if got := degree(p.Row(i)); got != want {
			return fmt.Sprintf("row %d has degree %v, the degrees file says %v",
				p.Lo+i, got, want)
		}
	}
	return ""
}

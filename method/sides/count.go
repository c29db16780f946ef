package sides

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/sparse/shard"
)

// Counts has the numbers of entries of a store with kinds or times. Entries whose factor is 0 do not count.
type Counts struct {
	Manifest       shard.Manifest // manifest of these entries; Times is nil without entries
	Labelled, Same []int64        // by kind: entries between two labelled nodes, and between two nodes of one class; without self-loops
}

// Count counts the entries of s with the factors that a sweep applies, see [shard.Weigh]. Row rows[i] is labelled with
// classes[i]. Cost: one sweep.
func Count(ctx context.Context, s *shard.Store,
	rows, classes []int) (*Counts, error) {
	n, _ := s.Dims()
	class := make([]int32, n) // class + 1; 0: no label
	for i, row := range rows {
		class[row] = int32(classes[i]) + 1
	}
	kinds := len(s.Manifest.Kinds)
	c := &Counts{Manifest: *s.Manifest, Labelled: make([]int64, kinds),
		Same: make([]int64, kinds)}
	m := &c.Manifest
	m.Entries = 0
	m.SelfLoops = 0
	m.Negative = 0
	m.Weighted = false
	first, last := uint16(math.MaxUint16), uint16(0)
	entries := make([]int64, kinds)
	err := shard.EachCodedRow(ctx, s, func(row int, col []uint32, val []float64, codes []uint32) error {
		for e, code := range codes {
			if val[e] == 0 {
				continue
			}
			m.Entries++
			m.Weighted = m.Weighted || val[e] != 1
			if val[e] < 0 {
				m.Negative++
			}
			isLoop := int(col[e]) == row
			if isLoop {
				m.SelfLoops++
			}
			time := shard.TimeOf(code)
			first, last = min(first, time), max(last, time)
			if kinds == 0 {
				continue
			}
			kind := shard.KindOf(code)
			entries[kind]++
			if class[row] == 0 || class[col[e]] == 0 || isLoop {
				continue
			}
			c.Labelled[kind]++
			if class[row] == class[col[e]] {
				c.Same[kind]++
			}
		}
		return nil
	})
	m.Kinds = nil
	for k, kind := range s.Manifest.Kinds {
		m.Kinds = append(m.Kinds, shard.Kind{Name: kind.Name, Entries: entries[k]})
	}
	if t := m.Times; t != nil {
		m.Times = nil
		if m.Entries > 0 {
			m.Times = &shard.Times{Unit: t.Unit, First: first, Last: last}
		}
	}
	return c, err
}

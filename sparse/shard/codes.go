package shard

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/sparse"
)

// MaxKinds is the largest number of kinds of a store.
const MaxKinds = 255

// Kind is a kind of edges.
type Kind struct {
	Name    string `json:"name"`
	Entries int64  `json:"entries"` // stored entries of one direction
}

// Times describes the times of the entries. A time is a number of units: days since 1900-01-01, minutes, or steps from 0.
type Times struct {
	Unit  string `json:"unit"` // "day", "minute" or "step"
	First uint16 `json:"first"`
	Last  uint16 `json:"last"`
}

// The code of an entry is kind + kindCodes·time, where kind is the position of its kind in the manifest. Without kinds
// or without times, that part is 0.
const (
	kindCodes = 1 << 8
	codeBytes = 3 // bytes of a kind and a time
)

// CodeOf returns the code of an entry with a kind and a time.
func CodeOf(kind uint8, time uint16) uint32 {
	return uint32(kind) + kindCodes*uint32(time)
}

// KindOf returns the kind of a code.
func KindOf(code uint32) int { return int(code % kindCodes) }

// TimeOf returns the time of a code.
func TimeOf(code uint32) uint16 {
	return uint16(code / kindCodes)
}

// HasCodes reports whether the entries have kinds or times.
func (m *Manifest) HasCodes() bool {
	return m.Kinds != nil || m.Times != nil
}

func (m *Manifest) hasValues() bool {
	return m.Weighted || m.HasCodes()
}

func (m *Manifest) version() int {
	switch {
	case m.Attributes != nil:
		return Version
	case m.HasCodes() || m.Negative > 0:
		return codedVersion
	}
	return plainVersion
}

func (m *Manifest) codeSize() (bytes int) {
	if m.Kinds != nil {
		bytes++
	}
	if m.Times != nil {
		bytes += 2
	}
	return bytes
}

// wrongCodes describes a contradiction in the kinds and times of the manifest. It returns "" if there is none.
func (m *Manifest) wrongCodes() string {
	entries := m.Entries
	for i, k := range m.Kinds {
		entries -= k.Entries
		if k.Name == "" || k.Entries < 0 ||
			slices.ContainsFunc(m.Kinds[:i],
				func(rival Kind) bool { return rival.Name == k.Name }) {
			return fmt.Sprintf("kind %q of %d entries", k.Name, k.Entries)
		}
	}
	switch {
	case m.Kinds != nil &&
		(len(m.Kinds) == 0 || len(m.Kinds) > MaxKinds || entries != 0):
		return fmt.Sprintf("%d kinds without %d entries", len(m.Kinds), entries)
	case m.Times != nil &&
		(!slices.Contains([]string{DayUnit, MinuteUnit, StepUnit}, m.Times.Unit) ||
			m.Times.First > m.Times.Last):
		return fmt.Sprintf("times %+v", *m.Times)
	}
	return ""
}

func (m *Manifest) describeEmpty() (kinds []Kind, times *Times) {
	for _, k := range m.Kinds {
		kinds = append(kinds, Kind{Name: k.Name})
	}
	if m.Times != nil {
		times = &Times{Unit: m.Times.Unit, First: math.MaxUint16}
	}
	return kinds, times
}

func (m *Manifest) appendCodes(dst []byte, code []uint32) []byte {
	if m.Kinds != nil {
		for _, c := range code {
			dst = append(dst, uint8(c))
		}
	}
	if m.Times != nil {
		for _, c := range code {
			dst = binary.LittleEndian.AppendUint16(dst, TimeOf(c))
		}
	}
	return dst
}

// readCodes sets the kinds and times of p to those in b. If check is set, it describes the first code that the manifest
// does not allow.
func (m *Manifest) readCodes(p *sparse.Panel, b []byte, check bool) (wrong string) {
	if m.Kinds != nil {
		p.Kinds = b[:p.Entries:p.Entries]
		b = b[p.Entries:]
	}
	if m.Times != nil {
		p.Times = b[:2*p.Entries]
	}
	if !check {
		return ""
	}
	for _, kind := range p.Kinds {
		if int(kind) >= len(m.Kinds) {
			return fmt.Sprintf("kind %d of %d", kind, len(m.Kinds))
		}
	}
	for e := 0; e < len(p.Times); e += 2 {
		if t := binary.LittleEndian.Uint16(p.Times[e:]); t < m.Times.First || t > m.Times.Last {
			return fmt.Sprintf("time %d, the manifest says %d to %d", t,
				m.Times.First, m.Times.Last)
		}
	}
	return ""
}

// Codebook gives each entry of a store a factor: the factor of its kind times the factor of its time. A nil list means
// factors of 1.
type Codebook struct {
	Values Values    // what the factors multiply
	Kinds  []float64 // factors of kinds, in the order of the manifest
	Times  []float64 // factors of times, from the first to the last time of the store
}

// Values is a function of the weight w of an entry.
type Values uint8

// The functions w, 1 and log(1 + w).
const (
	Given Values = iota
	Ones
	Logs
)

func (c *Codebook) table(m *Manifest) *codeTable {
	t := &codeTable{values: c.Values}
	for k := range t.kinds {
		t.kinds[k] = 1
		if k < len(c.Kinds) {
			t.kinds[k] = c.Kinds[k]
		}
	}
	if c.Times != nil {
		t.times = append(make([]float64, m.Times.First), c.Times...)
	}
	return t
}

// Weigher returns the function that computes the value of an entry from its weight and its code, as the sweeps of
// [ApplyCodebook] do.
func (c *Codebook) Weigher(m *Manifest) func(weight float64, code uint32) float64 {
	t := c.table(m)
	return func(weight float64, code uint32) float64 {
		switch t.values {
		case Ones:
			weight = 1
		case Logs:
			weight = math.Log1p(weight)
		}
		weight *= t.kinds[KindOf(code)]
		if t.times != nil {
			weight *= t.times[TimeOf(code)]
		}
		return weight
	}
}

// codeTable has the factors of a [Codebook] by kind and by time.
type codeTable struct {
	values Values
	kinds  [kindCodes]float64
	times  []float64 // nil: all are 1
}

func (t *codeTable) weigh(p *sparse.Panel, val []float64) {
	val = val[:p.Entries]
	hasValues := p.Val != nil && t.values != Ones
	if hasValues && t.values == Logs {
		for e, w := range val {
			val[e] = math.Log1p(w)
		}
	}
	switch {
	case !hasValues && p.Kinds != nil:
		for e, kind := range p.Kinds[:len(val)] {
			val[e] = t.kinds[kind]
		}
	case !hasValues:
		for e := range val {
			val[e] = 1
		}
	case p.Kinds != nil:
		for e, kind := range p.Kinds[:len(val)] {
			val[e] *= t.kinds[kind]
		}
	}
	p.Val = val
	if t.times != nil {
		for e := range val {
			val[e] *= t.times[binary.LittleEndian.Uint16(p.Times[2*e:])]
		}
	}
}

type weighed struct {
	*view
	table *codeTable
}

func (w *weighed) SweepRows(ctx context.Context, lo, hi, workers int,
	visit sparse.PanelVisitor) error {
	return w.view.sweepRows(ctx, lo, hi, workers, w.table, visit)
}

// ApplyCodebook returns the matrix of a store whose values a codebook computes, and its transpose. Both share the
// frames of the store.
func ApplyCodebook(s *Store, c *Codebook) (a, transpose sparse.Matrix) {
	t := c.table(s.Manifest)
	a = &weighed{s.out, t}
	transpose = a
	if s.Manifest.Directed {
		transpose = &weighed{s.back, t}
	}
	return a, transpose
}

// Weigh makes all following sweeps of a store with codes compute values with a codebook, also sweeps of
// [Sweeper.Transpose]. It adds up the entries of each pair of nodes, and computes the degrees again. A nil codebook
// means factors of 1. A codebook without lists makes the manifest say that the store is weighted, because other factors
// will follow. Weigh must be called before [Sweeper.Load]. Cost: two sweeps.
func Weigh(ctx context.Context, s *Sweeper, c *Codebook) (err error) {
	m := *s.Manifest
	if c == nil {
		c = &Codebook{Kinds: []float64{1}}
	}
	s.table = c.table(&m)
	if s.joined == nil {
		s.joined = &sparse.Joined{Matrix: s.Store}
	}
	for _, joined := range []*sparse.Joined{s.joined, s.transposed} {
		if joined == nil {
			continue
		}
		if err := joined.Plan(ctx, s.o.Workers); err != nil {
			return err
		}
	}
	m.Weighted = m.Weighted || s.joined.Weighted || c.Kinds == nil && c.Times == nil
	s.Manifest = &m
	s.A = s.joined
	s.Degrees, err = sparse.Degrees(ctx, s.joined, s.o.Workers)
	if err == nil && s.Copy != nil {
		s.Copy = nil
		err = s.Arrange(ctx, sparse.LayoutOptions{Sweeps: 1}, 0) // the layout depends on the values
	}
	return err
}

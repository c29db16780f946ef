package main

import (
	"slices"

	"github.com/heatwalk/heatwalk/papers/closed"
)

// values are those of a kernel between distinct records.
type values struct {
	alike []int // the distinct record that each one is
	n     int   // how many there are
	data  []float32
}

// valuesOf computes them all.
func valuesOf(g closed.Gram) *values {
	groups := g.Alike()
	n := slices.Max(groups) + 1
	v := &values{alike: groups, n: n, data: make([]float32, n*n)}
	row := make([]float64, n)
	for a := range n {
		g.DistinctTo(row, slices.Index(groups, a))
		for b, x := range row {
			v.data[a*n+b] = float32(x)
		}
	}
	return v
}

// row returns the values of a record with all distinct ones.
func (v *values) row(record int) []float32 {
	return v.data[v.alike[record]*v.n:][:v.n]
}

// part is the kernel between some records, in the order of learning.
type part struct {
	*values
	records []int
	alike   []int // as of values
	known   int   // distinct records up to the last of the part
}

func newPart(v *values, records []int) *part {
	p := &part{values: v, records: records}
	for _, r := range records {
		p.alike = append(p.alike, v.alike[r])
		p.known = max(p.known, v.alike[r]+1)
	}
	return p
}

// Len implements [classify.Gram].
func (p *part) Len() int { return len(p.records) }

// RowTo implements [classify.Gram].
func (p *part) RowTo(dst []float64, i int) {
	p.withTo(dst, p.records[i])
}

// PartTo implements [classify.Gram].
func (p *part) PartTo(dst []float64, i int, items []int) {
	row := p.row(p.records[i])
	for j, item := range items {
		dst[j] = float64(row[p.alike[item]])
	}
}

// withTo stores the values of any record with those of the part.
func (p *part) withTo(dst []float64, record int) {
	row := p.row(record)
	for j, a := range p.alike {
		dst[j] = float64(row[a])
	}
}

// Alike returns the distinct record that each one is.
func (p *part) Alike() []int { return p.alike }

// DistinctTo stores the values of record i of the part with distinct ones.
func (p *part) DistinctTo(dst []float64, i int) {
	for a, x := range p.row(p.records[i])[:p.known] {
		dst[a] = float64(x)
	}
}

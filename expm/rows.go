package expm

import (
	"cmp"
	"iter"
	"slices"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

type listedRow struct{ row, place int }

func listRows(rows []int) []listedRow {
	if rows == nil {
		return nil
	}
	list := make([]listedRow, len(rows))
	for place, row := range rows {
		list[place] = listedRow{row, place}
	}
	slices.SortFunc(list, func(a, b listedRow) int { return cmp.Compare(a.row, b.row) })
	return list
}

func (e *evaluation) rowsBetween(lo, hi int) []listedRow {
	compare := func(l listedRow, row int) int { return cmp.Compare(l.row, row) }
	first, _ := slices.BinarySearchFunc(e.listed, lo, compare)
	count, _ := slices.BinarySearchFunc(e.listed[first:], hi, compare)
	return e.listed[first:][:count]
}

// rows returns the rows lo ≤ i < hi of the results, and their places.
func (e *evaluation) rows(lo, hi int) iter.Seq2[int, int] {
	return func(yield func(row, place int) bool) {
		if e.listed == nil {
			for i := lo; i < hi; i++ {
				if !yield(i, i) {
					return
				}
			}
		}
		for _, l := range e.rowsBetween(lo, hi) {
			if !yield(l.row, l.place) {
				return
			}
		}
	}
}

// addListed adds the scheduled terms to the listed rows lo ≤ i < hi of part p. If sums is not nil, it adds the squares of
// these rows, in the caller's variables, to sums.
func (r *recurrence) addListed(p *part, lo, hi int, scratch, sums []float64) {
	for _, l := range r.e.rowsBetween(lo, hi) {
		y := p.y.Row(l.place)
		if p.first {
			blocks.AddScaled(y, p.expansion.coef[r.j-1], r.x.Row(l.row))
		}
		blocks.AddScaled(y, p.expansion.coef[r.j], r.t.Row(l.row))
		if sums == nil {
			continue
		}
		seen := scratch[:len(y)]
		if p.scale {
			seen = p.dest.Row(l.place)
		}
		scaleTo(seen, blocks.Factor(r.m.inner, l.row), y)
		addSquares(sums, 1, seen)
	}
}

// pickRows gives each part a result with all rows, because solves need them, and returns a function that copies the listed
// rows into the caller's blocks.
func (e *evaluation) pickRows() func() {
	if e.listed == nil {
		return func() {}
	}
	listed := e.listed
	e.listed = nil
	results := make([]*sparse.Block[float64], len(e.parts))
	for i := range e.parts {
		p := &e.parts[i]
		results[i] = p.dest
		p.dest = sparse.NewBlock[float64](e.m.n, e.b.Cols)
		p.y = p.dest
	}
	return func() {
		for i, dst := range results {
			for _, l := range listed {
				copy(dst.Row(l.place), e.parts[i].dest.Row(l.row))
			}
		}
	}
}

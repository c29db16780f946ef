package shard

import (
	"context"
	"strconv"

	"github.com/heatwalk/heatwalk/sparse"
)

// Outside is the place of a row that [Sweeper.WriteRows] and [Nodes.Select] leave out.
const Outside = ^uint32(0)

// WriteRows writes a store of count of the rows to the directory dir. place[i] must be the number of row i in the new
// store, or [Outside]. Rows that are written must have no entries in the columns of rows outside. Cost: one sweep, for
// a directed graph two.
func (s *Sweeper) WriteRows(ctx context.Context, dir string, place []uint32,
	count int) error {
	m := s.Manifest
	w, err := Create(dir,
		&WriteOptions{Directed: m.Directed, Workers: s.o.Workers,
			Options: m.Options})
	if err != nil {
		return err
	}
	defer w.Abort()
	if w.Nodes, err = s.Nodes.Select(place, count); err != nil {
		return err
	}
	w.Manifest.Sources = m.Sources
	w.Manifest.Kinds, w.Manifest.Times = m.describeEmpty()
	if err := w.appendRows(ctx, s.A, place, m.Weighted); err != nil {
		return err
	}
	if m.Directed {
		if err := w.BeginIn(); err != nil {
			return err
		}
		if err := w.appendRows(ctx, s.Store.Transpose(), place, m.Weighted); err != nil {
			return err
		}
	}
	return w.Commit(ctx)
}

func (w *Writer) appendRows(ctx context.Context, a sparse.Matrix, place []uint32,
	weighted bool) error {
	return EachCodedRow(ctx, a, func(row int, col []uint32, val []float64, code []uint32) error {
		if place[row] == Outside {
			return nil
		}
		for k, c := range col {
			col[k] = place[c]
		}
		if !weighted {
			val = nil
		}
		return w.Append(col, val, code)
	})
}

// EachCodedRow calls visit with a copy of the entries of each row, in order. A pair of nodes has an entry for each kind
// and time. code is nil if the store has no kinds and no times. The slices are valid during the call. Cost: one sweep.
func EachCodedRow(ctx context.Context, a sparse.Matrix,
	visit func(row int, col []uint32, val []float64, code []uint32) error) error {
	var col, code []uint32
	var val []float64
	return sparse.Sweep(ctx, a, 1, func(_ int, p sparse.Panel) error {
		for i := range p.Hi - p.Lo {
			if p.Piece == 0 {
				col = col[:0]
				val = val[:0]
				code = code[:0]
			}
			columns, values := p.Row(i)
			col = append(col, columns...)
			val = append(val, values...)
			for len(val) < len(col) {
				val = append(val, 1)
			}
			code = p.AppendCodes(code, i)
			if p.Piece < p.Pieces-1 {
				continue
			}
			if err := visit(p.Lo+i, col, val, code); err != nil {
				return err
			}
		}
		return nil
	})
}

// Select returns the dictionary of the count rows whose place is not [Outside]; place has their new numbers. The ids
// keep their order.
func (n *Nodes) Select(place []uint32, count int) (*Nodes, error) {
	ids := func(yield func([]byte) bool) {
		var id []byte
		for row := range n.Rows() {
			if place[row] == Outside {
				continue
			}
			id = n.AppendID(id[:0], row)
			if !yield(id) {
				return
			}
		}
	}
	var list *Nodes
	var err error
	if n.ids.kind == nodesString {
		list, err = StringNodes(ids)
	} else {
		numbers := make([]uint64, 0, count)
		for id := range ids {
			number, _ := strconv.ParseUint(string(id), 10, 64) // every id of such a dictionary is a number
			numbers = append(numbers, number)
		}
		list = NumericNodes(numbers)
	}
	if n.Order == nil || err != nil {
		return list, err
	}
	position := make([]uint32, count)
	next := uint32(0)
	for row := range n.Rows() {
		if place[row] != Outside {
			position[place[row]] = next
			next++
		}
	}
	return list.Reorder(n.name, position, nil), nil
}

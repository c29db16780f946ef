package shard

import (
	"encoding/binary"
	"iter"
	"slices"
)

// Reorder returns a dictionary with the ids of n in another order of the rows: its row i has the id of row position[i]
// of n. The nodes file and [Nodes.Rows] keep the order of the ids. name is the name of the order in the manifest and
// must not be empty. position must be a permutation. rows must be its inverse, or nil. The dictionary keeps both
// slices, 8 bytes a row. n must not be reordered itself.
func (n *Nodes) Reorder(name string, position, rows []uint32) *Nodes {
	if name == "" || n.Order != nil || len(position) != n.ids.n {
		panic(badReorder)
	}
	if rows == nil {
		var wrong int
		rows, wrong = invert(position)
		if wrong >= 0 {
			panic(badReorder)
		}
	} else if !areInverse(position, rows) {
		panic(badReorder)
	}
	m := *n
	m.name = name
	m.Order = position
	m.rows = rows
	return &m
}

// Rows yields the rows in the order of the ids, in which results are written.
func (n *Nodes) Rows() iter.Seq[int] {
	return func(yield func(int) bool) {
		for position := range n.ids.n {
			if !yield(n.RowAt(position)) {
				return
			}
		}
	}
}

// RowAt returns the row whose id has the given position in the order of the ids.
func (n *Nodes) RowAt(position int) int {
	if n.rows == nil {
		return position
	}
	return int(n.rows[position])
}

// Position returns the position of a row in the order of the ids.
func (n *Nodes) Position(row int) int {
	if n.Order == nil {
		return row
	}
	return int(n.Order[row])
}

func invert(order []uint32) (inverse []uint32, wrong int) {
	n := len(order)
	inverse = slices.Repeat([]uint32{uint32(n)}, n)
	for i, p := range order {
		if int64(p) >= int64(n) || inverse[p] != uint32(n) {
			return nil, i
		}
		inverse[p] = uint32(i)
	}
	return inverse, -1
}

func areInverse(order, inverse []uint32) bool {
	if len(inverse) != len(order) {
		return false
	}
	for i, p := range order {
		if int64(p) >= int64(len(inverse)) || inverse[p] != uint32(i) {
			return false
		}
	}
	return true
}

func (n *Nodes) parseOrder(path string, b []byte, m *Manifest) error {
	if int64(len(b)) != 4*m.Rows {
		return newDamage(path, "%d bytes for %d rows", len(b), m.Rows)
	}
	n.name, n.Order = m.Order, make([]uint32, n.ids.n)
	for i := range n.Order {
		n.Order[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	var wrong int
	n.rows, wrong = invert(n.Order)
	if wrong >= 0 {
		return newDamage(path, "position %d of row %d is another row's or none",
			n.Order[wrong], wrong)
	}
	return nil
}

const badReorder = "shard: Reorder needs a name, one permutation, and ids in their own order"

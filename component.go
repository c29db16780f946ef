package heatwalk

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// identityOfComponent changes the identity of a store to that of the store of its largest
// component, which is the same in every run, so that a killed run can be continued.
const identityOfComponent = 0x1a29e57c0b9013d7

// outside is the place of a row that is not in the component.
const outside = ^uint32(0)

// openComponent replaces the store of g by a temporary store of its largest component. Cost: one
// sweep to find the components, and one to copy the rows for each direction.
func openComponent(ctx context.Context, g *Graph) (err error) {
	whole := g.Store
	n := whole.Nodes.Len()
	const row = 32 // bytes: components and the forest in which they are found, new rows, ids
	if most := g.options.Memory; most > 0 && row*int64(n) > most {
		return &budget.Error{Need: row * int64(n), Limit: most, Largest: budget.Item{What: "components", Bytes: row * int64(n)}}
	}
	components, err := sparse.FindComponents(ctx, whole.A, g.options.Workers)
	if err != nil {
		return err
	}
	if len(components.Sizes) < 2 {
		return nil
	}
	most, largest := slices.Max(components.Sizes), uint32(0)
	for i := range whole.Nodes.Rows() { // of the largest ones, that of the first node
		if largest = components.Of[i]; components.Sizes[largest] == most {
			break
		}
	}
	g.OmittedNodes, g.OmittedComponents = n-most, len(components.Sizes)-1
	place := components.Of // the new row of each row
	next := uint32(0)
	for i, c := range place {
		if place[i] = outside; c == largest {
			place[i] = next
			next++
		}
	}
	temporary, err := newTemporary(g)
	if err != nil {
		return err
	}
	err = writeRows(ctx, temporary.Content(), g, place, most)
	if err == nil {
		err = whole.Close()
	}
	if g.temporary != nil {
		err = errors.Join(err, g.temporary.Remove())
	}
	g.Store, g.temporary = nil, temporary
	if err != nil {
		return err
	}
	return openDir(ctx, g, temporary.Content())
}

// writeRows writes a store of the rows of g that have a place, count of them, in their order.
func writeRows(ctx context.Context, dir string, g *Graph, place []uint32, count int) error {
	m := g.Store.Manifest
	identity, _ := strconv.ParseUint(m.Identity, 16, 64)
	w, err := shard.Create(dir, &shard.WriteOptions{
		Directed: m.Directed, Workers: g.options.Workers, Options: m.Options, Identity: identity ^ identityOfComponent,
	})
	if err != nil {
		return err
	}
	defer w.Abort()
	if w.Nodes, err = nodesAt(g.Store.Store, place, count); err != nil {
		return err
	}
	w.Manifest.Sources = m.Sources
	if err := appendRows(ctx, w, g.Store.A, place, m.Weighted); err != nil {
		return err
	}
	if m.Directed {
		if err := w.BeginIn(); err != nil {
			return err
		}
		if err := appendRows(ctx, w, g.Store.Transpose(), place, m.Weighted); err != nil {
			return err
		}
	}
	return w.Commit(ctx)
}

// appendRows appends the rows of a that have a place. Their columns have places too.
func appendRows(ctx context.Context, w *shard.Writer, a sparse.Matrix, place []uint32, weighted bool) error {
	var col []uint32
	var val []float64
	return a.Sweep(ctx, 1, func(_ int, p sparse.Panel) error {
		for i := range p.Hi - p.Lo {
			if place[p.Lo+i] == outside {
				continue
			}
			if p.Piece == 0 {
				col, val = col[:0], val[:0]
			}
			columns, values := p.Row(i)
			for k, c := range columns {
				col = append(col, place[c])
				switch {
				case values != nil:
					val = append(val, values[k])
				case weighted:
					val = append(val, 1)
				}
			}
			if p.Piece < p.Pieces-1 {
				continue
			}
			row := val
			if !weighted {
				row = nil
			}
			if err := w.Append(col, row); err != nil {
				return err
			}
		}
		return nil
	})
}

// nodesAt returns the dictionary of the rows that have a place, count of them. Their ids keep their
// order.
func nodesAt(s *shard.Store, place []uint32, count int) (*shard.Nodes, error) {
	nodes := s.Nodes
	ids := func(yield func([]byte) bool) {
		var id []byte
		for row := range nodes.Rows() {
			if place[row] == outside {
				continue
			}
			if id = nodes.AppendID(id[:0], row); !yield(id) {
				return
			}
		}
	}
	var list *shard.Nodes
	if s.Manifest.Nodes != "string" {
		numbers := make([]uint64, 0, count)
		for id := range ids {
			number, err := strconv.ParseUint(string(id), 10, 64)
			if err != nil {
				return nil, err
			}
			numbers = append(numbers, number)
		}
		list = shard.NumericNodes(numbers)
	} else {
		var err error
		if list, err = shard.StringNodes(ids); err != nil {
			return nil, err
		}
	}
	if nodes.Order == nil {
		return list, nil
	}
	position := make([]uint32, count)
	at := uint32(0)
	for row := range nodes.Rows() {
		if place[row] != outside {
			position[place[row]] = at
			at++
		}
	}
	return list.Reorder(s.Manifest.Order, position, nil), nil
}

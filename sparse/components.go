package sparse

import (
	"context"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/internal/pages"
)

// Components are the connected components of a square matrix seen as an
// undirected graph, numbered in the order of their first rows.
type Components struct {
	Of    []uint32 // component of each row
	Sizes []int    // number of rows of each component
}

// FindComponents returns the components of a. Every nonzero entry connects its row and its column, in
// both directions. Cost: one sweep, and 4n bytes in addition to the result.
func FindComponents(ctx context.Context, a Matrix, workers int) (*Components, error) {
	rows, cols := a.Dims()
	if rows != cols {
		panic(badShape)
	}
	f := newForest(rows)
	err := a.Sweep(ctx, workers, func(_ int, p Panel) error {
		for i := range p.Hi - p.Lo {
			col, val := p.Row(i)
			root := f.root(uint32(p.Lo + i))
			for e, c := range col {
				// Most columns are already leaves of the tree of row i. One load shows this, and the
				// processor issues these loads for many entries at once.
				if f[c].Load() != root && (val == nil || val[e] != 0) {
					f.join(root, c)
					root = f.root(root)
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	c := &Components{Of: make([]uint32, rows)}
	for i := range c.Of {
		// A root is the smallest row of its set, and therefore the first.
		root := f.root(uint32(i))
		if int(root) == i {
			c.Of[i] = uint32(len(c.Sizes))
			c.Sizes = append(c.Sizes, 0)
		} else {
			c.Of[i] = c.Of[root]
		}
		c.Sizes[c.Of[i]]++
	}
	return c, nil
}

// Reached returns the rows of the components that contain one of the given rows.
func (c *Components) Reached(rows []int) *roaring.Bitmap {
	holds := make([]bool, len(c.Sizes))
	for _, row := range rows {
		holds[c.Of[row]] = true
	}
	return c.Holding(holds)
}

// Holding returns the rows of the components for which holds is true.
func (c *Components) Holding(holds []bool) *roaring.Bitmap {
	return rowSet(len(c.Of), func(i int) bool { return holds[c.Of[i]] })
}

// forest represents disjoint sets of rows by trees whose roots are their smallest rows. It is safe for
// concurrent use. A root is linked to a smaller row only, in one compare-and-swap, so that the sets do
// not depend on the order of the joins.
type forest []atomic.Uint32

func newForest(n int) forest {
	f := forest(pages.Make[atomic.Uint32](n))
	for i := range f {
		f[i].Store(uint32(i))
	}
	return f
}

// root returns the smallest row of the set of i, and halves the path to it.
func (f forest) root(i uint32) uint32 {
	for {
		up := f[i].Load()
		if up == i {
			return i
		}
		above := f[up].Load()
		if above != up {
			f[i].CompareAndSwap(up, above)
		}
		i = up
	}
}

// join merges the sets of a and b.
func (f forest) join(a, b uint32) {
	for {
		a, b = f.root(a), f.root(b)
		if a == b {
			return
		}
		if a < b {
			a, b = b, a
		}
		if f[a].CompareAndSwap(a, b) {
			return
		}
	}
}

package cli

import "sync/atomic"

// components are sets of rows that edges join, with the lowest row of each as
// its root (Jayanti and Tarjan's concurrent union-find: roots are only ever
// joined to lower ones, so the result does not depend on the order of joins).
// join may be called concurrently.
type components struct {
	parent []atomic.Uint32
}

func newComponents(rows int) *components {
	c := &components{parent: make([]atomic.Uint32, rows)}
	for i := range c.parent {
		c.parent[i].Store(uint32(i))
	}
	return c
}

// root returns the lowest row known to be joined with the given one.
func (c *components) root(row uint32) uint32 {
	for {
		parent := c.parent[row].Load()
		if parent == row {
			return row
		}
		above := c.parent[parent].Load()
		c.parent[row].CompareAndSwap(parent, above)
		row = parent
	}
}

// join makes the components of a and b one.
func (c *components) join(a, b uint32) {
	for {
		a, b = c.root(a), c.root(b)
		if a == b {
			return
		}
		if a < b {
			a, b = b, a
		}
		if c.parent[a].CompareAndSwap(a, b) {
			return
		}
	}
}

// sizes returns the number of rows of every component at its root, and 0 at
// all other rows.
func (c *components) sizes() []uint32 {
	size := make([]uint32, len(c.parent))
	for i := range c.parent {
		size[c.root(uint32(i))]++
	}
	return size
}

package sparse

import (
	"cmp"
	"context"
	"encoding/binary"
	"iter"
	"math"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/internal/system"
)

// Components are the connected components of a square matrix seen as an undirected graph, in the order of their first
// rows.
type Components struct {
	Of    []uint32 // component of each row
	Sizes []int    // number of rows of each component
}

// FindComponents returns the connected components of a. Every nonzero entry connects its row and its column. Cost: one
// sweep, and 4n bytes in addition to the result.
func FindComponents(ctx context.Context, a Matrix,
	workers int) (*Components, error) {
	rows, _ := a.Dims()
	total := TeamOf(a).TotalOf(rows)
	inTurn := func(yield func(int) bool) {
		for i := 0; i < total && yield(i); i++ {
		}
	}
	return FindComponentsInOrder(ctx, a, false, inTurn, workers)
}

// FindComponentsInOrder is [FindComponents] with components numbered by their first rows in order, which must yield all
// rows of the whole matrix. If symmetric is set, a must be symmetric, and fewer entries are read. If several processes
// share the rows, Of has the rows of this process, Sizes are the sizes in the whole matrix, and the memory is for all n
// rows.
func FindComponentsInOrder(ctx context.Context, a Matrix, symmetric bool, order iter.Seq[int],
	workers int) (*Components, error) {
	rows, cols := a.Dims()
	if rows != cols {
		panic(badShape)
	}
	f, err := connect(ctx, a, symmetric, 0, workers)
	if err != nil {
		return nil, err
	}
	const unvisited = math.MaxUint32
	c := &Components{Of: make([]uint32, len(f))}
	for i := range c.Of {
		c.Of[i] = unvisited
	}
	for i := range order {
		root := f.root(uint32(i))
		if c.Of[root] == unvisited {
			c.Of[root] = uint32(len(c.Sizes))
			c.Sizes = append(c.Sizes, 0)
		}
		c.Sizes[c.Of[root]]++
	}
	for i := range c.Of {
		c.Of[i] = c.Of[f.root(uint32(i))]
	}
	if m, divided := a.(*Divided); divided {
		c.Of = RowsOf(m.division, c.Of)
	}
	return c, nil
}

// connect returns the sets of rows that nonzero entries join. If sign is 1 or −1, each row i has a copy n + i: a
// positive entry of sign·A joins its row with its column, and their copies with each other; a negative entry joins its
// row with the copy of the column, and the copy of the row with the column.
//
// If symmetric is set, connect skips rows that are already joined with one early row, the hub. This loses nothing: the
// columns of a skipped row are joined with the hub too, or their own entries join them.
func connect(ctx context.Context, a Matrix, symmetric bool, sign float64,
	workers int) (forest, error) {
	rows, _ := a.Dims()
	n := uint32(TeamOf(a).TotalOf(rows))
	copies := uint32(1)
	if sign != 0 {
		copies = 2
	}
	m, divided := a.(*Divided)
	f := newForest(int(n * copies))
	local, _ := LocalRows(a)
	var hub atomic.Uint32 // 1 + row; 0 before it is chosen
	skips := symmetric && !divided && sign == 0
	err := Sweep(ctx, local, workers, func(_ int, p Panel) error {
		for i := p.Lo; i < p.Hi; i++ {
			col, val := p.Row(i - p.Lo)
			if len(col) == 0 {
				continue
			}
			row := uint32(TeamOf(a).Row(i))
			root := f.root(row)
			if skips && hub.Load() == 0 && len(col) > 2 {
				hub.CompareAndSwap(0, row+1)
			}
			if h := hub.Load(); h != 0 && h != row+1 && root == f.root(h-1) {
				continue
			}
			for e, c := range col {
				if divided {
					c = m.columns[c]
				}
				v := valueAt(val, e)
				if sign != 0 && v != 0 {
					mirrored := n + c
					if sign*v < 0 {
						c, mirrored = mirrored, c
					}
					f.join(row+n, mirrored)
				}
				// Most columns are already leaves of the tree of row i, which one load shows. The processor issues
				// these loads for many entries at once.
				if f[c].Load() != root && v != 0 {
					f.join(root, c)
					root = f.root(root)
				}
			}
		}
		return nil
	})
	if err == nil && divided {
		f.joinAll(m.team)
	}
	return f, err
}

// FindSides divides each balanced component of sign·A into two sides: positive entries join rows of one side, and
// negative entries join rows of different sides. It returns 1 for rows on the side of the first row of the component,
// −1 for rows on the other side, and 0 for rows of other components. If sign is −1 and all entries are ≥ 0, the
// balanced components are the bipartite components. A must be symmetric. Cost: one sweep, and 8n bytes in addition to
// the result.
func FindSides(ctx context.Context, a Matrix, sign float64,
	workers int) ([]float64, error) {
	f, err := connect(ctx, a, true, sign, workers)
	if err != nil {
		return nil, err
	}
	sides := make([]float64, len(f)/2)
	for i := range sides {
		sides[i] = float64(cmp.Compare(f.root(uint32(len(sides)+i)),
			f.root(uint32(i))))
	}
	if m, divided := a.(*Divided); divided {
		sides = RowsOf(m.division, sides)
	}
	return sides, nil
}

// Reachable returns the rows of the components that contain one of the given rows.
func (c *Components) Reachable(rows []int) *roaring.Bitmap {
	holds := make([]bool, len(c.Sizes))
	for _, row := range rows {
		holds[c.Of[row]] = true
	}
	return c.Select(holds)
}

// Select returns the rows of the components for which holds is true.
func (c *Components) Select(holds []bool) *roaring.Bitmap {
	return rowSet(len(c.Of), func(i int) bool { return holds[c.Of[i]] })
}

// forest represents disjoint sets of rows by trees whose roots are their smallest rows. A compare-and-swap links a root
// to a smaller row only, so that concurrent joins give the same sets in any order.
type forest []atomic.Uint32

func newForest(n int) forest {
	f := forest(system.Make[atomic.Uint32](n))
	for i := range f {
		f[i].Store(uint32(i))
	}
	return f
}

// root returns the smallest row of the set that has row i, and halves the path to it.
func (f forest) root(i uint32) uint32 {
	for {
		up := f[i].Load()
		if up == i {
			return i
		}
		parent := f[up].Load()
		if parent != up {
			f[i].CompareAndSwap(up, parent)
		}
		i = up
	}
}

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

// joinAll joins the sets of all processes, so that every process has the result. It takes ⌈log₂ P⌉ transfers to process
// 0, of 4 bytes for each row, and one transfer back.
func (f forest) joinAll(team *Team) {
	const size = 1 << 14 // bytes of a transferred row
	bytes := bytesOf(f)
	blocks := (len(bytes) + size - 1) / size
	mine := make([]byte, blocks*size)
	received := make([]byte, blocks*size)
	for step := 1; step < team.Size(); step *= 2 {
		var requested []RemoteRow
		if peer := team.Rank() + step; team.Rank()%(2*step) == 0 && peer < team.Size() {
			for i := range blocks {
				requested = append(requested,
					RemoteRow{Rank: int32(peer), Row: int32(i)})
			}
		}
		copy(mine, bytes)
		e := team.NewExchange(blocks, requested)
		e.Begin(mine, received[:len(requested)*size], size)
		e.End()
		e.Close()
		if len(requested) > 0 {
			for i := range f {
				f.join(uint32(i), binary.NativeEndian.Uint32(received[4*i:]))
			}
		}
	}
	team.Broadcast(0, bytes)
}

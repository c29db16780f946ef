package sparse

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/heatwalk/heatwalk/internal/pages"
	"github.com/heatwalk/heatwalk/internal/sched"
)

// Divided is a square matrix whose rows several processes share, as one of them sees it: a matrix on the rows
// of a [Division]. Only [Operator] can multiply with it, because products need rows of other processes.
// The entries of this process lie in memory.
//
// A product gathers from rows of other processes, the ghost rows, which it gets before the sweep; ranges
// of rows without them are computed meanwhile. Each process computes some of the named rows and gets the
// others after the sweep. Transferred bytes: those of the ghost rows and of the named rows that other
// processes compute.
type Divided struct {
	*Division
	local    *CSR  // columns after those of the blocks are ghost rows
	entries  int64 // largest number of entries in a process
	interior []int // ranges without ghost rows
	boundary []int // other ranges
	ghosts   Exchange
	shares   Exchange // of named rows
}

// ErrDivided is returned by a sweep that visits the entries of a [Divided] matrix.
var ErrDivided = errors.New("sparse: the rows of the matrix are divided among processes, and this computation needs all of them in one process")

// Divide returns the part of a that a process has in a division. Every process calls it. Cost: two sweeps over the
// rows of this process, 4 bytes for each of its entries, 12 with values, and during the call 4 for each row of a.
func Divide(ctx context.Context, a Matrix, d *Division, workers int) (*Divided, error) {
	rows, cols := a.Dims()
	if rows != cols || rows != d.Total {
		panic(badShape)
	}
	m := &Divided{Division: d}
	width := len(d.Rows)
	place := pages.Make[uint32](rows) // column for each row of the matrix, elsewhere for rows of other processes
	for row := range place {
		place[row] = elsewhere
	}
	for local, row := range d.Rows {
		if !d.IsPadding(local) {
			place[row] = uint32(local)
		}
	}
	ptr, ghosts := make([]int64, width+1), newRankedSet(rows)
	var weighted atomic.Bool
	err := d.sweep(ctx, a, workers, func(row, _ int, col []uint32, val []float64) {
		atomic.AddInt64(&ptr[place[row]+1], int64(len(col)))
		if val != nil {
			weighted.Store(true)
		}
		for _, c := range col {
			if place[c] == elsewhere {
				atomic.OrUint64(&ghosts.words[c/64], 1<<(c%64))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for i := range width {
		ptr[i+1] += ptr[i]
	}
	if int64(width)+int64(ghosts.count()) >= elsewhere {
		return nil, fmt.Errorf("sparse: process %d needs %d rows, more than 2³²; use more processes", d.Rank(), width+ghosts.count())
	}
	var wanted []RemoteRow
	for row := range ghosts.members {
		place[row] = uint32(width + len(wanted))
		wanted = append(wanted, d.owner(row))
	}
	entries := ptr[width]
	m.local = &CSR{rows: width, cols: width + len(wanted), ptr: ptr, col: pages.Make[uint32](int(entries) + spareIDs)[:entries]}
	if weighted.Load() {
		m.local.val = make([]float64, entries)
	}
	err = d.sweep(ctx, a, workers, func(row, piece int, col []uint32, val []float64) {
		m.local.insert(ptr[place[row]]+int64(piece)*MaxRange, col, val, place, [2]uint32{uint32(d.First), uint32(width)})
	})
	if err != nil {
		return nil, err
	}
	m.cut()
	m.plan(wanted)
	most := []float64{float64(entries)}
	d.Max(most)
	m.entries, d.Entries = int64(most[0]), a.NNZ()
	return m, nil
}

// elsewhere is the place of a row of another process.
const elsewhere = math.MaxUint32

// sweep calls visit with the pieces of the rows of a in the ranges of this process, and reads others only if a
// has no method SweepRows.
func (d *Division) sweep(ctx context.Context, a Matrix, workers int, visit func(row, piece int, col []uint32, val []float64)) error {
	for lo, hi := range d.mine {
		err := SweepRows(ctx, a, lo, hi, workers, func(_ int, p Panel) error {
			for i := max(lo, p.Lo); i < min(hi, p.Hi); i++ {
				col, val := p.Row(i - p.Lo)
				visit(i, p.Piece, col, val)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// insert stores the entries of a row, or of a piece of one, from position at on: those whose places lie below the
// first bound, then those below the second, then the others, so that places increase.
func (m *CSR) insert(at int64, col []uint32, val []float64, place []uint32, bounds [2]uint32) {
	from := uint32(0)
	for _, to := range [3]uint32{bounds[0], bounds[1], elsewhere} {
		for e, c := range col {
			if local := place[c]; local >= from && local < to {
				m.col[at] = local
				if m.val != nil {
					m.val[at] = 1
					if val != nil {
						m.val[at] = val[e]
					}
				}
				at++
			}
		}
		from = to
	}
}

// cut computes the ranges. A range has own rows, padding, or named rows.
func (m *Divided) cut() {
	for _, group := range [][2]int{{0, m.Own}, {m.Own, m.First}, {m.First, m.First + m.Named}} {
		lo := group[0]
		for _, r := range Cut(group[1]-lo, func(i int) int64 { return m.local.ptr[lo+i+1] - m.local.ptr[lo+i] }) {
			r.Lo += lo
			r.Hi += lo
			m.local.ranges = append(m.local.ranges, r)
		}
	}
	for i := range m.local.ranges {
		outside := false
		for _, c := range m.local.panel(i).Col {
			outside = outside || int(c) >= m.local.rows
		}
		if outside {
			m.boundary = append(m.boundary, i)
		} else {
			m.interior = append(m.interior, i)
		}
	}
}

// plan plans the transfers.
func (m *Divided) plan(ghosts []RemoteRow) {
	m.ghosts = m.NewExchange(m.Own, ghosts)
	var named []RemoteRow
	for p := range m.Size() {
		for i := range m.namedOf[p] {
			if p != m.Rank() {
				named = append(named, RemoteRow{Rank: int32(p), Row: int32(i)})
			}
		}
	}
	m.shares = m.NewExchange(len(m.namedOf[m.Rank()]), named)
}

// Close releases the plans of transfers. Every process calls it.
func (m *Divided) Close() {
	m.ghosts.Close()
	m.shares.Close()
}

// Dims returns the number of rows and columns of blocks in this process.
func (m *Divided) Dims() (r, c int) { return m.local.rows, m.local.rows }

// NNZ returns the largest number of entries in a process, so that decisions that depend on it are the same in
// all processes. See also [EntriesOf].
func (m *Divided) NNZ() int64 { return m.entries }

// Bytes returns the memory of the entries, and of the buffers of steps.
func (m *Divided) Bytes() int64 {
	rows, ghosts := int64(m.local.rows), int64(m.Ghosts())
	return LoadBytes(rows, m.entries, m.local.val != nil) + dividedBytes*(rows+2*ghosts+int64(m.Own+m.Named))
}

// Ghosts returns the number of rows of other processes that a product gathers from.
func (m *Divided) Ghosts() int { return m.local.cols - m.local.rows }

// Team returns the team.
func (m *Divided) Team() *Team { return &m.Division.Team }

// Ranges returns the ranges of the rows of this process.
func (m *Divided) Ranges() []Range { return m.local.ranges }

// Sweep returns [ErrDivided].
func (m *Divided) Sweep(context.Context, int, func(worker int, p Panel) error) error {
	return ErrDivided
}

// sweep visits some of the ranges.
func (m *Divided) sweep(ctx context.Context, workers int, ranges []int, visit func(worker int, p Panel)) error {
	return sched.Run(ctx, workers, len(ranges), func(worker, i int) error {
		p := m.local.panel(ranges[i])
		defer sched.InRows(p.Lo, p.Hi)
		visit(worker, p)
		return nil
	})
}

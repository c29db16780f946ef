package sparse

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/heatwalk/heatwalk/internal/system"
)

// Divided is the part of a square matrix that this process has in a [Division]. Its entries are in memory. Only
// [Operator] can multiply with it, because products need rows of other processes.
//
// A product reads ghost rows: rows of the block that only other processes have. The process receives them while it
// computes the rows that need no ghost rows. All processes have the named rows, see [Division]; each process computes
// some named rows of the product and receives the other named rows after the sweep.
//
// Columns are in the order of the rows of the whole matrix, so that the sum over a row has the same bits as in one
// process.
type Divided struct {
	division *Division
	team     *Team
	local    Matrix   // the entries, by rows of blocks: a *CSR or a *tiledMatrix
	columns  []uint32 // row of the whole matrix for each column of local, increasing: own, named and ghost rows
	batches  [][]run  // where own and named rows of a block are among the columns
	arriving [][]run  // where received ghost rows are among the columns
	arrivals int      // number of ghost rows
	held     int64    // bytes of the entries
	copied   int64    // bytes of the entries and their copy in Divide
	maxima   largest
	interior []int    // ranges without ghost rows
	boundary []int    // ranges with ghost rows
	ghosts   Exchange // transfers ghost rows
	shares   Exchange // transfers named rows
}

type largest struct{ entries, columns, ghosts int64 }

// run maps consecutive rows of a block, or of the received rows, to consecutive columns.
type run struct{ row, column, rows int }

// mostRun is the largest number of rows of a [run]. A batch of runs has about as many rows.
const mostRun = 4096

// ErrDivided is returned by a sweep that visits the entries of a [Divided] matrix.
var ErrDivided = errors.New("sparse: the rows of the matrix are divided among processes, and this computation needs all of them in one process")

// Divide returns the part of a that this process has in a division. Every process must call it. If tiles are faster,
// see [FindLayout], and both copies of the entries fit into half of memory, the entries are copied to tiles. A memory
// of 0 means no limit. Cost: two sweeps over the rows of this process, 4 bytes for each of its entries, 12 with values,
// and n/5 bytes for n rows of a.
func Divide(ctx context.Context, a Matrix, d *Division, memory int64,
	workers int) (*Divided, error) {
	rows, cols := a.Dims()
	if rows != cols || rows != d.Team.Total {
		panic(badShape)
	}
	d.Team.Entries = a.NNZ()
	m, err := d.build(func(visit visitRow) error {
		for lo, hi := range d.mine {
			err := EachRowOf(ctx, a, lo, hi, workers, func(_, row int, col []uint32, val []float64) error {
				local, _ := d.Local(row)
				visit(local, col, val)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return m, m.chooseLayout(ctx, memory, workers)
}

// visitRow receives the entries of a row of blocks. col has columns of the whole matrix.
type visitRow func(row int, col []uint32, val []float64)

func (d *Division) build(sweep func(visit visitRow) error) (*Divided, error) {
	m := &Divided{division: d, team: &d.Team}
	ptr := make([]int64, len(d.Team.Rows)+1)
	needed := newRankedSet(d.Team.Total)
	var weighted atomic.Bool
	err := sweep(func(local int, col []uint32, val []float64) {
		ptr[local+1] = int64(len(col))
		if val != nil {
			weighted.Store(true)
		}
		for _, c := range col {
			needed.addShared(int(c))
		}
	})
	if err != nil {
		return nil, err
	}
	for i := range d.Team.Rows {
		ptr[i+1] += ptr[i]
		if !d.Team.IsPadding(i) {
			needed.add(int(d.Team.Rows[i]))
		}
	}
	count := needed.count()
	entries := ptr[len(d.Team.Rows)]
	if int64(count) >= math.MaxUint32 {
		return nil, fmt.Errorf("sparse: process %d needs %d rows, more than 2³²; use more processes", d.Team.Rank(), count)
	}
	ghosts := m.numberColumns(&needed, count)
	local := &CSR{rows: len(d.Team.Rows), cols: count, ptr: ptr,
		col: system.Make[uint32](int(entries) + spareIDs)[:entries]}
	if weighted.Load() {
		local.val = make([]float64, entries)
	}
	err = sweep(func(row int, col []uint32, val []float64) {
		entry := ptr[row]
		for e, c := range col {
			local.col[entry+int64(e)] = uint32(needed.rank(int(c)))
		}
		switch {
		case val != nil:
			copy(local.val[entry:], val)
		case local.val != nil:
			for e := range col {
				local.val[entry+int64(e)] = 1
			}
		}
	})
	if err != nil {
		return nil, err
	}
	m.cutRanges(local)
	m.planTransfers(ghosts)
	maxima := []float64{float64(entries), float64(count), float64(len(ghosts))}
	d.Team.Max(maxima)
	m.maxima = largest{entries: int64(maxima[0]), columns: int64(maxima[1]),
		ghosts: int64(maxima[2])}
	m.local, m.held = local,
		LoadBytes(int64(local.rows), m.maxima.entries, local.val != nil)
	m.copied = m.held
	return m, nil
}

func (m *Divided) numberColumns(needed *rankedSet, count int) (ghosts []RemoteRow) {
	m.columns = make([]uint32, 0, count)
	var rows, arriving []run
	for row := range needed.members {
		if local, has := m.division.Local(row); has {
			rows = extend(rows, local, len(m.columns))
		} else {
			arriving = extend(arriving, len(ghosts), len(m.columns))
			ghosts = append(ghosts, m.division.owner(row))
		}
		m.columns = append(m.columns, uint32(row))
	}
	m.batches, m.arriving, m.arrivals = batch(rows), batch(arriving), len(ghosts)
	return ghosts
}

func extend(runs []run, row, column int) []run {
	if n := len(runs); n > 0 {
		if last := &runs[n-1]; last.rows < mostRun && row == last.row+last.rows &&
			column == last.column+last.rows {
			last.rows++
			return runs
		}
	}
	return append(runs, run{row, column, 1})
}

func batch(runs []run) (batches [][]run) {
	for len(runs) > 0 {
		n := 0
		size := 0
		for ; n < len(runs) && size < mostRun; n++ {
			size += runs[n].rows
		}
		batches = append(batches, runs[:n])
		runs = runs[n:]
	}
	return batches
}

// chooseLayout copies the local rows into tiles if tiles are faster and fit into memory.
func (m *Divided) chooseLayout(ctx context.Context, memory int64,
	workers int) error {
	local := m.local.(*CSR)
	t, err := findTiling(ctx, local, local.val != nil, dividedBytes/2, workers, &tilesPay) // the tiling is as fast for wider rows
	if err != nil || t == nil || t.inTiles == 0 {
		return err
	}
	tiled := t.bytes(dividedBytes, workers)
	if memory > 0 && m.held+tiled > memory/2 {
		return nil
	}
	m.held, m.copied = tiled, m.held+tiled
	m.local, err = newTiled(ctx, local, t, workers)
	system.Release() // frees the first copy, so that later blocks are on huge pages
	return err
}

// cutRanges cuts the rows of local into ranges. A range has only own rows, only padding or only named rows.
func (m *Divided) cutRanges(local *CSR) {
	for _, group := range [][2]int{{0, m.team.Own}, {m.team.Own, m.team.First},
		{m.team.First, m.team.First + m.team.Named}} {
		lo := group[0]
		for _, r := range Cut(group[1]-lo,
			func(i int) int64 { return local.ptr[lo+i+1] - local.ptr[lo+i] }) {
			r.Lo += lo
			r.Hi += lo
			local.ranges = append(local.ranges, r)
		}
	}
	isGhost := make([]bool, local.cols)
	for _, r := range slices.Concat(m.arriving...) {
		for c := range r.rows {
			isGhost[r.column+c] = true
		}
	}
	for i := range local.ranges {
		if slices.ContainsFunc(local.panel(i).Col,
			func(c uint32) bool { return isGhost[c] }) {
			m.boundary = append(m.boundary, i)
		} else {
			m.interior = append(m.interior, i)
		}
	}
}

func (m *Divided) planTransfers(ghosts []RemoteRow) {
	m.ghosts = m.team.NewExchange(m.team.Own, ghosts)
	var named []RemoteRow
	for p := range m.team.Size() {
		for i := range m.division.namedOf[p] {
			if p != m.team.Rank() {
				named = append(named, RemoteRow{Rank: int32(p), Row: int32(i)})
			}
		}
	}
	m.shares = m.team.NewExchange(len(m.division.namedOf[m.team.Rank()]), named)
}

// Close releases the plans of transfers. Every process must call it.
func (m *Divided) Close() {
	m.ghosts.Close()
	m.shares.Close()
}

// Dims returns the number of rows and columns of blocks in this process.
func (m *Divided) Dims() (r, c int) {
	return len(m.team.Rows), len(m.team.Rows)
}

// NNZ returns the largest number of entries in any process, so that all processes make the same decisions. See also
// [EntriesOf].
func (m *Divided) NNZ() int64 { return m.maxima.entries }

// Bytes returns the memory of the entries with the buffers of steps, or the memory that [Divide] needed if it is
// larger.
func (m *Divided) Bytes() int64 {
	return dividedMemory(m.division.mostRows(), m.maxima.columns, m.maxima.ghosts,
		m.held, m.copied)
}

func (d *Division) mostRows() int64 {
	return int64(slices.Max(d.count) + d.Team.Named)
}

// dividedMemory returns the bytes of a divided matrix and its steps. held and copied are as in [Divided]. A step holds
// every ghost row three times, because the network copies received rows and about as many sent rows.
func dividedMemory(rows, columns, ghosts, held, copied int64) int64 {
	return 4*columns + max(copied, held+dividedBytes*(columns+3*ghosts+rows))
}

// Ghosts returns the number of ghost rows: rows that a product receives from other processes.
func (m *Divided) Ghosts() int { return m.arrivals }

// Team returns the processes that share the rows.
func (m *Divided) Team() *Team { return m.team }

// Ranges returns the ranges of the rows of this process.
func (m *Divided) Ranges() []Range { return m.local.Ranges() }

// SweepRows returns [ErrDivided].
func (m *Divided) SweepRows(context.Context, int, int, int, PanelVisitor) error {
	return ErrDivided
}

package kernel

import (
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// Images is a symmetric kernel given by its products K·X. [Family.New] of another package may return an Images.
type Images struct {
	Nodes  int
	Team   *sparse.Team // processes that share the rows; nil: one process
	Method string       // name for reports

	// Apply stores K·X in dst. It calls progress with the number of sweeps since the last call.
	Apply func(ctx context.Context, dst, x *sparse.Block[float64], progress func(sweeps int)) error

	// Blocks is the number of blocks that Apply holds in memory, dst and x included.
	Blocks int

	Sweeps  int // sweeps of a call of Apply
	Prepare int // sweeps of the construction

	// The error of a value is at most Tail + Rounding·v, where v is the largest value. Norm is an upper bound
	// of the norm of K.
	Tail, Rounding, Norm float64
}

// Len implements [Kernel].
func (k *Images) Len() int { return k.Nodes }

// ImagesWorkspace returns the workspace of a block of an [Images] of n nodes: cols columns of values at long nodes.
// blocks is [Images].Blocks.
func ImagesWorkspace(blocks, n, long, cols int) budget.Workspace {
	space := budget.Slabs[float64](blocks, n, min(cols, SlabColumns(n)))
	space.Column += budget.Vector[float64](2 * long) // values and a mirror image
	return space
}

func (k *Images) slabWidth(long, cols int, memory int64) (int, error) {
	space := ImagesWorkspace(k.Blocks, k.Nodes, long, cols)
	return space.Width(memory), budget.Check(memory, space.Required(memory), "a column of the kernel")
}

// Block implements [Kernel].
func (k *Images) Block(ctx context.Context, rows, cols []int, take Sink,
	s *Settings) (*Report, error) {
	set, err := s.complete(k.Team)
	if err != nil {
		return nil, err
	}
	turned := len(rows) < len(cols)
	symmetric := slices.Equal(rows, cols)
	if turned {
		rows, cols = cols, rows
	}
	width, err := k.slabWidth(len(rows), len(cols), set.Memory)
	if err != nil {
		return nil, err
	}
	report := &Report{Method: k.Method, Sweeps: k.Prepare}
	total := (len(cols) + width - 1) / width * k.Sweeps
	progress := func(sweeps int) {
		report.Sweeps += sweeps
		set.progress(report.Sweeps-k.Prepare, total)
	}
	x := sparse.NewBlock[float64](k.Nodes, width)
	for left, end := range blocks.Slabs(len(cols), width) {
		slab := cols[left:end]
		x, y := x.Columns(0, len(slab)), sparse.NewBlock[float64](k.Nodes, len(slab))
		setUnits(x, slab, 1)
		if err := k.Apply(ctx, y, x, progress); err != nil {
			return nil, err
		}
		setUnits(x, slab, 0)
		if err := hand(y, rows, left, symmetric, turned, take, report); err != nil {
			return nil, err
		}
	}
	report.ErrorBound = k.Tail + k.Rounding*report.Largest
	if report.ErrorBound > set.limit()*report.Largest {
		return nil, tooTight(set.limit(), report.ErrorBound/report.Largest)
	}
	return report, nil
}

// hand passes to take the values at rows of the columns y, which begin at column left of the block. If symmetric is
// set, it passes the values on and below the diagonal and their mirror images. If turned is set, it passes the
// columns as rows. It updates report.Largest.
func hand(y *sparse.Block[float64], rows []int, left int, symmetric, turned bool,
	take Sink, report *Report) error {
	first := 0
	if symmetric {
		first = left
	}
	piece := sparse.NewBlock[float64](len(rows)-first, y.Cols)
	mirror := sparse.NewBlock[float64](y.Cols, len(rows)-first)
	for i := range piece.Rows {
		for c, v := range y.Row(rows[first+i]) {
			if symmetric && i < c {
				v = y.Row(rows[left+c])[i]
			}
			piece.Row(i)[c], mirror.Row(c)[i] = v, v
			report.Largest = max(report.Largest, math.Abs(v))
		}
	}
	if turned {
		return take(left, first, mirror)
	}
	if symmetric && piece.Rows > y.Cols {
		upper := mirror.Columns(y.Cols, mirror.Cols)
		if err := take(left, left+y.Cols, upper); err != nil {
			return err
		}
	}
	return take(first, left, piece)
}

// ApplyTo implements [Kernel].
func (k *Images) ApplyTo(ctx context.Context, dst, x *sparse.Block[float64],
	s *Settings) (*Report, error) {
	set, err := s.complete(k.Team)
	if err != nil {
		return nil, err
	}
	width, err := k.slabWidth(0, x.Cols, set.Memory)
	if err != nil {
		return nil, err
	}
	report := &Report{Method: k.Method, Sweeps: k.Prepare,
		ColumnBound: make([]float64, x.Cols)}
	progress := func(sweeps int) { report.Sweeps += sweeps }
	for lo, hi := range blocks.Slabs(x.Cols, width) {
		if err := k.Apply(ctx, dst.Columns(lo, hi), x.Columns(lo, hi), progress); err != nil {
			return nil, err
		}
	}
	in := blocks.Norms(k.Team, x)
	out := blocks.Norms(k.Team, dst)
	for c := range report.ColumnBound {
		report.ColumnBound[c] = (k.Tail + k.Rounding*k.Norm) * in[c]
		if report.ColumnBound[c] > set.limit()*out[c] {
			return nil, tooTight(set.limit(), report.ColumnBound[c]/out[c])
		}
	}
	return report, nil
}

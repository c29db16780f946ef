package expm

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// slabColumns returns the number of columns of a slab: the vectors and a result fit into a cache of 24 MiB, and a row fills
// at least a cache line. Bits of results depend on it.
func slabColumns(n int) int {
	const elements = 1 << 20
	if width := elements / max(n, 1) / 8 * 8; width > 0 {
		return width
	}
	return 16
}

// runSlabs computes the parts by series in H, one slab of columns after another, each to the tolerance.
func (e *evaluation) runSlabs(ctx context.Context, parts []*part) error {
	cols := e.b.Cols
	width := slabColumns(e.m.n)
	if cols <= width {
		return e.runSeries(ctx, parts)
	}
	selected := parts[:0:0]
	for _, p := range parts {
		if !p.tame {
			selected = append(selected, p)
		}
	}
	s := &evaluation{costs: costs{m: e.m, settings: e.settings}, listed: e.listed}
	running := make([]*part, len(selected))
	for lo, hi := range blocks.Slabs(cols, width) {
		s.b, s.result.Sweeps = e.b.Columns(lo, hi), 0
		for i, p := range selected {
			var y *sparse.Block[float64]
			if previous := running[i]; previous != nil && previous.y.Cols == hi-lo {
				y = previous.y
			} else {
				y = e.slabOf(hi - lo)
			}
			running[i] = &part{f: p.f, y: y, dest: p.dest.Columns(lo, hi),
				out: new(Outcome), expansion: p.expansion}
		}
		if e.settings.Progress != nil {
			s.settings.Progress = func(stage string, done, total int64) {
				e.settings.Progress(stage,
					(int64(lo/width)*total+done)/int64((cols+width-1)/width), total)
			}
		}
		if err := s.runSeries(ctx, running); err != nil {
			return err
		}
		e.result.Sweeps = max(e.result.Sweeps, s.result.Sweeps)
		for i, p := range selected {
			p.out.join(running[i].out)
		}
	}
	for i, p := range selected {
		if e.listed == nil {
			e.m.slabs.Put(running[i].y)
		}
		if !(p.out.Relative <= e.settings.Tolerance) {
			e.refuse(p)
		}
	}
	e.m.slabs.Put(s.w[0])
	e.m.slabs.Put(s.w[1])
	return nil
}

func (e *evaluation) slabOf(cols int) *sparse.Block[float64] {
	if e.listed != nil {
		return sparse.NewBlock[float64](len(e.listed), cols)
	}
	return e.m.slab(cols)
}

func (o *Outcome) join(next *Outcome) {
	o.Method = next.Method
	o.ErrorBound = math.Hypot(o.ErrorBound, next.ErrorBound)
	o.ColumnBound = append(o.ColumnBound, next.ColumnBound...)
	o.Rounding = append(o.Rounding, next.Rounding...)
	o.NormLowerBound = math.Hypot(o.NormLowerBound, next.NormLowerBound)
	o.relate()
}

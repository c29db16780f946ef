package kernel

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// gram computes the block of nodes with themselves as UᵀU, where U holds the columns of K^½ at nodes. A slab is a
// group of columns of U. gram holds as many slabs as memory allows, and computes the other slabs again for each group
// of held slabs.
func (c *computation) gram(ctx context.Context, nodes []int, out Sink) error {
	n := c.k.Len()
	m := len(nodes)
	slabs := slabsOf(n, m)
	width := slabs[0][1]
	if err := c.check(c.k.work.root(), width, 2*m*width); err != nil {
		return err
	}
	c.x = sparse.NewBlock[float64](n, width)
	c.log.report.HalfSteps = true
	block := budget.Block[float64](n, width)
	held := storedSlabs(len(slabs), c.s.Memory, c.need-block, block)
	c.need = budget.AllOf(c.need, budget.Times(held-1, block))
	if held < len(slabs) {
		c.y = sparse.NewBlock[float64](n, width)
	}
	for first := 0; first < len(slabs); first += held {
		c.log.slabs += len(slabs) - first
	}
	g := &gramPieces{team: c.scale.team, workers: c.k.graph.Workers,
		values: make([]float64, m*width), turned: make([]float64, m*width)}
	room := make([]*sparse.Block[float64], held)
	// Errors and effort of a slab must not depend on the memory limit.
	norms := make([]float64, len(slabs))
	spent := make([]float64, len(slabs))
	for first := 0; first < len(slabs); first += held {
		end := min(first+held, len(slabs))
		for i, slab := range slabs[first:] {
			column := first + i
			u := c.y
			if column < end {
				if room[i] == nil {
					room[i] = sparse.NewBlock[float64](n, width)
				}
				u = room[i]
			}
			u = u.Columns(0, slab[1]-slab[0])
			if first == 0 {
				norms[column] = c.norm
			} else {
				c.effort = spent[column]
			}
			if err := c.halfStep(ctx, u, nodes[slab[0]:slab[1]], norms[column]); err != nil {
				return err
			}
			spent[column] = c.effort
			if column < end {
				g.left = append(g.left[:i], u)
			}
			if err := g.multiply(ctx, u, slabs[first][0], slab, column < end, out); err != nil {
				return err
			}
		}
		g.left = g.left[:0]
	}
	// |ΔK_ij| ≤ η_i‖u_j‖ + η_j‖u_i‖ + η_iη_j, plus rounding.
	c.finish(2*c.worst*(c.norm+c.worst) +
		gramRounding(c.scale.team, n)*c.norm*c.norm)
	if largest := c.norm * c.norm; c.strict && c.log.report.ErrorBound > c.s.Tolerance*largest {
		return tooTight(c.s.Tolerance, c.log.report.ErrorBound/largest)
	}
	return nil
}

// storedSlabs returns the number of slabs of U to hold, at least one. They and one more slab of block bytes fit
// limit−used bytes.
func storedSlabs(slabs int, limit, used, block budget.Size) int {
	if fitting := (limit - used) / block; limit > 0 && fitting < int64(slabs) {
		return int(max(1, fitting-1))
	}
	return slabs
}

func gramRounding(team *sparse.Team, n int) float64 {
	return blocks.BoundRounding(team.TotalOf(n)) * epsilon
}

// halfStep stores in u the columns of K^½ at nodes. The tolerance is relative to norm or, if it is larger, to the
// largest norm of these columns.
func (c *computation) halfStep(ctx context.Context, u *sparse.Block[float64],
	nodes []int, norm float64) error {
	var norms []float64
	a, err := c.image(ctx, c.k.half, u, nodes, func(y *sparse.Block[float64], bound []float64) float64 {
		norms = blocks.Norms(c.scale.team, y)
		largest := max(norm, slices.Max(norms))
		worst := slices.Max(bound)
		if worst == 0 || largest == 0 {
			return 0
		}
		allowed := c.s.Tolerance / c.tightest
		allowed = max(allowed-gramRounding(c.scale.team, u.Rows)-4*epsilon, allowed/2) // rounding has its share
		return 2 * worst * (1 + worst/largest) / largest / allowed
	})
	if err != nil {
		return err
	}
	c.norm, c.worst = max(c.norm, slices.Max(norms)),
		max(c.worst, slices.Max(a.bound))
	return nil
}

type gramPieces struct {
	team           *sparse.Team
	workers        int
	left           []*sparse.Block[float64]
	values, turned []float64
}

// multiply passes the products of all held slabs with u, and their mirror images, to out. u is the slab of columns
// slab[0] ≤ j < slab[1]. The held slabs begin at column first. If held is set, u is the last of them.
func (g *gramPieces) multiply(ctx context.Context, u *sparse.Block[float64],
	first int, slab [2]int, held bool, out Sink) error {
	rows, cols := 0, u.Cols
	offset := make([]int, len(g.left))
	for i, l := range g.left {
		offset[i] = rows
		rows += l.Cols
	}
	piece := sparse.BlockOf(rows, cols, g.values[:rows*cols])
	err := sched.Run(ctx, g.workers, len(g.left), func(_, i int) error {
		l := g.left[i]
		reflection := &sparse.Block[float64]{Rows: l.Cols, Cols: cols, Stride: cols,
			Data: piece.Data[offset[i]*cols : (offset[i]+l.Cols)*cols]}
		blocks.ShareOfProductTo(g.team, reflection, l, u)
		return sched.Cause(ctx)
	})
	if err != nil {
		return err
	}
	g.team.Sum(piece.Data)
	height := rows
	if held {
		height -= cols
	}
	return handOver(piece, first, slab[0], height, g.turned, out)
}

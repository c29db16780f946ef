package auto

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/internal/chunks"
	"github.com/heatwalk/heatwalk/sparse"
)

// units are random features of few real numbers, in two layers of rectifiers:
//
//	F = [X, TX, T²X, T³X, degrees], columns of mean 0 and deviation 1
//	H = max(0, F·R + b), columns then of mean 0 and deviation 1
//	G = max(0, [H, TH]·Q + c)
//
// with Gaussian R/√columns, Q/√columns, 2b and 2c from a fixed seed. TH·Q is T·(H·Q), so
// that neither H nor TH is ever there as a whole.
type units struct {
	l *lens

	inputs *sparse.Block[float32] // F
	r, b   []float32              // R by rows, b
	h      columnUnits            // of H

	q, c   []float32              // Q by rows, those of H and then of TH, and c
	second *sparse.Block[float32] // G
	g      columnUnits            // of G
}

// columnUnits are the means of columns, and what values less them are multiplied by.
type columnUnits struct{ mean, scale []float32 }

const (
	mostUnits   = 512
	unitMemory  = 1 << 27 // values of G; a graph with more nodes than fit has fewer units
	fewestUnits = 64
)

// unitCount returns the number of units of a layer for n nodes.
func unitCount(n int) int {
	return max(fewestUnits, min(mostUnits, unitMemory/max(1, n)/fewestUnits*fewestUnits))
}

// unitInputs returns the number of columns of F for d attributes.
func unitInputs(d int) int { return mostHops*d + structureColumns }

// unitFeatures returns the number of features that units are, F and H and G.
func unitFeatures(n, d int) int { return unitInputs(d) + 2*unitCount(n) }

// newUnits returns the units of all nodes. Cost: a sweep of the attributes for each hop,
// and one of all units.
func newUnits(ctx context.Context, l *lens) (*units, error) {
	n, d := l.a.Rows, l.a.Cols
	u := &units{l: l, inputs: chunks.Block[float32](n, unitInputs(d)), second: chunks.Block[float32](n, unitCount(l.p.Nodes()))}
	in, count := u.inputs.Cols, u.second.Cols
	rng := rand.New(rand.NewPCG(1, 0))
	normal := func(length int, deviation float64) []float32 {
		x := make([]float32, length)
		for i := range x {
			x[i] = float32(rng.NormFloat64() * deviation)
		}
		return x
	}
	u.r, u.b = normal(in*count, 1/math.Sqrt(float64(in))), normal(count, 0.5)
	u.q, u.c = normal(2*count*count, 1/math.Sqrt(float64(2*count))), normal(count, 0.5)
	if err := u.look(ctx); err != nil {
		return nil, err
	}
	var err error
	u.h, err = u.measure(ctx, count, u.rectify)
	if err != nil {
		return nil, err
	}
	for lo := 0; lo < count; lo += slabColumns {
		if err := u.layer(ctx, lo, min(count, lo+slabColumns)); err != nil {
			return nil, err
		}
	}
	u.g, err = u.measure(ctx, count, func(dst []float32, v int) { copy(dst, u.second.Row(v)) })
	if err != nil {
		return nil, err
	}
	// G as a whole is of mean squared length 1, H and F are column by column.
	square := 0.0
	for _, s := range u.g.scale {
		if s > 0 {
			square += 1 / float64(s*s)
		}
	}
	for i := range u.g.scale {
		u.g.scale[i] = float32(1 / math.Sqrt(square+1e-12))
	}
	return u, nil
}

// look makes F.
func (u *units) look(ctx context.Context) error {
	l := u.l
	n, d := l.a.Rows, l.a.Cols
	x, room := l.slabBlocks(d)
	err := chunks.Run(ctx, l.workers, n, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			l.a.rowTo(x.Row(v), v, 0, d)
		}
	})
	if err != nil {
		return err
	}
	for h := range mostHops {
		if h > 0 {
			if err := l.sweep(ctx, l.step, room[h%2], x, sparse.Step[float32]{Alpha: 1}); err != nil {
				return err
			}
			x = room[h%2]
		}
		for v := range n {
			copy(u.inputs.Row(v)[h*d:], x.Row(v))
		}
	}
	degrees, err := newGraphColumns(ctx, l.p, l.workers, l.work)
	if err != nil {
		return err
	}
	row := make([]float64, degrees.count())
	for v := range n {
		degrees.rowTo(row, v)
		simd.ConvertTo(u.inputs.Row(v)[mostHops*d:], row)
	}
	c, err := u.measure(ctx, u.inputs.Cols, func(dst []float32, v int) { copy(dst, u.inputs.Row(v)) })
	if err != nil {
		return err
	}
	return chunks.Run(ctx, l.workers, n, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			c.apply(u.inputs.Row(v))
		}
	})
}

// measure returns the means of columns, and one over their deviations.
func (u *units) measure(ctx context.Context, columns int, row func(dst []float32, v int)) (columnUnits, error) {
	n, team := u.inputs.Rows, sparse.TeamOf(u.l.p.A)
	total, err := chunks.Sums(ctx, team, u.l.workers, n, 2*columns, func(sums []float64, lo, hi int) {
		x := make([]float32, columns)
		for v := lo; v < hi; v++ {
			row(x, v)
			for j, y := range x {
				sums[j] += float64(y)
				sums[columns+j] += float64(y) * float64(y)
			}
		}
	})
	c := columnUnits{make([]float32, columns), make([]float32, columns)}
	for j := range columns {
		mean := total[j] / float64(team.TotalOf(n))
		deviation := math.Sqrt(max(0, total[columns+j]/float64(team.TotalOf(n))-float64(mean*mean)))
		c.mean[j] = float32(mean)
		if deviation > 1e-6*(1+math.Abs(mean)) {
			c.scale[j] = float32(1 / deviation)
		}
	}
	return c, err
}

// apply subtracts the means from a row and scales the rest.
func (c columnUnits) apply(row []float32) {
	for j, x := range row {
		row[j] = (x - c.mean[j]) * c.scale[j]
	}
}

// timesTo stores row·m in dst, with the columns of m from lo on.
func timesTo(dst, row, m []float32, stride, lo int, columns []uint32) {
	simd.Gather(simd.Rows[float32]{Data: dst, Stride: len(dst)}, len(dst), []float32{1},
		simd.Rows[float32]{Data: m[lo:], Stride: stride}, []int64{0, int64(len(row))}, columns[:len(row)], row)
}

// rectify stores H of a node before it is standardised.
func (u *units) rectify(dst []float32, v int) {
	timesTo(dst, u.inputs.Row(v), u.r, len(dst), 0, u.l.a.columns)
	addRectified(dst, nil, u.b)
}

// addRectified adds x, unless it is nil, and the bias to dst, and takes the positive
// part.
func addRectified(dst, x, bias []float32) {
	for j := range dst {
		y := dst[j] + bias[j]
		if x != nil {
			y += x[j]
		}
		dst[j] = max(0, y)
	}
}

// layer makes the columns lo ≤ j < hi of G.
func (u *units) layer(ctx context.Context, lo, hi int) error {
	l, count := u.l, u.second.Cols
	v, tv := sparse.NewBlock[float32](u.second.Rows, hi-lo), sparse.NewBlock[float32](u.second.Rows, hi-lo)
	err := chunks.Run(ctx, l.workers, v.Rows, func(_, start, end int) {
		h := make([]float32, count)
		for i := start; i < end; i++ {
			u.rectify(h, i)
			u.h.apply(h)
			timesTo(u.second.Row(i)[lo:hi], h, u.q[:count*count], count, lo, l.a.columns)
			timesTo(v.Row(i), h, u.q[count*count:], count, lo, l.a.columns)
		}
	})
	if err != nil {
		return err
	}
	return l.sweep(ctx, l.step, tv, v, sparse.Step[float32]{Alpha: 1, Visit: func(rows sparse.Rows) {
		for i := rows.Lo; i < rows.Hi; i++ {
			addRectified(u.second.Row(i)[lo:hi], tv.Row(i), u.c[lo:hi])
		}
	}})
}

// rowTo stores the features of a node: F, H and G, each of mean squared length 1/3.
func (u *units) rowTo(dst []float32, v int) {
	in, count := u.inputs.Cols, u.second.Cols
	f, h, g := dst[:in], dst[in:in+count], dst[in+count:]
	copy(f, u.inputs.Row(v))
	u.rectify(h, v)
	u.h.apply(h)
	copy(g, u.second.Row(v))
	u.g.apply(g)
	for i, block := range [][]float32{f, h, g} {
		scale := float32(1 / math.Sqrt(3))
		if i < 2 {
			scale /= float32(math.Sqrt(float64(len(block))))
		}
		for j := range block {
			block[j] *= scale
		}
	}
}

// block returns the features of a ridge.
func (u *units) block(nodes []int) attributeBlock {
	columns := u.inputs.Cols + 2*u.second.Cols
	return attributeBlock{
		columns: columns,
		rowsTo:  func(dst []float32, item int) { u.rowTo(dst, nodes[item]) },
		apply: func(ctx context.Context, dst, w *sparse.Block[float32]) error {
			return chunks.Run(ctx, u.l.workers, dst.Rows, func(_, lo, hi int) {
				row := make([]float32, columns)
				for v := lo; v < hi; v++ {
					u.rowTo(row, v)
					timesTo(dst.Row(v), row, w.Data, w.Stride, 0, u.l.a.columns)
				}
			})
		},
	}
}

package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// Grams returns a block of each kernel, to compare many parameters. The columns of a block belong to nodes, the rows
// to nodes and then to cols; no node may be in both lists. Errors of a block are relative to its largest column, by
// default at most 1e-8. sweeps is the number of sweeps over all entries.
//
// Kernels of one call of [Family.NewAll] share sweeps if they are functions of one matrix, or at least three inverses
// of one matrix: sixteen functions cost little more than the longest of them. These blocks, and blocks of inverses,
// are symmetric to the bit. Unlike [Matrix], Grams makes no half steps.
func Grams(ctx context.Context, ks []Kernel, nodes, cols []int,
	s *Settings) (grams []*sparse.Block[float64], sweeps int, err error) {
	if err := s.validate(); err != nil {
		return nil, 0, err
	}
	var set Settings
	if s != nil {
		set = *s
	}
	grams = make([]*sparse.Block[float64], len(ks))
	joints := make([]joint, len(ks))
	inverses := map[*expm.Map]int{}
	for i, k := range ks {
		if s := base(k); s != nil {
			joints[i] = s.joint()
			if s.work.inverse {
				inverses[joints[i].matrix]++
			}
		}
	}
	for i, k := range ks {
		if s := base(k); s != nil && s.work.inverse && inverses[joints[i].matrix] < manyInverses {
			joints[i] = joint{}
		}
	}
	for i, k := range ks {
		if grams[i] != nil {
			continue
		}
		matrix := joints[i].matrix
		if matrix == nil {
			var report *Report
			grams[i], report, err = Matrix(ctx, inWhole(k), slices.Concat(nodes, cols),
				nodes, &set)
			if err != nil {
				return nil, sweeps, err
			}
			sweeps += report.Sweeps
			if s := base(k); s != nil {
				s.full.release()
			} else {
				mirror(grams[i], len(nodes)) // learners expect symmetry to the bit
			}
			continue
		}
		isSeries := joints[i].isSeries()
		var group []int
		for j := range ks {
			if joints[j].matrix == matrix && joints[j].isSeries() == isSeries {
				group = append(group, j)
			}
		}
		done, err := gramsTo(ctx, grams, k.Len(), joints, group, nodes, cols, set)
		if err != nil {
			return nil, sweeps, err
		}
		sweeps += done
	}
	return grams, sweeps, nil
}

func mirror(b *sparse.Block[float64], n int) {
	for i := range n {
		for j := range i {
			b.Row(i)[j] = b.Row(j)[i]
		}
	}
}

// manyInverses is the least number of inverses of one matrix for which a common series is faster than solves.
const manyInverses = 3

// joint is a kernel as a function f of a matrix. Kernels of one matrix are computed in the same sweeps. The zero
// value stands for a kernel that is computed by itself.
type joint struct {
	matrix *expm.Map
	f      expm.Function
}

func (j joint) isSeries() bool { return j.matrix.SeriesOnly([]expm.Function{j.f}) }

// IsApart reports whether the bits of k's block from [Grams] do not depend on the other kernels.
func IsApart(k Kernel) bool {
	s := base(k)
	if s == nil {
		return true
	}
	j := s.joint()
	return j.matrix != nil && !s.work.inverse && !s.work.search && j.isSeries()
}

// gramsWidth returns the number of columns of a slab for several kernels. If the kernels are series, slabs are as
// wide as for one kernel, because a series keeps few rows of images.
func gramsWidth(n, nodes, kernels int, isSeries bool) int {
	if isSeries {
		kernels = 1
	}
	return min(nodes, max(4, SlabColumns(n)/kernels/4*4))
}

func gramsTo(ctx context.Context, grams []*sparse.Block[float64], n int,
	joints []joint, group, nodes, cols []int, s Settings) (sweeps int, err error) {
	s.Tolerance = cmp.Or(s.Tolerance, defaultLimit)
	m := len(nodes)
	rows := slices.Concat(nodes, cols)
	checkNodes(n, rows)
	matrix := joints[group[0]].matrix
	isSeries := joints[group[0]].isSeries()
	width := gramsWidth(n, m, len(group), isSeries)
	results := budget.Times(len(group), budget.Vector[float64](m*(m+len(cols))))
	functions := make([]expm.Function, len(group))
	for q, i := range group {
		functions[q] = joints[i].f
	}
	s.Memory = matrix.Team().LeastLimit(s.Memory)
	need := budget.AllOf(functionOf(isSeries).gramsBytes(n, width, len(group), len(rows)), results)
	if err := budget.Check(s.Memory, need,
		fmt.Sprintf("%d columns of %d kernels", width, len(group))); err != nil {
		return 0, err
	}
	memory := budget.Subtract(s.Memory, need)
	x := sparse.NewBlock[float64](n, width)
	images := make([]*sparse.Block[float64], len(group))
	for q, i := range group {
		images[q] = sparse.NewBlock[float64](len(rows), width)
		grams[i] = sparse.NewBlock[float64](m+len(cols), m)
	}
	for lo, hi := range blocks.Slabs(m, width) {
		slab := x.Columns(0, hi-lo)
		parts := make([]*sparse.Block[float64], len(images))
		for q := range images {
			parts[q] = images[q].Columns(0, hi-lo)
		}
		setUnits(slab, nodes[lo:hi], 1)
		r, err := matrix.ApplyTo(ctx, parts, slab, functions,
			&expm.Settings{Tolerance: s.Tolerance, Memory: memory, Rows: rows})
		switch {
		case err != nil && !errors.Is(err, expm.ErrTolerance):
			return sweeps, err
		case err != nil && !(r.Worst() <= s.limit()):
			return sweeps, tooTight(s.limit(), r.Worst())
		}
		sweeps += r.Sweeps
		setUnits(slab, nodes[lo:hi], 0)
		for q, i := range group {
			gram := grams[i]
			for a := range hi {
				for b := max(a, lo); b < hi; b++ {
					v := parts[q].Row(a)[b-lo]
					gram.Row(a)[b], gram.Row(b)[a] = v, v
				}
			}
			for a := m; a < len(rows); a++ {
				copy(gram.Row(a)[lo:hi], parts[q].Row(a))
			}
		}
		s.progress(sweeps, sweeps*((m+width-1)/width)/(lo/width+1))
	}
	return sweeps, nil
}

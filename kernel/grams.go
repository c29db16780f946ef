package kernel

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/sparse"
)

// Grams returns the block of each kernel among the given nodes, for trying
// many parameters, with further rows behind: those of others, none of which is one of
// nodes. Functions of one matrix (of one call of [Family.NewAll]) are
// computed from the same vectors: sixteen cost little more than the one that
// takes longest. Their blocks, and those of inverses, are symmetric to the bit
// and, unlike those of [Matrix], made without half steps, whose products take
// longer than the columns of many nodes: errors are relative to the largest
// column of all, by default 1e-8 of it. sweeps is their number over all entries.
func Grams(ctx context.Context, ks []Kernel, nodes, others []int, s *Settings) (grams []*sparse.Block[float64], sweeps int, err error) {
	if err := s.validate(); err != nil {
		return nil, 0, err
	}
	var set Settings
	if s != nil {
		set = *s
	}
	grams = make([]*sparse.Block[float64], len(ks))
	for i := range ks {
		if grams[i] != nil {
			continue
		}
		matrix := matrixOf(ks[i])
		if matrix == nil {
			var report *Report
			grams[i], report, err = Matrix(ctx, withoutRoot(ks[i]), slices.Concat(nodes, others), nodes, &set)
			if err != nil {
				return nil, sweeps, err
			}
			sweeps += report.Sweeps
			release(ks[i]) // the next kernel takes as much
			continue
		}
		var group []int // the functions of that matrix
		for j := range ks {
			if matrixOf(ks[j]) == matrix {
				group = append(group, j)
			}
		}
		done, err := gramsTo(ctx, grams, ks, group, nodes, others, set)
		if err != nil {
			return nil, sweeps, err
		}
		sweeps += done
	}
	return grams, sweeps, nil
}

// release lets go of what a kernel keeps of its solves for the next ones.
func release(k Kernel) {
	f, ok := k.(*spectral)
	if !ok {
		return
	}
	if e, ok := f.whole.(*solves); ok {
		e.system.Release()
	}
}

// withoutRoot returns an inverse without its half step, and any other kernel.
func withoutRoot(k Kernel) Kernel {
	if f, ok := k.(*spectral); ok {
		if _, ok := f.half.(*inverseRoot); ok {
			whole := *f
			whole.half = nil
			return &whole
		}
	}
	return k
}

// matrixOf returns the matrix that a symmetric kernel is a series in, or nil.
func matrixOf(k Kernel) *expm.Map {
	if f, ok := k.(*spectral); ok && f.root == nil {
		if e, ok := f.whole.(*series); ok {
			return e.m
		}
	}
	return nil
}

// gramsWidth returns the columns of a slab of the blocks of so many kernels.
func gramsWidth(n, nodes, kernels int) int {
	return min(nodes, max(4, slabColumns(n)/kernels/4*4))
}

// gramsTo computes the blocks of a group of kernels, slab by slab.
func gramsTo(ctx context.Context, grams []*sparse.Block[float64], ks []Kernel, group, nodes, others []int, s Settings) (sweeps int, err error) {
	if s.Tolerance == 0 {
		s.Tolerance = 1e-8
	}
	n, m := ks[group[0]].Len(), len(nodes)
	checkNodes(n, slices.Concat(nodes, others))
	width := gramsWidth(n, m, len(group))
	plan := budget.Plan{Limit: s.Memory}
	what := fmt.Sprintf("%d columns of %d kernels", width, len(group))
	short := !slices.ContainsFunc(group, func(i int) bool { return !ks[i].(*spectral).work.series })
	blocks := 8 * int64(m) * int64(m+len(others)) * int64(len(group))
	if err := plan.Reserve(groupBytes(n, width, len(group), short)+blocks, what); err != nil {
		return 0, err
	}
	var memory int64 // for factors
	if left, limited := plan.Left(); limited {
		memory = max(1, left-graphVectors*8*int64(n))
	}
	x := sparse.NewBlock[float64](n, width)
	images, functions := make([]*sparse.Block[float64], len(group)), make([]expm.Function, len(group))
	for q, i := range group {
		images[q] = sparse.NewBlock[float64](n, width)
		functions[q] = ks[i].(*spectral).whole.(*series).f
		grams[i] = sparse.NewBlock[float64](m+len(others), m)
	}
	matrix, method := matrixOf(ks[group[0]]), expm.Automatic
	if short {
		method = expm.Chebyshev // as planned
	}
	for lo := 0; lo < m; lo += width {
		hi := min(lo+width, m)
		slab := x.Columns(0, hi-lo)
		parts := make([]*sparse.Block[float64], len(images))
		for q := range images {
			parts[q] = images[q].Columns(0, hi-lo)
		}
		setUnits(slab, nodes[lo:hi], 1)
		r, err := matrix.ApplyTo(ctx, parts, slab, functions, &expm.Settings{Tolerance: s.Tolerance, Method: method, Memory: memory})
		if err != nil && !errors.Is(err, expm.ErrTolerance) {
			return sweeps, err
		}
		sweeps += r.Sweeps
		setUnits(slab, nodes[lo:hi], 0)
		for q, i := range group {
			gram := grams[i]
			for a := range hi {
				for b := max(a, lo); b < hi; b++ {
					v := parts[q].Row(nodes[a])[b-lo]
					gram.Row(a)[b], gram.Row(b)[a] = v, v
				}
			}
			for a, node := range others {
				copy(gram.Row(m + a)[lo:hi], parts[q].Row(node))
			}
		}
		if s.Progress != nil {
			s.Progress(sweeps, sweeps*((m+width-1)/width)/(lo/width+1))
		}
	}
	return sweeps, nil
}

package kernel

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
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
	joints := make([]joint, len(ks))
	for i, k := range ks {
		if k, ok := k.(grouped); ok {
			joints[i] = k.joint()
		}
	}
	for i, k := range ks {
		if grams[i] != nil {
			continue
		}
		matrix := joints[i].matrix
		if matrix == nil {
			var report *Report
			whole := k
			g, isGrouped := k.(grouped)
			if isGrouped {
				whole = g.inWhole()
			}
			grams[i], report, err = Matrix(ctx, whole, slices.Concat(nodes, others), nodes, &set)
			if err != nil {
				return nil, sweeps, err
			}
			sweeps += report.Sweeps
			if isGrouped {
				g.release() // the next kernel takes as much
			} else {
				mirror(grams[i], len(nodes)) // its bits may differ, which learners do not expect
			}
			continue
		}
		var group []int // the functions of that matrix
		for j := range ks {
			if joints[j].matrix == matrix {
				group = append(group, j)
			}
		}
		done, err := gramsTo(ctx, grams, k.Len(), joints, group, nodes, others, set)
		if err != nil {
			return nil, sweeps, err
		}
		sweeps += done
	}
	return grams, sweeps, nil
}

// mirror makes the first n rows of a block symmetric to the bit.
func mirror(b *sparse.Block[float64], n int) {
	for i := range n {
		for j := range i {
			b.Row(i)[j] = b.Row(j)[i]
		}
	}
}

// GramsBytes is [Family.Bytes] for [Grams] of kernels with the given complete values, with
// their blocks.
func (f *Family) GramsBytes(vs []spec.Values, degrees []float64, entries int64, nodes []int, limit int64) int64 {
	return spec.Sum(f.gramsMemory(vs, degrees, entries, nodes, limit))
}

// gramsMemory lists the parts of GramsBytes.
func (f *Family) gramsMemory(vs []spec.Values, degrees []float64, entries int64, nodes []int, limit int64) []spec.Bytes {
	n, m := len(degrees), int64(len(nodes))
	kept := []spec.Bytes{{What: "blocks of kernels", Bytes: 8 * m * m * int64(len(vs))}}
	groups := map[sparse.Kind][]work{} // of functions of one matrix
	var alone []spec.Values            // of other kernels
	for i, v := range vs {
		var w work
		if f.work != nil {
			w = f.work(v, degrees)
		}
		if f.work != nil && i > 0 && !w.function {
			kept = append(kept, spec.Bytes{What: "systems of other kernels", Bytes: systemVectors * 8 * int64(n)})
		}
		if w.function && f.Asymmetric(v) == nil && !w.pole { // near the radius there is a matrix of its own
			groups[w.matrix] = append(groups[w.matrix], w)
		} else {
			alone = append(alone, v)
		}
	}
	limit = budget.Remaining(limit, spec.Sum(kept))
	var most []spec.Bytes
	for _, v := range alone {
		most = spec.Larger(most, f.block(v, degrees, entries, nodes, nodes, limit, false))
	}
	for _, matrix := range slices.Sorted(maps.Keys(groups)) {
		most = spec.Larger(most, groupMemory(n, len(nodes), entries, groups[matrix], limit))
	}
	return append(kept, most...)
}

// systemVectors is the number of vectors that an inverse takes: its ground, scale and null
// space.
const systemVectors = 3

// groupMemory lists what the blocks of functions of one matrix hold while they are
// computed together, beside themselves.
func groupMemory(n, nodes int, entries int64, group []work, limit int64) []spec.Bytes {
	width := gramsWidth(n, nodes, len(group))
	short := groupBytes(n, width, len(group), true)
	list := append(vectorsOf(n), spec.Bytes{
		What: "columns of kernels", Bytes: max(short, group[0].searchBytes(n, width)), Row: rowBytes(width),
	})
	if slices.ContainsFunc(group, func(w work) bool { return !w.series }) {
		more := groupBytes(n, width, len(group), false) - short
		list = append(list, spec.Bytes{What: "solves in place of a series", Bytes: max(0, more), Optional: true})
		w := work{function: true, factor: true}
		list = append(list, w.factors(n, width, entries, limit, spec.Sum(list))...)
	}
	return list
}

// joint is a symmetric kernel as a function of a matrix.
type joint struct {
	matrix *expm.Map
	f      expm.Function
	series bool // there is room for no more than a series in the matrix
}

// gramsWidth returns the columns of a slab of the blocks of so many kernels.
func gramsWidth(n, nodes, kernels int) int {
	return min(nodes, max(4, slabColumns(n)/kernels/4*4))
}

// groupBytes returns what so many functions of one matrix take for blocks of so many
// columns, those included, all of them by series or not.
func groupBytes(n, width, kernels int, series bool) int64 {
	block := tall.BlockBytes[float64](n, width)
	work := expm.Bytes(n, width, kernels)
	if !series {
		work = (resolventBlocks - 2) * block
	}
	return int64(kernels+1)*block + work
}

// gramsTo computes the blocks of a group of kernels on n nodes, functions of one matrix, slab
// by slab.
func gramsTo(ctx context.Context, grams []*sparse.Block[float64], n int, joints []joint, group, nodes, others []int, s Settings) (sweeps int, err error) {
	if s.Tolerance == 0 {
		s.Tolerance = 1e-8
	}
	m := len(nodes)
	checkNodes(n, slices.Concat(nodes, others))
	width := gramsWidth(n, m, len(group))
	plan := budget.Plan{Limit: s.Memory}
	what := fmt.Sprintf("%d columns of %d kernels", width, len(group))
	short := !slices.ContainsFunc(group, func(i int) bool { return !joints[i].series })
	blocks := 8 * int64(m) * int64(m+len(others)) * int64(len(group))
	if err := plan.Reserve(groupBytes(n, width, len(group), short)+blocks, what); err != nil {
		return 0, err
	}
	memory := budget.Remaining(plan.Room(), spec.Sum(vectorsOf(n))) // for factors
	x := sparse.NewBlock[float64](n, width)
	images, functions := make([]*sparse.Block[float64], len(group)), make([]expm.Function, len(group))
	for q, i := range group {
		images[q] = sparse.NewBlock[float64](n, width)
		functions[q] = joints[i].f
		grams[i] = sparse.NewBlock[float64](m+len(others), m)
	}
	matrix, method := joints[group[0]].matrix, expm.Automatic
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

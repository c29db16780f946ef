package main

import (
	"context"
	"errors"
	"slices"

	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// signless is the kernel exp(−βQ) of the signless Laplacian Q = D + A, whose eigenvalues are
// between 0 and twice the largest degree. On a bipartite graph it is the diffusion kernel with
// other signs between the two sides.
var signless = &kernel.Family{
	Spec: param.Spec{
		Name: "signless", Title: "exp(−β(D + A))", Works: param.Undirected,
		Params: []param.Param{{
			Name: "beta", Symbol: "β", Meaning: "time of the diffusion", Range: param.Above(0),
			Default: param.Of(1.0), Grid: param.Grid(0.01, 0.1, 1, 10),
		}},
	},
	New: func(_ context.Context, g *graph.Graph, v param.Values) (kernel.Kernel, error) {
		q := &sparse.Operator[float64]{A: g.A, Diag: g.Degrees, Workers: g.Workers}
		m, err := expm.NewBounded(q, 0, 2*slices.Max(g.Degrees), g.Workers)
		return &exponential{len(g.Degrees), m, expm.Exp(-v.Number("beta"))}, err
	},
}

type exponential struct {
	nodes int
	m     *expm.Map
	f     expm.Function
}

func (k *exponential) Len() int { return k.nodes }

func (k *exponential) ApplyTo(ctx context.Context, dst, x *sparse.Block[float64], s *kernel.Settings) (*kernel.Report, error) {
	set := &expm.Settings{}
	if s != nil {
		set.Tolerance, set.Memory = s.Tolerance, s.Memory
	}
	r, err := k.m.ApplyTo(ctx, []*sparse.Block[float64]{dst}, x, []expm.Function{k.f}, set)
	if errors.Is(err, expm.ErrTolerance) {
		err = &kernel.ToleranceError{Asked: set.Tolerance, Reached: r.Worst()}
		if s != nil && s.Lenient { // the report has the bound
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	bounds := r.Functions[0].ColumnBound
	report := &kernel.Report{Method: string(r.Functions[0].Method), Sweeps: r.Sweeps, ColumnBound: bounds, ErrorBound: slices.Max(bounds)}
	for i := range dst.Rows {
		for _, v := range dst.Row(i) {
			report.Largest = max(report.Largest, v, -v)
		}
	}
	return report, nil
}

// Block implements [kernel.Kernel]: the images of unit vectors are columns of the kernel, some at a time.
func (k *exponential) Block(ctx context.Context, rows, cols []int, take kernel.Sink, s *kernel.Settings) (*kernel.Report, error) {
	sum := new(kernel.Report)
	for lo, hi := range blocks.Slabs(len(cols), kernel.SlabColumns(k.nodes)) {
		x, y := sparse.NewBlock[float64](k.nodes, hi-lo), sparse.NewBlock[float64](k.nodes, hi-lo)
		for j, node := range cols[lo:hi] {
			x.Row(node)[j] = 1
		}
		report, err := k.ApplyTo(ctx, y, x, s)
		if err != nil {
			return nil, err
		}
		sum.Method = report.Method
		sum.Sweeps += report.Sweeps
		sum.Largest = max(sum.Largest, report.Largest)
		sum.ErrorBound = max(sum.ErrorBound, report.ErrorBound)
		piece := sparse.NewBlock[float64](len(rows), hi-lo)
		for i, node := range rows {
			copy(piece.Row(i), y.Row(node))
		}
		if err := take(0, lo, piece); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

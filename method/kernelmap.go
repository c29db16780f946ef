package method

import (
	"context"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// kernelMap is a kernel between the labelled nodes of a problem and all nodes, as products with it.
type kernelMap struct {
	P       *Problem
	Kernel  kernel.Kernel
	Scale   float64 // of the kernel
	Workers int

	Settings *kernel.Settings
	Work     *problem.Work // to which products are added
}

// Decide applies the kernel to the dual coefficients of width classifiers at a time,
// K[:, L]·C = K·(E_L·C), and calls visit with the decisions on all nodes of those from
// number lo on.
func (m *kernelMap) Decide(ctx context.Context, dual *classify.Model, width int, visit func(lo int, decisions *sparse.Block[float64]) error) error {
	n, machines := len(m.P.Degrees), len(dual.Machines)
	x, y := sparse.NewBlock[float64](n, width), sparse.NewBlock[float64](n, width)
	for lo := 0; lo < machines; lo += width {
		images := y.Columns(0, min(width, machines-lo))
		if err := m.imagesTo(ctx, images, x.Columns(0, images.Cols), lo, dual); err != nil {
			return err
		}
		for i := range n {
			row := images.Row(i)
			for j := range row {
				row[j] -= dual.Machines[lo+j].Rho
			}
		}
		if err := visit(lo, images); err != nil {
			return err
		}
	}
	return nil
}

// imagesTo applies the kernel to the coefficients of the machines from number lo on, with
// x to put them in.
func (m *kernelMap) imagesTo(ctx context.Context, y, x *sparse.Block[float64], lo int, dual *classify.Model) error {
	for j := range y.Cols {
		for _, row := range m.P.Row {
			x.Row(row)[j] = 0
		}
		machine := &dual.Machines[lo+j]
		for s, i := range machine.Index {
			x.Row(m.P.Row[i])[j] = m.Scale * machine.Coef[s]
		}
	}
	report, err := m.Kernel.ApplyTo(ctx, y, x, m.Settings)
	if err != nil {
		return err
	}
	m.Work.Add(problem.Work{Sweeps: report.Sweeps, EntryColumns: sparse.EntriesOf(m.P.A) * int64(report.Sweeps) * int64(y.Cols)})
	return nil
}

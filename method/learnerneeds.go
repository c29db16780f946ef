package method

import (
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
)

// learner accounts for a declared learner on a kernel of package kernel.
func (a *account) learner(m learnerMethod, par *Parameters) error {
	a.set.Sample = min(a.set.Sample, trySettings)
	n, k, labels := len(a.P.Degrees), len(a.P.Names), len(a.P.Row)
	of, seen, err := a.grams(m.kernel, par)
	if err != nil {
		return err
	}
	fits := int64(min(sched.Workers(a.set.Workers), max(len(of), len(m.by.Params))))
	if err := a.Phase(8*int64(seen)*int64(seen)*int64(len(of))+fits*fitBytes(m.by, seen, k), "learners to choose by"); err != nil {
		return err
	}
	rows := a.P.Row
	if m.by.Whole {
		rows = make([]int, n)
		for i := range rows {
			rows[i] = i
		}
	}
	if err := a.List(a.oneOf(m.kernel, of, rows), "values of the kernel"); err != nil {
		return err
	}
	items := int64(len(rows))
	if err := a.Reserve(8*items*items, "values of the kernel to learn from"); err != nil {
		return err
	}
	if err := a.Phase(fitBytes(m.by, len(rows), k), "training"); err != nil {
		return err
	}
	outputs := int64(8 * n * k) // the raw scores, which are decisions
	switch {
	case m.by.Dual:
		width := min(max(k, 1), machinesAtATime)
		a.Row = max(a.Row, 8*sparse.Stride[float64](width))
		apply := spec.Sum(m.kernel.ApplyMemory(of[0], a.P.Degrees, width))
		err := a.Phase(2*outputs+2*sparse.BlockBytes[float64](n, width)+apply, "the kernel applied to a model")
		if err != nil {
			return err
		}
	case !m.by.Whole:
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		block := m.kernel.Memory(of[0], a.P.Degrees, a.P.A.NNZ(), all, a.P.Row, a.left().Memory)
		block = append(block, spec.Bytes{What: "values and raw scores", Bytes: outputs + 8*int64(n)*int64(labels)})
		if err := a.List(block, "values of the kernel between nodes and labels"); err != nil {
			return err
		}
	default:
		if err := a.Phase(outputs, "raw scores of all nodes"); err != nil {
			return err
		}
	}
	return a.Scores()
}

// fitBytes is what a fit takes beside the kernel values of so many items.
func fitBytes(l *classify.Learner, items, classes int) int64 {
	if l.Memory == nil {
		return 0
	}
	return l.Memory(items, classes)
}

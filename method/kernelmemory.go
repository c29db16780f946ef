package method

import (
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/internal/gram"
	"github.com/heatwalk/heatwalk/method/internal/trial"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// grams accounts for the blocks of kernels to choose from, and returns the values
// of these and the number of labels among which they are.
func (a *account) grams(f *kernel.Family) (grid []spec.Values, labels int, err error) {
	if grid, err = kernelGrid(f, a.set, kernel.OnDegrees(a.P.Degrees)); err != nil {
		return nil, 0, err
	}
	a.Sweeps = spec.UnknownSweeps
	rows := a.P.At(validate.Sample(a.P.Class, a.set.Sample, a.set.RNGSeed, 0)).Row
	a.PhaseOf(f.GramsMemory(grid, a.P.Degrees, a.P.A.NNZ(), rows, a.Left()), "blocks of kernels to choose from")
	return grid, len(rows), nil
}

// Extend implements [Extended]. A learner that wants the values between all nodes has a block
// of its own.
func (m kernelMethod) Extend() Extension {
	e := Extension{reckon: m.reckon, reckonTuning: m.reckonTuning}
	if !m.by.Whole {
		e.Kernel = m.kernel
	}
	return e
}

func (m kernelMethod) reckon(a *account) (err error) {
	if *a.set, err = m.settings(a.set, len(a.P.Names)); err != nil {
		return err
	}
	grid, seen, err := a.grams(m.kernel)
	if err != nil {
		return err
	}
	settled, _, err := m.settled(a.P, a.set)
	if err != nil {
		return err
	}
	if m.by.path != nil {
		m.reckonOnPath(a, grid, seen)
	} else {
		m.reckonInTurn(a, grid, seen, settled)
	}
	a.Scores()
	return nil
}

// reckonOnPath accounts for a learner with a path, tried on so many labels.
func (m kernelMethod) reckonOnPath(a *account, grid []spec.Values, seen int) {
	f := m.kernel
	n, tried := len(a.P.Degrees), int64(seen)
	workers := int64(min(sched.Workers(a.set.Workers), len(grid)))
	width, rest := a.machines()
	outcomes := tried * trial.OutcomeBytes(width) * int64(len(grid)*a.set.Grid.settings())
	a.Phase(8*tried*tried*int64(len(grid))+workers*m.by.path.Memory(a.load(tried, 0))+outcomes, "machines to choose by")
	if all := int64(len(a.P.Row)); all > tried && !m.by.solves(int(all)) {
		a.PhaseOf(a.oneOf(f, grid, a.P.Row), "block of the kernel between labels")
		a.Phase(8*all*all+m.by.path.Memory(a.load(all, 0)), "training")
	}
	if !rest {
		width = min(width, machinesAtATime)
	}
	a.Row = max(a.Row, 8*sparse.Stride[float64](max(1, width)))
	counts := int64(n) * int64(len(a.P.Names)) // a byte for the votes of a node for a class
	if rest {
		counts = 0
	}
	apply := spec.Sum(f.ApplyMemory(grid[0], a.P.Degrees, max(1, width)))
	a.Phase(sumsBytes(a.P, false)+counts+apply, "the kernel applied to machines")
}

// reckonInTurn accounts for a learner without a path, of which some settings are tried on so
// many labels.
func (m kernelMethod) reckonInTurn(a *account, grid []spec.Values, seen int, settled []spec.Values) {
	n, k, labels := len(a.P.Degrees), len(a.P.Names), len(a.P.Row)
	machines := m.by.machines(k, settled)
	fits := int64(min(sched.Workers(a.set.Workers), max(len(grid), len(settled))))
	outcomes := int64(seen) * trial.OutcomeBytes(machines) * int64(len(grid)+len(settled))
	a.Phase(8*int64(seen)*int64(seen)*int64(len(grid))+fits*fitBytes(m.by.Learner, seen, k)+outcomes, "learners to choose by")
	rows := a.P.Row
	if m.by.Whole {
		rows = upTo(n)
	}
	a.PhaseOf(a.oneOf(m.kernel, grid, rows), "values of the kernel")
	items := int64(len(rows))
	a.Reserve(8*items*items, "values of the kernel to learn from")
	a.Phase(fitBytes(m.by.Learner, labels, k), "training")
	outputs := int64(8 * n * k) // the raw scores, which are decisions
	switch {
	case m.by.Dual:
		width := min(max(machines, 1), machinesAtATime)
		a.Row = max(a.Row, 8*sparse.Stride[float64](width))
		apply := spec.Sum(m.kernel.ApplyMemory(grid[0], a.P.Degrees, width))
		decisions := 8 * int64(n) * int64(machines)
		a.Phase(decisions+outputs+2*tall.BlockBytes[float64](n, width)+apply, "the kernel applied to a model")
	case !m.by.Whole:
		block := m.kernel.Memory(grid[0], a.P.Degrees, a.P.A.NNZ(), upTo(n), a.P.Row, a.Left())
		block = append(block, spec.Bytes{What: "values and raw scores", Bytes: outputs + 8*int64(n)*int64(labels)})
		a.PhaseOf(block, "values of the kernel between nodes and labels")
	default:
		a.Phase(outputs, "raw scores of all nodes")
	}
}

// machines returns how many machines a learner fits at the most for so many classes, with one
// of some complete settings.
func (l learner) machines(classes int, settled []spec.Values) int {
	if path := l.Path; path != nil && path.Pairwise != nil && slices.ContainsFunc(settled, path.Pairwise) {
		return max(classes, classes*(classes-1)/2)
	}
	return classes
}

// oneOf lists what the block between rows of one of several kernels takes, whichever
// is chosen.
func (a *account) oneOf(f *kernel.Family, grid []spec.Values, rows []int) (most []spec.Bytes) {
	for i := range grid {
		most = spec.Larger(most, f.GramsMemory(grid[i:i+1], a.P.Degrees, a.P.A.NNZ(), rows, a.Left()))
	}
	return most
}

func (m kernelMethod) reckonTuning(a *account, all *Problem) error {
	labels, tests := min(len(a.P.Row), a.set.Sample), min(len(all.Row), maxTestedRows)
	if m.by.Whole {
		labels, tests = labels+min(len(all.Row), a.set.Sample), 0
	}
	return a.kernelTuning(m.kernel, all, labels, tests)
}

// kernelTuning accounts for blocks of kernels between so many labels and test nodes.
func (a *account) kernelTuning(f *kernel.Family, all *Problem, labels, tests int) error {
	grid, err := kernelGrid(f, a.set, kernel.OnDegrees(a.P.Degrees))
	if err != nil {
		return err
	}
	together := min(len(grid), tuneTogether(labels, tests, len(grid), false))
	list := f.GramsMemory(grid[:together], a.P.Degrees, a.P.A.NNZ(), all.Row[:min(labels, len(all.Row))], a.Left())
	list = append(list, spec.Bytes{What: "rows of test nodes", Bytes: 8 * int64(labels) * int64(tests) * int64(together)})
	a.PhaseOf(list, "blocks of kernels to tune by")
	blocks := 8 * int64(labels) * int64(labels+tests) * int64(together)
	machines := 8 * int64(labels) * int64(4*labels+gram.NodesAtATime) * int64(min(sched.Workers(a.set.Workers), together))
	a.Phase(blocks+machines, "machines to tune by")
	return nil
}

// fitBytes is what a fit takes beside the kernel values of so many items with a class.
func fitBytes(l *classify.Learner, items, classes int) int64 {
	if l.Memory == nil {
		return 0
	}
	return l.Memory(items, classes)
}

// ShareKernels gives methods, each with its settings, one place to keep the values of
// their kernels for predictions from many sets of labels on one graph, which then take
// their blocks out of them; all has the labels that any of the predictions may have. tuned
// says that parameters are chosen once for all of them: a method that chooses its kernel
// inside each training set keeps none. With a limit of memory values have a quarter of it,
// and those that were not used for long are given back, but for one kernel. The list says
// what they take, and what computing them takes beside; it is nil if none are kept.
func ShareKernels(all *Problem, methods []Method, settings []*Settings, tuned bool) ([]spec.Bytes, error) {
	one := gram.Bytes(len(all.Degrees), len(all.Row))
	if one == 0 {
		return nil, nil
	}
	var kept int64
	var making []spec.Bytes
	for i, m := range methods {
		list, err := makingKernel(m, all, tuned, settings[i])
		if err != nil {
			return nil, err
		}
		if list != nil {
			kept, making = kept+one, spec.Larger(making, list)
		}
	}
	if kept == 0 {
		return nil, nil
	}
	memory := settings[0].Memory
	if memory > 0 {
		kept = max(one, min(kept, memory/4))
	}
	shared := gram.NewCache(all, kept, settings[0].Workers)
	for _, s := range settings {
		s.kernels = shared
		s.Memory = budget.Remaining(memory, kept)
	}
	return append([]spec.Bytes{{What: "values of kernels that are kept", Bytes: kept}}, making...), nil
}

// makingKernel lists what computing the values of a method's kernel takes, nil if it takes
// none from [ShareKernels].
func makingKernel(m Method, all *Problem, tuned bool, s *Settings) ([]spec.Bytes, error) {
	of, set := ExtensionOf(m).Kernel, s.WithDefaults()
	if of == nil {
		return nil, nil
	}
	grid, err := kernelGrid(of, &set, kernel.OnDegrees(all.Degrees))
	if err != nil || !tuned && len(grid) > 1 {
		return nil, err
	}
	n, labelled := len(all.Degrees), len(all.Row)
	making, _, err := reckoned(all, s, func(a *account) error {
		rows := spec.Bytes{What: "rows of other nodes", Bytes: 8 * int64(n-labelled) * int64(labelled)}
		a.PhaseOf(append(a.oneOf(of, grid, all.Row), rows), "values of kernels")
		return nil
	})
	return making, err
}

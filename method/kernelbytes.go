package method

import (
	"slices"

	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/internal/chunks"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
)

// Bytes implements [Sizer]: the largest of the blocks of kernels to choose from, training, and
// the scores of all nodes, since each phase frees its blocks.
func (m kernelMethod) Bytes(p, tuned *Problem, s *Settings) (int64, error) {
	set, err := m.settings(s, len(p.Names))
	if err != nil {
		return 0, err
	}
	grid, err := kernelGrid(m.kernel, &set, kernel.OnDegrees(p.Degrees))
	if err != nil {
		return 0, err
	}
	settled, _, err := m.settled(p, &set)
	if err != nil {
		return 0, err
	}
	set.Memory = p.Remaining(set.Memory)
	k := kernelSizes{m, p, &set, grid, settled}
	return max(k.choice(), k.training(), k.scores(), k.tuning(tuned)), nil
}

// kernelSizes estimates the memory of the phases of a prediction from a kernel with one of
// several settings, by a learner with one of several settings.
type kernelSizes struct {
	kernelMethod
	p       *Problem
	set     *Settings
	grid    []param.Values
	settled []param.Values
}

// grams is the memory of the block of the kernel between nodes, with the setting that needs
// most.
func (k kernelSizes) grams(nodes []int) (bytes int64) {
	for i := range k.grid {
		bytes = max(bytes, k.kernel.GramsBytes(k.grid[i:i+1], k.p.Degrees, k.p.A.NNZ(), nodes, k.set.Memory))
	}
	return bytes
}

// choice is the memory of the choice of parameters.
func (k kernelSizes) choice() int64 {
	labels := k.p.At(split.Sample(k.p.Class, k.set.Sample, k.set.RNGSeed, 0)).Row
	blocks := k.kernel.GramsBytes(k.grid, k.p.Degrees, k.p.A.NNZ(), labels, k.set.Memory)
	seen, classes := int64(len(labels)), len(k.p.Names)
	held := 8 * seen * seen * int64(len(k.grid))
	if path := k.learner.path; path != nil {
		width, _ := k.set.machines(classes)
		outcomes := seen * choose.OutcomeBytes(width) * int64(k.set.Grid.settings())
		workers := int64(min(sched.Workers(k.set.Workers), len(k.grid)))
		return max(blocks, held+workers*(path.Memory(k.set.load(k.p, seen, 0))+outcomes))
	}
	outcomes := seen * choose.OutcomeBytes(k.learner.machines(classes, k.settled))
	fits := int64(min(sched.Workers(k.set.Workers), max(len(k.grid), len(k.settled))))
	return max(blocks, held+fits*(learnBytes(k.learner.Learner, len(labels), classes)+outcomes))
}

// training is the memory of the block between labels, or between all nodes, and of the fit.
func (k kernelSizes) training() int64 {
	labels, classes := len(k.p.Row), len(k.p.Names)
	if k.learner.solves(labels) {
		const blockCount = 2 + 4 // of all nodes, and of labels
		width := min(classes, solveColumns)
		return blockCount*blocks.BlockBytes[float64](len(k.p.Degrees), width) + 2*8*int64(labels)*int64(classes) + k.kernel.ApplyBytes(k.grid[0], k.p.Degrees, width)
	}
	rows := k.p.Row
	if k.learner.Whole {
		rows = upTo(len(k.p.Degrees))
	}
	items := int64(len(rows))
	fit := learnBytes(k.learner.Learner, labels, classes)
	if k.learner.path != nil {
		fit = k.learner.path.Memory(k.set.load(k.p, int64(labels), 0))
	}
	return max(k.grams(rows), 8*items*items+fit)
}

// scores is the memory of the scores of all nodes.
func (k kernelSizes) scores() int64 {
	n, classes := len(k.p.Degrees), len(k.p.Names)
	isWide := !k.set.Raw && chunks.Bytes[float64](n, classes) > rawBytes // of one class against the rest
	if _, isRest := k.set.machines(classes); isRest && isWide && (k.learner.path != nil || k.learner.Dual) {
		return scoreBytes(k.p) + 2*blocks.BlockBytes[float64](n, machinesAtATime) + k.kernel.ApplyBytes(k.grid[0], k.p.Degrees, machinesAtATime)
	}
	if k.learner.path != nil {
		width, isRest := k.set.machines(classes)
		counts := int64(n) * int64(classes) // a byte for the votes of a node for a class
		if !isRest {
			width = min(width, machinesAtATime)
		} else {
			counts = 0
		}
		apply := k.kernel.ApplyBytes(k.grid[0], k.p.Degrees, max(1, width))
		return sumsBytes(k.p, false) + counts + apply + 2*blocks.BlockBytes[float64](n, width)
	}
	outputs := int64(8 * n * classes) // the raw scores, which are decisions
	switch {
	case k.learner.Dual:
		machines := k.learner.machines(classes, k.settled)
		width := min(max(machines, 1), machinesAtATime)
		apply := k.kernel.ApplyBytes(k.grid[0], k.p.Degrees, width)
		return 8*int64(n)*int64(machines) + outputs + 2*blocks.BlockBytes[float64](n, width) + apply + scoreBytes(k.p)
	case !k.learner.Whole:
		values, limit, fixed := 8*int64(n)*int64(len(k.p.Row)), int64(0), scoreBytes(k.p)
		if k.set.Raw {
			fixed += outputs
		}
		if k.set.Memory > 0 { // values of some nodes after others
			limit = max(1, (k.set.Memory-fixed)/2)
			values = max(8*int64(len(k.p.Row)), min(values, limit))
		}
		return fixed + values + k.kernel.Bytes(k.grid[0], k.p.Degrees, k.p.A.NNZ(), false, upTo(n), k.p.Row, &kernel.Settings{Memory: limit})
	}
	return 8*int64(n)*int64(n) + outputs + scoreBytes(k.p)
}

// tuning is the memory of Tune on splits of all, nil for none.
func (k kernelSizes) tuning(union *Problem) int64 {
	if union == nil {
		return 0
	}
	labels, tests := min(len(k.p.Row), k.set.Sample), min(len(union.Row), maxTestedRows)
	if k.learner.Whole {
		labels, tests = labels+min(len(union.Row), k.set.Sample), 0
	}
	batch := min(len(k.grid), tuneTogether(labels, tests, len(k.grid), false))
	grams := k.kernel.GramsBytes(k.grid[:batch], k.p.Degrees, k.p.A.NNZ(), union.Row[:min(labels, len(union.Row))], k.set.Memory)
	rows := 8 * int64(labels) * int64(tests) * int64(batch)
	blocks := 8 * int64(labels) * int64(labels+tests) * int64(batch)
	machines := 8 * int64(labels) * int64(4*labels+choose.NodesAtATime) * int64(min(sched.Workers(k.set.Workers), batch))
	return max(grams+rows, blocks+machines)
}

// machines returns the largest number of binary classifiers that a learner fits with one of
// some complete settings.
func (l learner) machines(classes int, settled []param.Values) int {
	if path := l.Path; path != nil && path.Pairwise != nil && slices.ContainsFunc(settled, path.Pairwise) {
		return max(classes, classes*(classes-1)/2)
	}
	return classes
}

// ShareKernels gives methods, each with its settings, one cache of the values of their kernels
// for predictions from many sets of labels on one graph; union has every label that a prediction
// may have. tuned reports that parameters are chosen once for all predictions: a method that
// chooses its kernel inside each training set keeps no values, because each set may choose
// another. With a memory limit the cache has a quarter of it, and drops the values that were
// not used for longest, but for one kernel. The result is the memory of the cache and of
// computing its values, 0 if no method uses it.
func ShareKernels(union *Problem, methods []Method, settings []*Settings, tuned bool) (bytes int64, err error) {
	one := cachedKernelBytes(len(union.Degrees), len(union.Row))
	if one == 0 {
		return 0, nil
	}
	var cached, making int64
	for i, m := range methods {
		need, err := cachedBytes(m, union, tuned, settings[i])
		if err != nil {
			return 0, err
		}
		if need > 0 {
			cached, making = cached+one, max(making, need)
		}
	}
	if cached == 0 {
		return 0, nil
	}
	memory := settings[0].Memory
	if memory > 0 {
		cached = max(one, min(cached, memory/4))
	}
	shared := newKernelCache(union, cached, settings[0].Workers)
	for _, s := range settings {
		s.kernels = shared
		s.Memory = budget.Remaining(memory, cached)
	}
	return cached + making, nil
}

// cachedBytes returns the memory of computing the values of a method's kernel for the cache of
// [ShareKernels], 0 if it keeps none.
func cachedBytes(m Method, union *Problem, tuned bool, s *Settings) (int64, error) {
	family, set := kernelOf(m), s.WithDefaults()
	if family == nil {
		return 0, nil
	}
	grid, err := kernelGrid(family, &set, kernel.OnDegrees(union.Degrees))
	if err != nil || !tuned && len(grid) > 1 {
		return 0, err
	}
	n, labelled := int64(len(union.Degrees)), int64(len(union.Row))
	return kernelSizes{kernelMethod{kernel: family}, union, &set, grid, nil}.grams(union.Row) + 8*(n-labelled)*labelled, nil
}

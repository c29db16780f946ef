package auto

import (
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/internal/ledger"
	"github.com/heatwalk/heatwalk/method/internal/piece"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
)

// evidencePlan lists what a prediction by evidence takes.
type evidencePlan struct {
	kept int64 // filters of all nodes and labels, columns of labels, of the graph and of a kernel
	left int64 // what blocks that walk, and kernels, may take beside; 0: no limit
	fits int64
}

// structureColumns is the number of columns of structure.
const structureColumns = 4

func planOf(p *problem.Problem, set *Settings) evidencePlan {
	n, m, k := len(p.Degrees), len(p.Row), len(p.Names)
	graph := structureColumns
	if maySpread(p, set) {
		graph += 2 * spectralColumns // before and beside the others
	}
	shared, free := (2+2*relatedKernels+len(sharedFilters))*k, len(freeFilters)*k+graph
	rows := piece.Bytes[float64](m, shared) + piece.Bytes[float32](m, free)
	plan := evidencePlan{
		kept: piece.Bytes[float32](n, filters*k+graph) + piece.Bytes[float32](m, Folds*filters*k) + rows + 16*int64(n),
		fits: rows + spec.Sum(classify.LogisticMemory(m, free, k)),
	}
	if relates(p, set) {
		plan.kept += piece.Bytes[float32](n, relatedKernels*k) + (1+Folds)*int64(m)*(24+8*relatedKernels*int64(k))
	}
	plan.kept += int64(trialsOf(p)) * int64(m) * (24 + 9 + 4*int64(k))
	if p.Attributes != nil {
		plan.kept += spec.Sum(attributeKept(p))
	}
	if set.Memory > 0 {
		plan.left = max(1, ledger.Beside(p, set.Memory)-plan.kept)
	}
	return plan
}

// trialsOf returns of how many settings the answers to labels are kept.
func trialsOf(p *problem.Problem) int {
	count := 2 // Poisson learning, and the constant
	of := candidates
	if p.Attributes != nil {
		of = slices.Concat(candidates, attributeCandidates)
	}
	for _, c := range of {
		count += len(c.lambdas())
	}
	return count
}

// account adds up what a prediction takes.
type account struct {
	*ledger.Ledger
	set *Settings
}

// Reckon adds to a ledger what a prediction takes.
func Reckon(l *ledger.Ledger, set *Settings) error {
	return (&account{l, set}).all()
}

func (a *account) all() error {
	n, k := len(a.P.Degrees), len(a.P.Names)
	a.Sweeps = ledger.UnknownSweeps // walks may have to be longer
	plan := planOf(a.P, a.set)
	s := newSources(a.P, a.set.RNGSeed)
	if err := a.Reserve(plan.kept, "filters of walks from labels"); err != nil {
		return err
	}
	var walks int64
	for lo := 0; lo < k; {
		hi := s.slabEnd(lo, plan.left)
		if groups := s.start[hi] - s.start[lo]; groups > 0 {
			walks = max(walks, columnBytes(n, groups))
			a.Row = max(a.Row, 4*sparse.Stride[float32](2*groups))
		}
		lo = hi
	}
	if err := a.Phase(walks, "walks from labels"); err != nil {
		return err
	}
	if err := a.spread(plan.left); err != nil {
		return err
	}
	if relates(a.P, a.set) {
		if err := a.related(plan.left); err != nil {
			return err
		}
	}
	if a.P.Attributes != nil {
		if err := a.attributes(plan.left); err != nil {
			return err
		}
	}
	if err := a.Phase(plan.fits, "logistic regression"); err != nil {
		return err
	}
	return a.Scores()
}

// related accounts for scores of a kernel.
func (a *account) related(memory int64) error {
	n, m, k := len(a.P.Degrees), int64(len(a.P.Row)), len(a.P.Names)
	grid := relatedGrid()
	f := kernel.FamilyOf(diffusion)
	a.Row = max(a.Row, 8*sparse.Stride[float64](k))
	if err := a.PhaseOf(f.GramsMemory(grid, a.P.Degrees, a.P.A.NNZ(), a.P.Row, memory), "blocks of kernels between labels"); err != nil {
		return err
	}
	solutions := int64(len(grid) * len(relatedLambdas))
	workers := min(int64(sched.Workers(a.set.Workers)), solutions)
	if err := a.Phase(8*m*m*(int64(len(grid))+3*workers)+solutions*m*(24+16*int64(k)), "least squares between labels"); err != nil {
		return err
	}
	slab := linkSlab(n, int(m), memory)
	a.Row = max(a.Row, 8*sparse.Stride[float64](slab))
	if err := a.Phase(2*sparse.BlockBytes[float64](n, slab)+8*m*m, "common neighbours of labels"); err != nil {
		return err
	}
	apply := spec.Sum(f.ApplyMemory(grid[len(grid)-1], a.P.Degrees, k))
	return a.Phase(2*sparse.BlockBytes[float64](n, k)+apply+8*m*m*int64(len(grid)), "a kernel applied to labels")
}

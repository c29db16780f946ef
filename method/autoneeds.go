package method

import (
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/sparse"
)

// evidencePlan lists what a prediction by evidence takes.
type evidencePlan struct {
	kept  int64 // filters of all nodes and labels, columns of labels and of the graph
	walks int64 // what blocks that walk may take beside; 0: no limit
	fits  int64
}

// structureColumns is the number of columns of structure.
const structureColumns = 4

func planOf(p *Problem, set *Settings) evidencePlan {
	n, m, k := len(p.Degrees), len(p.Row), len(p.Names)
	shared, free := (2+len(sharedFilters))*k, len(freeFilters)*k+structureColumns
	rows := packedBytes[float64](m, shared) + packedBytes[float32](m, free)
	plan := evidencePlan{
		kept: packedBytes[float32](n, filters*k+structureColumns) + packedBytes[float32](m, foldsOfWalks*filters*k) + rows + 16*int64(n),
		fits: rows + classify.LogisticBytes(m, free, k),
	}
	if set.Memory > 0 {
		plan.walks = max(1, beside(p, set.Memory)-plan.kept)
	}
	return plan
}

// evidence accounts for a prediction by evidence.
func (a *account) evidence() error {
	n, k := len(a.p.Degrees), len(a.p.Names)
	plan := planOf(a.p, a.set)
	s := newSources(a.p, a.set.RNGSeed)
	if err := a.reserve(plan.kept, "filters of walks from labels"); err != nil {
		return err
	}
	var walks int64
	for lo := 0; lo < k; {
		hi := s.slabEnd(lo, plan.walks)
		if groups := s.start[hi] - s.start[lo]; groups > 0 {
			walks = max(walks, columnBytes(n, groups))
			a.row = max(a.row, 4*sparse.Stride[float32](2*groups))
			a.addSweeps(walkSteps)
		}
		lo = hi
	}
	if len(a.p.Row) > fewestLabels {
		a.addSweeps(1) // structure
	}
	if err := a.phase(walks, "walks from labels"); err != nil {
		return err
	}
	if err := a.phase(plan.fits, "logistic regression"); err != nil {
		return err
	}
	return a.scores()
}

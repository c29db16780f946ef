package auto

import (
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/method/internal/ledger"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/spec"
)

// keptMemory lists what a prediction holds to its end.
func keptMemory(p *problem.Problem, set *Settings) []spec.Bytes {
	list := slices.Concat(filterMemory(p, set), graphMemory(p, set), rowMemory(p, set), diffusedMemory(p, set), answerMemory(p))
	if p.Attributes != nil {
		list = append(list, attributeKept(p, set)...)
	}
	return append(list, spec.Bytes{What: "classes and places of nodes", Bytes: 16 * int64(len(p.Degrees))})
}

// fitMemory lists what fitting a model takes beside them: a copy of labels' columns too.
func fitMemory(p *problem.Problem, set *Settings) []spec.Bytes {
	return append(classify.LogisticMemory(len(p.Row), mostFree(p, set), len(p.Names)), rowMemory(p, set)...)
}

// beside returns what blocks that walk, and kernels, may take beside what is kept; 0: there
// is no limit.
func beside(p *problem.Problem, set *Settings) int64 {
	return budget.Remaining(ledger.Beside(p, set.Memory), spec.Sum(keptMemory(p, set)))
}

// Reckon adds to a ledger what a prediction takes.
func Reckon(l *ledger.Ledger, set *Settings) {
	l.Sweeps = spec.UnknownSweeps // walks may have to be longer
	of := []*problem.Problem{l.P}
	if l.P.Directed {
		set, of = set.withArcs(l.P), outlines(l.P)
		list, _ := l.P.ArcsMemory(0)
		l.Reserve(spec.Sum(list)+ledger.Kept(of[0])-ledger.Kept(l.P), "graph without directions")
	}
	l.Reserve(spec.Sum(keptMemory(of[0], set)), "filters of walks from labels")
	for _, p := range of {
		for _, list := range phaseMemory(p, set) {
			if len(list) > 0 {
				l.PhaseOf(list, list[0].What)
			}
		}
		if propagates(set) {
			propagationOf(p, set).Reckon(l)
		}
	}
	l.Scores()
}

// phaseMemory lists what the phases take, one after the other.
func phaseMemory(p *problem.Problem, set *Settings) [][]spec.Bytes {
	left := beside(p, set)
	phases := [][]spec.Bytes{newSources(p, set.RNGSeed).memory(left), spreadMemory(p, set, left)}
	phases = append(phases, relateMemory(p, set, left)...)
	if p.Attributes != nil {
		sweeps, ridges := attributeSweeps(p, slabWidth(p, left, set.Workers), set.Workers)
		phases = append(phases, sweeps, ridges)
	}
	return append(phases, fitMemory(p, set))
}

package auto

import (
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/tall"
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
	return budget.Remaining(p.Remaining(set.Memory), spec.Sum(keptMemory(p, set)))
}

// Bytes is the memory of [Predict], without the components of the graph: the blocks that it
// keeps to its end, and those of its largest phase.
func Bytes(p *problem.Problem, set *Settings) (bytes int64) {
	of := []*problem.Problem{p}
	if p.Directed {
		set, of = set.withArcs(p), outlines(p)
		list, _ := p.ArcsMemory(0)
		bytes = spec.Sum(list) + of[0].ComponentBytes() - p.ComponentBytes()
	}
	most := tall.BlockBytes[float32](len(p.Degrees), len(p.Names)) + 8*int64(len(p.Degrees)) // scores and classes
	for _, p := range of {
		for _, list := range phaseMemory(p, set) {
			most = max(most, spec.Sum(list))
		}
		if propagates(set) {
			most = max(most, propagationOf(p, set).Bytes())
		}
	}
	return bytes + spec.Sum(keptMemory(of[0], set)) + most
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

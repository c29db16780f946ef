package shift

import (
	"context"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/partition"
	"github.com/heatwalk/heatwalk/sparse"
)

// Part is the part of the graph that lacks labels most: a community, or a few of them, with the least probable number
// of labels.
type Part struct {
	Nodes       int     `json:"nodes"`
	Labelled    int     `json:"labelled"`    // nodes with a label
	Expected    float64 `json:"expected"`    // mean number of nodes with a label in random samples
	Probability float64 `json:"probability"` // that one of the tested parts of a random sample is as improbable; 1: not tested

	missing float64 // share of the nodes that parts with improbably few labels have above their share of the labels
}

// Exceeds reports whether the part has fewer labels than chance explains.
func (p Part) Exceeds() bool { return p.Probability < alarmRate }

// partEntries bounds the stored entries of graphs whose parts are tested, because finding communities takes a second for
// four million of them, as long as a prediction by a block model. Parts have a mean of at least leastExpected labels in random
// samples, because a part with a smaller mean often has no label.
const (
	partEntries   = 1 << 20
	leastExpected = 8
)

// isDivided reports whether parts of a graph are tested.
func isDivided(p *problem.Problem) bool {
	return sparse.TeamOf(p.A) == nil && p.A.NNZ() <= partEntries &&
		len(p.Row) >= 2*leastExpected
}

// sparsestPart finds the part that lacks labels most, among nodes that can have a label. Parts are runs of n/2^j nodes in an
// order in which communities are runs (package partition), each beginning in the middle of the one before. The number of
// labels in a part of n_i of n nodes has at most the probability
//
//	P(x_i) = Σ_{x ≤ x_i} C(m, x)·(n_i/n)^x·(1 − n_i/n)^(m−x)
//
// for m labels of a random sample. Cost: [partition.Locality] for a graph of up to partEntries.
func sparsestPart(ctx context.Context, p *problem.Problem, workers int,
	canHaveLabel func(row int) bool) (sparsest Part, err error) {
	sparsest.Probability = 1
	if !isDivided(p) {
		return sparsest, nil
	}
	a, err := sparse.Plain(ctx, p.A, workers)
	if err != nil {
		return sparsest, err
	}
	order, err := partition.Locality(ctx, a, nil)
	if err != nil {
		return sparsest, err
	}
	isLabelled := make([]bool, len(order))
	for _, row := range p.Row {
		isLabelled[row] = true
	}
	labelled := []int{0} // labels before each node
	for _, row := range order {
		if labels := labelled[len(labelled)-1]; isLabelled[row] {
			labelled = append(labelled, labels+1)
		} else if canHaveLabel(int(row)) {
			labelled = append(labelled, labels)
		}
	}
	nodes := len(labelled) - 1
	labels := len(p.Row)
	tests := 0.0
	for halves := 4; 2*labels >= leastExpected*halves; halves *= 2 {
		missing := 0.0
		for i := range halves - 1 {
			lo, hi := i*nodes/halves, (i+2)*nodes/halves
			run := Part{Nodes: hi - lo, Labelled: labelled[hi] - labelled[lo]}
			share := float64(run.Nodes) / float64(nodes)
			run.Expected = share * float64(labels)
			run.Probability = distuv.Binomial{N: float64(labels),
				P: share}.CDF(float64(run.Labelled))
			if tests++; run.Probability < sparsest.Probability {
				run.missing = sparsest.missing
				sparsest = run
			}
			if i%2 == 0 && run.Probability < alarmRate {
				missing += share - float64(run.Labelled)/float64(labels)
			}
		}
		sparsest.missing = max(sparsest.missing, missing)
	}
	sparsest.Probability = min(1, sparsest.Probability*tests)
	return sparsest, nil
}

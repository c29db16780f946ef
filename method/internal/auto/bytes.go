package auto

import (
	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/internal/beliefs"
	"github.com/heatwalk/heatwalk/method/internal/propagation"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// Plan is the memory and the files of a prediction.
type Plan struct {
	// Bytes is an upper bound of the memory, without the components of the graph. Where learning exceeds the limit but
	// beliefs do not, it is that of beliefs, and Predict refuses to go on after them.
	Bytes int64

	Disk         int64 // bytes of temporary files
	KeepsHighest bool  // the highest scores of each node replace those of all classes

	design   design
	learning int64 // bytes without beliefs of a block model
	memory   int64 // limit of the blocks of a stage; 0: none
}

// PlanOf returns the plan of Predict. Rows of features are in temporary files if all exceed the limit.
func PlanOf(p *problem.Problem, set *Settings) *Plan {
	d := designOf(p, set)
	plan := &Plan{KeepsHighest: keepsHighest(&d, set), design: d}
	limit := p.SubtractComponents(set.Memory)
	n := len(p.Degrees)
	k := len(p.Names)
	retained := learnedBytes(&d, p)
	stored := blockBytes(n, len(d.filters)*k) // rows of walks, and of attributes or of their scores
	if p.Attributes != nil {
		stored += blockBytes(n, min(k, p.Attributes.Cols))
	}
	if set.Memory > 0 && !set.Explain &&
		retained+stored+stageBytes(&d, p, set, 1, false) > limit {
		plan.Disk = stored
	} else {
		retained += stored
	}
	plan.memory = budget.Subtract(limit, retained)
	plan.learning = retained + stageBytes(&d, p, set, plan.memory, plan.Disk > 0)
	plan.Bytes = plan.learning
	if beginsWithBeliefs(p, set) {
		if limit > 0 && plan.Bytes > limit {
			plan.Bytes = 0
		}
		held := heldOutBytes(p)
		plan.Bytes = max(plan.Bytes, held+beliefs.Bytes(n, k, budget.Subtract(limit, held)))
	}
	return plan
}

// keepsHighest reports whether the highest scores of each node replace those of all classes.
func keepsHighest(d *design, set *Settings) bool {
	return set.Highest && d.manyClasses && !d.propagation && !set.Explain &&
		!set.Balanced
}

// learnedBytes returns the size of everything that is kept to the end but rows that are stored.
func learnedBytes(d *design, p *problem.Problem) int64 {
	n := len(p.Degrees)
	scores := boolean(d.links) + boolean(d.counts) + kernels*boolean(d.diffusion)
	bytes := 4*int64(n) + scores*blockBytes(n, len(p.Names)) +
		boolean(d.spectral)*blockBytes(n, spectralPairs)
	if p.Directed {
		directions, _ := p.ArcsBytes(0)
		bytes += directions
	}
	// Columns of labels, each of at most 32 bytes and 8 for a class: walks from the cells of folds, the scores of ridges
	// without folds, the columns of models thrice, and the predictions of settings, with those of Poisson learning, beliefs
	// and label propagation.
	columns := len(d.filters)*d.folds + (4+d.folds)*d.ridges(p) +
		3*(d.sharedCount()+len(d.free)) +
		3 + len(slacks) + len(ridges)*len(candidatesOf(d, p))
	return bytes + int64(d.learnedLabels(p))*int64(columns)*int64(32+8*len(p.Names))
}

// learnedLabels returns an upper bound of the number of labels that models learn from: a sample has at least two of each
// class.
func (d *design) learnedLabels(p *problem.Problem) int {
	return min(len(p.Row), d.examples+2*len(p.Names))
}

// boolean returns 1 of true and 0 of false, as a factor of sizes.
func boolean(x bool) int64 {
	if x {
		return 1
	}
	return 0
}

// ridges returns the number of ridges whose scores are columns.
func (d *design) ridges(p *problem.Problem) int {
	return int(2*boolean(p.Attributes != nil) + boolean(d.counts) +
		boolean(d.links) + boolean(d.spectral) + kernels*boolean(d.diffusion))
}

// stageBytes returns the largest size of the blocks of one stage, the predictions among them, within
// a limit, 0 for none, with rows in files or in memory.
func stageBytes(d *design, p *problem.Problem, set *Settings, limit int64,
	inFiles bool) int64 {
	q := p
	if p.Directed {
		undirected := *p
		undirected.Directed = false
		undirected.Graph = &graph.Graph{A: bothDirections{p.A}, Degrees: p.Degrees}
		q = &undirected
	}
	n := len(p.Degrees)
	k := len(p.Names)
	walks := d.walkBlocks(inFiles)
	cells := max(slabWidth(limit, n, walks), d.folds)
	scores := blockBytes(n, k)
	if keepsHighest(d, set) {
		scores = problem.HighestBytes(n)
	}
	// and rows that are read at once
	scores += int64(sched.Workers(set.Workers)) * 2 * blockBytes(storedRows, (len(d.filters)+d.ridges(p))*k)
	largest := max(4*int64(n)*int64(cells*walks), scores+8*int64(n),
		boolean(d.diffusion)*kernelBytes(q, d.folds, limit),
		boolean(d.spectral)*spectralBytes(n),
		boolean(d.links)*linkBytes(p, d.folds),
		boolean(!d.tooFewLabels)*(classify.LogisticBytes(d.learnedLabels(p),
			len(d.free)*k+d.graphColumns(p.Directed), k)),
		boolean(d.propagation)*(propagationOf(q, set, limit).Bytes()+
			heldOutBytes(q)))
	if !d.manyClasses && !p.Directed && p.Attributes == nil &&
		p.Nodes() <= blockModelNodes {
		largest = max(largest,
			scores+beliefs.Bytes(n, k, budget.Subtract(limit, scores)))
	}
	if p.Attributes != nil {
		largest = max(largest, attributeBytes(q, d, set.Workers, limit))
	}
	return largest
}

// propagationOf returns label propagation within a limit, 0 for none. Its held-out scores are
// allocated while it computes others.
func propagationOf(p *problem.Problem, set *Settings,
	limit int64) *propagation.Propagation {
	return &propagation.Propagation{P: p, Alpha: 1,
		Memory: budget.Subtract(limit, heldOutBytes(p)), Workers: set.Workers,
		Rough: true}
}

// heldOutBytes returns the size of held-out scores of labels.
func heldOutBytes(p *problem.Problem) int64 {
	return int64(len(p.Row)) * int64(4*len(p.Names)+64)
}

// bothDirections is a matrix of which only the size is used, that of a graph without directions.
type bothDirections struct{ sparse.Matrix }

// NNZ returns an upper bound of the number of entries.
func (m bothDirections) NNZ() int64 { return 2 * m.Matrix.NNZ() }

// Team returns the team.
func (m bothDirections) Team() *sparse.Team {
	return sparse.TeamOf(m.Matrix)
}

// attributeBytes returns the size of the blocks while attributes are swept in slabs of columns, and while ridges are
// fitted.
func attributeBytes(p *problem.Problem, design *design, workers int,
	limit int64) int64 {
	d := p.Attributes.Cols
	k := len(p.Names)
	retained, sweeps := viewBytes(p, workers, limit)
	if learnsWords(p, p.Attributes.Entries) {
		return retained + wordBytes(p)
	}
	folds := design.folds
	labels := min(len(p.Row), labelLimit(d)+2*k)
	if labels < len(p.Row) || labels > nestedLabels {
		folds = 0
	}
	retained += 2 * blockBytes(labels, d)
	ridges := 2*blockBytes(d, k) + classify.RidgeBytes(labels, d, k, folds)
	if design.counts {
		retained += countBytes(p)
		ridges = max(ridges, classify.RidgeBytes(labels, countColumns(p), k, folds)) // the largest ridge
	}
	return retained + max(sweeps, ridges)
}

// viewBytes returns the size of the numbers of rows and columns of attributes, and of the blocks of slabs of columns.
func viewBytes(p *problem.Problem, workers int, limit int64) (retained, sweeps int64) {
	n := p.Attributes.Rows
	d := p.Attributes.Cols
	return 32*int64(n) + int64(100+4*sched.Workers(workers))*int64(d) + 24*int64(min(rankValues, rankSample*d)),
		rankBlocks*budget.Block[float32](n, slabWidth(limit, n, rankBlocks)) + 8*int64(d+1)*slabColumns
}

package auto

import (
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/ridge"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/internal/beliefs"
	"github.com/heatwalk/heatwalk/method/internal/chunks"
	"github.com/heatwalk/heatwalk/method/internal/propagation"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// Bytes returns an upper bound of the memory that Predict allocates, without the components of the graph: the blocks
// that it keeps to its end and the largest of those that single stages give back. Where that exceeds the limit but
// beliefs do not, it is the bound of beliefs, and Predict refuses to go on after them.
func Bytes(p *problem.Problem, set *Settings) int64 {
	bytes := mixtureBytes(p, set)
	if !beginsWithBeliefs(p, set) {
		return bytes
	}
	limit := p.Remaining(set.Memory)
	first := heldOutBytes(p) + beliefs.Bytes(len(p.Degrees), len(p.Names), budget.Remaining(limit, heldOutBytes(p)))
	if limit > 0 && bytes > limit {
		return first
	}
	return max(bytes, first)
}

// mixtureBytes returns an upper bound of the memory of the stages after the beliefs of a block model.
func mixtureBytes(p *problem.Problem, set *Settings) int64 {
	return keptBytes(p, set) + stageBytes(p, set, remaining(p, set), spills(p, set))
}

// remaining returns the memory that stages may allocate for themselves under the limit, at least
// 1; 0: there is no limit.
func remaining(p *problem.Problem, set *Settings) int64 {
	return budget.Remaining(p.Remaining(set.Memory), keptBytes(p, set))
}

// keptBytes returns the size of the features, the held-out probabilities and the graph without directions, which are
// allocated until the end.
func keptBytes(p *problem.Problem, set *Settings) int64 {
	bytes := learnedBytes(p, set)
	if !spills(p, set) {
		bytes += storedBytes(p, set)
	}
	return bytes
}

// spills reports whether rows are stored in temporary files, because all rows exceed the limit.
func spills(p *problem.Problem, set *Settings) bool {
	if set.Memory <= 0 || set.Explain {
		return false
	}
	stored := learnedBytes(p, set) + storedBytes(p, set)
	return stored+stageBytes(p, set, 1, false) > p.Remaining(set.Memory)
}

// KeepsHighest reports whether a prediction has the highest scores of each node in place of those of all classes: where
// Settings.Highest asks for them and there are many classes.
func KeepsHighest(p *problem.Problem, set *Settings) bool {
	d := designOf(p, set)
	return keepsHighest(&d, set)
}

func keepsHighest(d *design, set *Settings) bool {
	return set.Highest && d.manyClasses && !d.propagation && !set.Explain && !set.Balanced
}

// storedBytes returns the size of the rows of walks and of attributes that were propagated, or of their scores.
func storedBytes(p *problem.Problem, set *Settings) int64 {
	d := designOf(p, set)
	n, k := len(p.Degrees), len(p.Names)
	bytes := chunks.Bytes[float32](n, len(d.filters)*k)
	if p.Attributes != nil {
		bytes += chunks.Bytes[float32](n, min(k, p.Attributes.Cols))
	}
	return bytes
}

// Cost returns the size of temporary files and the number of sweeps of Predict. Sweeps are known for many classes with
// attributes, if walks of the usual length reach most nodes; else the number is [budget.UnknownSweeps].
func Cost(p *problem.Problem, set *Settings) (disk int64, sweeps int) {
	d, limit, inFiles := designOf(p, set), remaining(p, set), spills(p, set)
	if inFiles {
		disk = storedBytes(p, set)
	}
	if !d.manyClasses || p.Attributes == nil {
		return disk, budget.UnknownSweeps
	}
	n, k, columns := len(p.Degrees), len(p.Names), p.Attributes.Cols
	classes := max(1, slabWidth(limit, walkBytes(n, 1, len(d.filters), inFiles))/d.folds) // of a slab
	width := slabWidth(limit, rankBytes(n))
	slabs := (k+classes-1)/classes + (columns+width-1)/width
	if columns > k {
		slabs += (k + width - 1) / width
	}
	return disk, leanSteps * slabs
}

// learnedBytes returns what keptBytes returns without rows that are stored.
func learnedBytes(p *problem.Problem, set *Settings) int64 {
	d := designOf(p, set)
	n, k := len(p.Degrees), len(p.Names)
	m := min(len(p.Row), d.examples+2*k) // a sample has at least two labels of each class
	filters := len(d.filters)
	bytes := chunks.Bytes[float32](m, filters*min(len(p.Row), d.folds*k)) + 4*int64(n)
	bytes += (boolean(d.links) + boolean(d.counts) + kernels*boolean(d.diffusion)) * chunks.Bytes[float32](n, k)
	nested := 1 // rows of scores for each label: without it, and without folds
	if m <= nestedLabels {
		nested += d.folds
	}
	bytes += int64(d.ridges(p)) * int64(nested*m) * int64(24+8*k)
	bytes += 2 * exampleBytes(&d, p, m) // of all labels, and of those outside a fold
	settings := 3 + len(slacks)         // Poisson learning, beliefs, label propagation
	for _, c := range candidatesOf(&d, p) {
		settings += len(c.lambdas())
	}
	if p.Directed {
		directions, _ := p.ArcsBytes(0)
		bytes += directions
	}
	return bytes + int64(settings)*int64(m)*int64(24+9+4*k)
}

func boolean(x bool) int64 {
	if x {
		return 1
	}
	return 0
}

// ridges returns the number of ridges whose scores are columns.
func (d *design) ridges(p *problem.Problem) int {
	return int(2*boolean(p.Attributes != nil) + boolean(d.counts) + boolean(d.links) + kernels*boolean(d.diffusion))
}

// exampleBytes returns the size of the columns of labels.
func exampleBytes(d *design, p *problem.Problem, labels int) int64 {
	k := len(p.Names)
	return chunks.Bytes[float64](labels, (d.sharedCount()+d.ridges(p))*k) + chunks.Bytes[float32](labels, len(d.free)*k+d.graphColumns(p.Directed))
}

// stageBytes returns the largest size of the blocks of one stage, the predictions among them, within
// a limit, 0 for none, with rows in files or in memory.
func stageBytes(p *problem.Problem, set *Settings, limit int64, inFiles bool) int64 {
	d := designOf(p, set)
	q := p
	if p.Directed {
		undirected := *p
		undirected.Directed = false
		undirected.Graph = &graph.Graph{A: bothDirections{p.A, p.In}, Degrees: p.Degrees}
		q = &undirected
	}
	n, k, m := len(p.Degrees), len(p.Names), min(len(p.Row), d.examples+2*len(p.Names))
	cells := max(slabWidth(limit, walkBytes(n, 1, len(d.filters), inFiles)), d.folds)
	scores := chunks.Bytes[float32](n, k)
	if keepsHighest(&d, set) {
		scores = problem.HighestBytes(n)
	}
	// and rows that are read at once
	scores += int64(sched.Workers(set.Workers)) * 2 * chunks.Bytes[float32](storedRows, (len(d.filters)+d.ridges(p))*k)
	largest := max(walkBytes(n, cells, len(d.filters), inFiles), scores+8*int64(n), 2*blocks.BlockBytes[float64](n, 1))
	if !d.manyClasses && !p.Directed && p.Attributes == nil && p.Nodes() <= blockModelNodes {
		largest = max(largest, scores+beliefs.Bytes(n, k, budget.Remaining(limit, scores)))
	}
	if d.diffusion {
		largest = max(largest, kernelBytes(q, d.folds, limit))
	}
	if d.links {
		largest = max(largest, linkBytes(p, d.folds))
	}
	if p.Attributes != nil {
		largest = max(largest, attributeBytes(q, &d, set.Workers, limit))
	}
	if !d.tooFewLabels {
		largest = max(largest, classify.LogisticBytes(m, len(d.free)*k+d.graphColumns(p.Directed), k)+exampleBytes(&d, p, m))
	}
	if d.propagation {
		largest = max(largest, propagationOf(q, set, limit).Bytes()+heldOutBytes(q))
	}
	return largest
}

// propagationOf returns label propagation within a limit, 0 for none. Its held-out scores are
// allocated while it computes others.
func propagationOf(p *problem.Problem, set *Settings, limit int64) *propagation.Propagation {
	return &propagation.Propagation{P: p, Alpha: 1, Memory: budget.Remaining(limit, heldOutBytes(p)), Workers: set.Workers, Rough: true}
}

// heldOutBytes returns the size of held-out scores of labels.
func heldOutBytes(p *problem.Problem) int64 { return int64(len(p.Row)) * int64(4*len(p.Names)+64) }

// bothDirections is a matrix of which only the size is used, that of a graph without directions.
type bothDirections struct {
	sparse.Matrix
	in sparse.Matrix // may be nil
}

// NNZ returns an upper bound of the number of entries.
func (m bothDirections) NNZ() int64 {
	if m.in == nil {
		return 2 * m.Matrix.NNZ()
	}
	return m.Matrix.NNZ() + m.in.NNZ()
}

// Team returns the team.
func (m bothDirections) Team() *sparse.Team { return sparse.TeamOf(m.Matrix) }

// attributeBytes returns the size of the blocks while attributes are swept in slabs of columns, and while ridges are
// fitted.
func attributeBytes(p *problem.Problem, design *design, workers int, limit int64) int64 {
	n, d, k, folds := p.Attributes.Rows, p.Attributes.Cols, len(p.Names), design.folds
	labels := len(shownLabels(p, d, 0))
	retained := attributeTableBytes(n, d) + 28*int64(n) + 2*chunks.Bytes[float32](labels, d)
	sweeps := 3*blocks.BlockBytes[float32](n, slabWidth(limit, rankBytes(n))) + int64(sched.Workers(workers))*4*int64(d) + 8*int64(d+1)*slabColumns
	if labels < len(p.Row) || labels > nestedLabels {
		folds = 0
	}
	if learnsWords(p, p.Attributes.Entries) {
		return attributeTableBytes(n, d) + 28*int64(n) + wordBytes(p) + int64(sched.Workers(workers))*4*int64(d) + 8*int64(d+1)*int64(k)
	}
	ridges := 2*chunks.Bytes[float32](d, k) + ridge.Bytes(labels, d, k, folds)
	if design.counts {
		retained += countBytes(p)
		ridges = max(ridges, ridge.Bytes(labels, countColumns(p), k, folds)) // the largest ridge
	}
	return retained + max(sweeps, ridges)
}

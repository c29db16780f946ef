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
	d := designOf(p, set)
	b := boundsOf(&d, p, set)
	bytes := b.kept + b.stage
	if !beginsWithBeliefs(p, set) {
		return bytes
	}
	limit := p.SubtractComponents(set.Memory)
	first := heldOutBytes(p) +
		beliefs.Bytes(len(p.Degrees), len(p.Names),
			budget.Subtract(limit, heldOutBytes(p)))
	if limit > 0 && bytes > limit {
		return first
	}
	return max(bytes, first)
}

// bounds are upper bounds of the memory of a prediction.
type bounds struct {
	kept   int64 // of features, held-out probabilities and the graph without directions, to the end
	disk   int64 // of rows in temporary files; 0: all rows are in memory
	stage  int64 // of the blocks that single stages give back
	memory int64 // limit of these; 0: none
}

// boundsOf returns the bounds of the stages after the beliefs of a block model. Rows are in temporary files if all exceed the
// limit.
func boundsOf(d *design, p *problem.Problem, set *Settings) bounds {
	limit := p.SubtractComponents(set.Memory)
	b := bounds{kept: learnedBytes(d, p)}
	stored := storedBytes(d, p)
	if set.Memory > 0 && !set.Explain &&
		b.kept+stored+stageBytes(d, p, set, 1, false) > limit {
		b.disk = stored
	} else {
		b.kept += stored
	}
	b.memory = budget.Subtract(limit, b.kept)
	b.stage = stageBytes(d, p, set, b.memory, b.disk > 0)
	return b
}

// KeepsHighest reports whether a prediction has the highest scores of each node in place of those of all classes: where
// Settings.Highest asks for them and there are many classes.
func KeepsHighest(p *problem.Problem, set *Settings) bool {
	d := designOf(p, set)
	return keepsHighest(&d, set)
}

func keepsHighest(d *design, set *Settings) bool {
	return set.Highest && d.manyClasses && !d.propagation && !set.Explain &&
		!set.Balanced
}

// Cost returns the size of temporary files and the number of sweeps of Predict. Sweeps are known for many classes with
// attributes, if walks of the usual length reach most nodes; else the number is [budget.UnknownSweeps].
func Cost(p *problem.Problem, set *Settings) (disk int64, sweeps int) {
	d := designOf(p, set)
	b := boundsOf(&d, p, set)
	if !d.manyClasses || p.Attributes == nil {
		return b.disk, budget.UnknownSweeps
	}
	n := len(p.Degrees)
	k := len(p.Names)
	columns := p.Attributes.Cols
	classes := max(1, slabWidth(b.memory, walkBytes(n, 1, len(d.filters), b.disk > 0))/d.folds) // of a slab
	width := slabWidth(b.memory, rankBytes(n))
	slabs := (k+classes-1)/classes + (columns+width-1)/width
	if columns > k {
		slabs += (k + width - 1) / width
	}
	return b.disk, leanSteps * slabs
}

// storedBytes returns the size of the rows of walks and of attributes that were propagated, or of their scores.
func storedBytes(d *design, p *problem.Problem) int64 {
	n := len(p.Degrees)
	k := len(p.Names)
	bytes := chunks.Bytes[float32](n, len(d.filters)*k)
	if p.Attributes != nil {
		bytes += chunks.Bytes[float32](n, min(k, p.Attributes.Cols))
	}
	return bytes
}

// learnedBytes returns the size of everything that is kept to the end but rows that are stored.
func learnedBytes(d *design, p *problem.Problem) int64 {
	n := len(p.Degrees)
	k := len(p.Names)
	m := d.learnedLabels(p)
	bytes := chunks.Bytes[float32](m,
		len(d.filters)*min(len(p.Row), d.folds*k)) + 4*int64(n)
	bytes += (boolean(d.links) + boolean(d.counts) +
		kernels*boolean(d.diffusion)) * chunks.Bytes[float32](n, k)
	features, _ := spectralBytes(n)
	bytes += boolean(d.spectral) * features
	bytes += int64(d.ridges(p)) * int64((1+d.folds)*m) * int64(24+8*k) // scores of each label without it, and without folds
	bytes += 2 * exampleBytes(d, p)                                    // of all labels, and of those outside a fold
	if p.Directed {
		directions, _ := p.ArcsBytes(0)
		bytes += directions
	}
	settings := 3 + len(slacks) + len(ridges)*len(candidatesOf(d, p)) // and Poisson learning, beliefs, label propagation
	return bytes + int64(settings)*int64(m)*int64(24+9+4*k)
}

// learnedLabels returns an upper bound of the number of labels that models learn from: a sample has at least two of each
// class.
func (d *design) learnedLabels(p *problem.Problem) int {
	return min(len(p.Row), d.examples+2*len(p.Names))
}

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

// exampleBytes returns the size of the columns of labels.
func exampleBytes(d *design, p *problem.Problem) int64 {
	k := len(p.Names)
	m := d.learnedLabels(p)
	return chunks.Bytes[float64](m, (d.sharedCount()+d.ridges(p))*k) +
		chunks.Bytes[float32](m, len(d.free)*k+d.graphColumns(p.Directed))
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
	_, search := spectralBytes(n)
	cells := max(slabWidth(limit,
		walkBytes(n, 1, len(d.filters), inFiles)), d.folds)
	scores := chunks.Bytes[float32](n, k)
	if keepsHighest(d, set) {
		scores = problem.HighestBytes(n)
	}
	// and rows that are read at once
	scores += int64(sched.Workers(set.Workers)) * 2 * chunks.Bytes[float32](storedRows, (len(d.filters)+d.ridges(p))*k)
	largest := max(walkBytes(n, cells, len(d.filters), inFiles), scores+8*int64(n), 2*blocks.BlockBytes[float64](n, 1),
		boolean(d.diffusion)*kernelBytes(q, d.folds, limit),
		boolean(d.spectral)*search,
		boolean(d.links)*linkBytes(p, d.folds),
		boolean(!d.tooFewLabels)*(classify.LogisticBytes(d.learnedLabels(p),
			len(d.free)*k+d.graphColumns(p.Directed), k)+exampleBytes(d, p)),
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
	n := p.Attributes.Rows
	d := p.Attributes.Cols
	k := len(p.Names)
	folds := design.folds
	labels := min(len(p.Row), labelLimit(d)+2*k)
	retained := attributeTableBytes(n, d) + 28*int64(n) +
		2*chunks.Bytes[float32](labels, d)
	sweeps := 3*blocks.BlockBytes[float32](n, slabWidth(limit, rankBytes(n))) +
		int64(sched.Workers(workers))*4*int64(d) + 8*int64(d+1)*slabColumns
	if labels < len(p.Row) || labels > nestedLabels {
		folds = 0
	}
	if learnsWords(p, p.Attributes.Entries) {
		return attributeTableBytes(n, d) + 28*int64(n) + wordBytes(p) +
			int64(sched.Workers(workers))*4*int64(d) + 8*int64(d+1)*int64(k)
	}
	ridges := 2*chunks.Bytes[float32](d, k) + ridge.Bytes(labels, d, k, folds)
	if design.counts {
		retained += countBytes(p)
		ridges = max(ridges, ridge.Bytes(labels, countColumns(p), k, folds)) // the largest ridge
	}
	return retained + max(sweeps, ridges)
}

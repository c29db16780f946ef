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
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/sparse"
)

// Bytes returns an upper bound of the memory that Predict allocates, without the components of the
// graph: the blocks that it keeps to its end and the largest of those that single stages give back. A memory limit
// makes stages work in smaller slabs, down to one class at a time.
func Bytes(p *problem.Problem, set *Settings) int64 {
	bytes := keptBytes(p, set) + stageBytes(p, set, remaining(p, set))
	if beginsWithBeliefs(p, set) {
		limit := budget.Remaining(p.Remaining(set.Memory), heldOutBytes(p))
		bytes = max(bytes, heldOutBytes(p)+beliefs.Bytes(len(p.Degrees), len(p.Names), limit))
	}
	return bytes
}

// remaining returns the memory that stages may allocate for themselves under the limit, at least
// 1; 0: there is no limit.
func remaining(p *problem.Problem, set *Settings) int64 {
	return budget.Remaining(p.Remaining(set.Memory), keptBytes(p, set))
}

// keptBytes returns the size of the features and the held-out probabilities, which are allocated
// until the end.
func keptBytes(p *problem.Problem, set *Settings) int64 {
	d := designOf(p, set)
	n, k := len(p.Degrees), len(p.Names)
	m := min(len(p.Row), d.examples+2*k) // a sample has at least two labels of each class
	cells := min(len(p.Row), d.folds*k)

	bytes := directionBytes(p)
	values := len(d.filters) * k
	bytes += chunks.Bytes[float32](n, values) + chunks.Bytes[float32](m, len(d.filters)*cells)
	if len(d.free) > 0 && !d.tooFewLabels {
		bytes += 4 * int64(n)
		if d.eigenvectors {
			bytes += chunks.Bytes[float32](n, spectralColumns)
		}
	}
	if d.diffusion {
		size, _ := diffusionBytes(p, d.folds, set.Workers, 0)
		bytes += size
	}
	bytes += 2 * exampleBytes(&d, p, m) // of all labels, and of those outside a fold
	if p.Attributes != nil {
		bytes += ridgeScoresBytes(p, &d, m, attributeBlocks(p)) + 8*int64(n)
	}
	if d.links {
		bytes += ridgeScoresBytes(p, &d, m, 1)
	}
	if d.rounds {
		size, _ := roundBytes(p)
		bytes += size
	}
	settings := 1 + 1 + 1 + len(slacks) // Poisson learning, the constant, rounds, label propagation
	for _, c := range candidatesOf(&d, p) {
		settings += len(c.lambdas())
	}
	return bytes + int64(settings)*int64(m)*int64(24+9+4*k)
}

// ridgeScoresBytes returns the size of the scores of a number of blocks, of which those of m labels are kept
// for folds too.
func ridgeScoresBytes(p *problem.Problem, d *design, m, blocks int) int64 {
	k, rows := len(p.Names), 1
	if m <= nestedLabels {
		rows += d.folds
	}
	return int64(blocks)*chunks.Bytes[float32](len(p.Degrees), k) + int64(rows*m)*int64(24+8*blocks*k)
}

// exampleBytes returns the size of the columns of labels.
func exampleBytes(d *design, p *problem.Problem, labels int) int64 {
	k := len(p.Names)
	shared, free := d.sharedCount(), len(d.free)*k
	if p.Attributes != nil {
		shared += attributeBlocks(p)
	}
	if d.links {
		shared += 1
	}
	if len(d.free) > 0 {
		free += d.graphColumns(p.Directed)
	}
	return chunks.Bytes[float64](labels, shared*k) + chunks.Bytes[float32](labels, free)
}

// stageBytes returns the largest size of the blocks of one stage, the predictions among them, within
// a limit, 0 for none.
func stageBytes(p *problem.Problem, set *Settings, limit int64) int64 {
	d := designOf(p, set)
	undirected := *p
	if p.Directed {
		undirected.Directed = false
		undirected.Graph = &graph.Graph{A: bothDirections{p.A, p.In}, Degrees: p.Degrees}
	}
	q := &undirected
	k := len(p.Names)
	m := min(len(p.Row), d.examples+2*k)

	n := len(p.Degrees)
	largest := max(slabBytes(&d, p), chunks.Bytes[float32](n, k))
	if len(d.free) > 0 && !d.tooFewLabels {
		largest = max(largest, 2*blocks.BlockBytes[float64](n, 1)) // mean degrees of neighbours
	}
	if !d.manyClasses && !p.Directed && p.Attributes == nil && p.Nodes() <= blockModelNodes { // while the scores of components are there
		scores := chunks.Bytes[float32](n, k)
		largest = max(largest, scores+beliefs.Bytes(n, k, budget.Remaining(limit, scores)))
	}
	if d.eigenvectors {
		largest = max(largest, eigenvectorBytes(q, limit))
	}
	if d.diffusion {
		_, stage := diffusionBytes(q, d.folds, set.Workers, limit)
		largest = max(largest, stage)
	}
	if d.rounds {
		_, stage := roundBytes(q)
		largest = max(largest, stage)
	}
	if d.links {
		largest = max(largest, linkBytes(p, d.folds))
	}
	if p.Attributes != nil {
		sweeps, ridges := attributeBytes(q, set.Workers)
		largest = max(largest, sweeps, ridges)
	}
	if !d.tooFewLabels {
		free := len(d.free)*k + d.graphColumns(p.Directed)
		largest = max(largest, classify.LogisticBytes(m, free, k)+exampleBytes(&d, p, m))
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

// directionBytes returns the size of the graph without directions, and of the arcs against.
func directionBytes(p *problem.Problem) int64 {
	if !p.Directed {
		return 0
	}
	bytes, _ := p.ArcsBytes(0)
	return bytes
}

// attributeBlocks returns the largest number of blocks: only the values show
// whether few attributes are real numbers.
func attributeBlocks(p *problem.Problem) int {
	if p.Attributes.Cols <= fewAttributes {
		return 4
	}
	return 3
}

// mostViews and mostHops bound the views of attributes, and those of one block.
const (
	mostViews = int(firstHop) + 3
	mostHops  = mostViews - 1
)

// attributeBytes returns the size of the blocks while attributes are swept in slabs of columns,
// and while ridges are fitted.
func attributeBytes(p *problem.Problem, workers int) (sweeps, ridges int64) {
	n, d, k := p.Attributes.Rows, p.Attributes.Cols, len(p.Names)
	views := mostViews - 1 // without the last hop of few real numbers
	features := (views - 1) * d
	if d <= fewAttributes {
		views, features = mostViews, max(mostHops*d, unitFeatures(p.Nodes(), d))
	}
	shown := len(shownLabels(p, features, 0))
	retained := attributeTableBytes(n, d) + lensBytes(n, d) + int64(views)*chunks.Bytes[float32](shown, d)
	slabs := lensSlabBytes(n, max(slabColumns, k))
	if d <= fewAttributes {
		inputs, count := unitInputs(d), unitCount(p.Nodes())
		retained += chunks.Bytes[float32](n, inputs+count) + 4*int64(count)*int64(inputs+2*count)
		slabs = max(slabs, lensSlabBytes(n, d))
	}
	parts := 0
	if len(p.Row) <= min(nestedLabels, shown) {
		parts = split.FoldCount(len(p.Row))
	}
	sweeps = retained + slabs + int64(sched.Workers(workers))*4*int64(d)*(productGroup+1) + 8*int64(d+1)*slabColumns
	ridges = retained + chunks.Bytes[float32](shown, features) + 2*chunks.Bytes[float32](features, k) + ridge.Bytes(shown, features, k, parts)
	return sweeps, ridges
}

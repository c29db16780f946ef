package auto

import (
	"slices"

	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// design lists the features and the candidates of a problem. The sizes of the graph and the
// labels decide, never the memory limit, so that results do not depend on it.
type design struct {
	tooFewLabels bool // no model is learned from them: Poisson learning or label propagation predicts, with shares of the classes
	fewLabels    bool // the mixture is near ridges and Poisson learning
	manyClasses  bool

	filters  []filter // of walks
	shared   []filter // shares of these are shared columns
	free     []filter // shares of these are free columns
	folds    int
	examples int // largest number of labels that models learn from and are tested on

	diffusion   bool // scores of kernels are features
	spectral    bool // scores of eigenvectors are features
	links       bool // scores of link rows are features
	counts      bool // attributes count the classes of neighbours
	propagation bool // label propagation may be a candidate

	omitted []string // stages that are left out because of the size of the graph
}

const (
	// fewestLabels is the number of labels up to which no model is learned from them. Nodes with
	// attributes are an exception, since these help most where labels are few.
	fewestLabels = 15

	// mostFew is the number of labels up to which the mixture stays near ridges and Poisson learning, but where nodes have
	// attributes.
	mostFew = 40

	// Beyond mostScores nodes × classes there are walks of two filters and few steps in place of seven filters, no free
	// columns and two folds. On papers of 172 classes with 1.2 % of the labels this design loses 2.5 points with
	// 100,000 nodes and 0.3 with 200,000, and gains 0.1 with 300,000, in a quarter of the time.
	mostScores = 1 << 25
	leanFolds  = 2

	// classFolds are the folds of many labels of many classes, because walks have a column for each fold of each class.
	classFolds = 3
	// mostPairClasses is the largest number of classes with free columns, which have a weight for each pair of classes.
	mostPairClasses = 256

	leanSteps = 6 // of walks and of attributes: few steps reach most nodes of large graphs

	// mostLearned is the number of labels that models learn from and are tested on; of more it is a sample. The
	// standard error of an accuracy at 4,000 labels is 0.8 points or less.
	mostLearned = 4000

	// mostSparse is the mean degree, and mostUneven the largest degree in units of the mean one, up to which label
	// propagation is a candidate on a graph of more than blockModelNodes nodes: on roads and meshes. On wordnet-2024, which
	// has hubs, it had no weight.
	mostSparse = 8
	mostUneven = 8
)

// designOf returns the features and candidates of a problem.
func designOf(p *problem.Problem, set *settings) design {
	n := p.Nodes()
	m := len(p.Row)
	k := len(p.Names)
	d := design{
		tooFewLabels: m <= fewestLabels && p.Attributes == nil,
		fewLabels:    m > fewestLabels && m <= mostFew && p.Attributes == nil,
		manyClasses:  int64(n)*int64(k) > mostScores,
		folds:        FoldCount(m), examples: min(m, mostLearned),
		propagation: !set.LowEffort,
	}
	if hasManyLabels(p) && p.Attributes == nil && m > d.folds*k {
		d.folds = classFolds
	}
	if d.manyClasses {
		d.propagation = d.propagation && Propagates(p)
		d.reduce(m, k)
		return d
	}
	for f := range filter(undirectedFilters) {
		d.filters = append(d.filters, f)
	}
	d.shared, d.counts = sharedFilters, countsNeighbours(p)
	if k <= mostPairClasses {
		d.free = slices.Clip(freeFilters)
	}
	if m >= nearLabels {
		d.shared = slices.Concat(sharedFilters, nearFilters)
	}
	for f := alongArcs; p.Directed && len(d.free) > 0 && int(f) < filters; f++ {
		d.filters = append(d.filters, f)
		d.free = append(d.free, f)
	}
	d.diffusion = !set.LowEffort && m > fewestLabels &&
		d.fits("diffusion scores, common neighbours", kernelLabels(p, d.folds) > 0)
	d.spectral = !set.LowEffort && m > fewestLabels &&
		d.fits("eigenvectors", hasSpectral(p, d.folds))
	d.links = !set.LowEffort && m >= fewestLinkLabels && 4*k <= mostLinkLabels &&
		d.fits("link rows", linkLabels(p) >= max(fewestLinkLabels, 4*k))
	d.propagation = d.propagation && d.fits("label propagation", Propagates(p))
	if set.choice != nil {
		d.follow(set.choice)
	}
	return d
}

// FoldCount returns the number of folds of labels: one for each of at most 15 labels, ten up to 100 labels, else five. With ten folds of 270 to 400 labels
// five graphs had the same accuracy in twice the time.
func FoldCount(labels int) int {
	switch {
	case labels <= fewestLabels:
		return labels
	case labels <= 100:
		return 10
	}
	return 5
}

// Propagates reports whether label propagation may be a candidate: on graphs of at most 50,000 nodes, and on larger graphs
// with a mean degree of at most 8 and without hubs.
func Propagates(p *problem.Problem) bool {
	n := p.Nodes()
	if n <= blockModelNodes {
		return true
	}
	team := p.Team()
	largest := []float64{slices.Max(p.Degrees)}
	team.Max(largest)
	return sparse.EntriesOf(p.A) <= mostSparse*int64(n) &&
		largest[0]*float64(n) <= mostUneven*blocks.Total(team, p.Degrees)
}

// follow takes the stages of an earlier choice, perhaps on a smaller graph, in place of the stages that the sizes allow.
// Candidates that the choice does not use are not computed.
func (d *design) follow(c *Choice) {
	d.links = false
	for _, term := range c.Mixture {
		d.links = d.links || term.Links
	}
}

// fits notes a stage that the size of the graph leaves out. It returns whether it does not.
func (d *design) fits(stage string, fits bool) bool {
	if !fits {
		d.omitted = append(d.omitted, stage)
	}
	return fits
}

// reduce completes the design of m labels of k classes, which are many.
func (d *design) reduce(m, k int) {
	d.filters = []filter{decay85, source}
	d.shared = []filter{decay85}
	if m > leanFolds*k { // fewer labels have as many columns of walks in any number of folds
		d.folds = leanFolds
	}
}

// position returns the position of a filter in the list.
func (d *design) position(f filter) int {
	if d.manyClasses {
		return slices.Index(d.filters, f)
	}
	return int(f)
}

// sharedCount returns the number of shared columns of each class: Poisson learning, the shares
// of filters, and the prior.
func (d *design) sharedCount() int {
	return 1 + len(d.shared) + 1
}

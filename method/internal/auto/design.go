package auto

import (
	"slices"

	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// design lists the features and candidates of a problem. It does not depend on the memory limit, so that results do not.
type design struct {
	tooFewLabels bool // no model is learned
	fewLabels    bool // the mixture has only ridges and Poisson learning
	manyClasses  bool

	filters  []filter
	shared   []filter // filters of shared columns
	free     []filter // filters of free columns
	folds    int
	examples int // largest number of labels that models learn from and are tested on

	diffusion   bool
	spectral    bool
	links       bool
	counts      bool
	propagation bool
	beliefs     bool
	trees       bool

	omitted []string // stages left out because of the size of the graph
}

const (
	// With at most fewestLabels labels, and no attributes, no model is learned. Attributes help most if labels are few.
	fewestLabels = 15

	// With at most mostFew labels, and no attributes, the mixture consists of ridges and Poisson learning.
	mostFew = 40

	// Above mostScores nodes × classes the design is lean: two filters of few steps in place of seven, no free columns, two
	// folds. On papers of 172 classes it loses 2.5 points with 100,000 nodes and 0.3 with 200,000, and gains 0.1 with
	// 300,000, in a quarter of the time.
	mostScores = 1 << 25
	leanFolds  = 2

	// classFolds is small, because walks have a column for each fold of each class.
	classFolds = 3
	// mostPairClasses is the largest number of classes with free columns.
	mostPairClasses = 256

	leanSteps = 6 // few steps reach most nodes of large graphs

	// With mostLearned labels the standard error of an accuracy is at most 0.8 points. With mostHighLearned, debian gains 0.8
	// points with 12,000 labels, in three times the time.
	mostLearned     = 4000
	mostHighLearned = 20_000

	// On large graphs, label propagation is a candidate if the mean degree is at most mostSparse, and the largest degree at
	// most mostUneven times the mean: on roads and meshes. On wordnet-2024, which has hubs, it got no weight.
	mostSparse = 8
	mostUneven = 8
)

func designOf(p *problem.Problem, set *settings) design {
	n := p.Nodes()
	m := len(p.Row)
	k := len(p.Names)
	d := design{
		tooFewLabels: m <= fewestLabels && p.Attributes == nil,
		fewLabels:    m > fewestLabels && m <= mostFew && p.Attributes == nil,
		manyClasses:  int64(n)*int64(k) > mostScores,
		folds:        choose.MixtureFolds(m), examples: min(m, set.mostLearned()),
		propagation: set.Effort != engine.LowEffort,
	}
	if hasManyLabels(p) && p.Attributes == nil && m > d.folds*k {
		d.folds = classFolds
	}
	if d.manyClasses {
		d.propagation = d.propagation && Propagates(p)
		d.reduce(m, k)
	}
	d.folds = choose.TaskIn(p, d.folds, 0, 0).Folds() // there may be fewer groups
	if d.manyClasses {
		return d
	}
	for f := range filter(undirectedFilters) {
		d.filters = append(d.filters, f)
	}
	d.shared, d.counts = sharedFilters, p.Attributes != nil && len(p.Row) >= fewestCountLabels &&
		(p.Attributes.Cols+1)*len(p.Names) <= mostCountColumns
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
	d.beliefs = !d.tooFewLabels && believes(p, set)
	d.trees = boosts(p, set, d.folds)
	d.diffusion = set.Effort != engine.LowEffort && m > fewestLabels &&
		(m <= 2*mostKernelLabels || set.Effort == engine.HighEffort) && d.fits("diffusion scores, common neighbours", kernelLabels(p, set, d.folds) > 0)
	d.spectral = set.Effort != engine.LowEffort && m > fewestLabels &&
		d.fits("eigenvectors", hasSpectral(p, set, d.folds))
	d.links = set.Effort != engine.LowEffort && m >= fewestLinkLabels && 4*k <= set.mostLinkLabels() &&
		d.fits("link rows", linkLabels(p, set) >= max(fewestLinkLabels, 4*k))
	d.propagation = d.propagation && d.fits("label propagation", Propagates(p))
	if set.choice != nil {
		d.links = false
		for _, term := range set.choice.Mixture {
			d.links = d.links || term.Links
		}
	}
	return d
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

// fits records stage as omitted if fits is false, and returns fits.
func (d *design) fits(stage string, fits bool) bool {
	if !fits {
		d.omitted = append(d.omitted, stage)
	}
	return fits
}

func (d *design) reduce(m, k int) {
	d.filters = []filter{decay85, source}
	d.shared = []filter{decay85}
	if m > leanFolds*k { // otherwise the number of columns does not depend on the folds
		d.folds = leanFolds
	}
}

func (d *design) position(f filter) int {
	if d.manyClasses {
		return slices.Index(d.filters, f)
	}
	return int(f)
}

func (d *design) sharedCount() int {
	return 1 + len(d.shared) + 1
}

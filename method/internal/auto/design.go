package auto

import (
	"slices"

	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/validate"
)

// design lists the features and the candidates of a problem. The sizes of the graph and the
// labels decide, never the memory limit, so that results do not depend on it.
type design struct {
	tooFewLabels bool // nothing is learned from them: Poisson learning or label propagation predicts
	manyClasses  bool

	filters  []filter // of walks
	shared   []filter // shares of these are shared columns
	free     []filter // shares of these are free columns
	folds    int
	examples int // largest number of labels that models learn from and are tested on

	eigenvectors bool // may be features; the number of components decides
	diffusion    bool // scores of kernels are features
	propagation  bool // label propagation may be a candidate
}

const (
	// fewestLabels is the number of labels up to which no model is learned from them. Nodes with
	// attributes are an exception, since these help most where labels are few.
	fewestLabels = 15

	// Beyond mostClasses classes and mostScores nodes × classes there are walks of two filters in
	// place of ten, no free columns, three folds, and at most mostExamples × classes learned
	// labels × classes. 174,000 nodes with 1,000 classes thus take 12 bytes for each node and
	// class, 2.1 GB, in place of 52. No graph with more than 200 classes has been measured.
	mostClasses  = 200
	mostScores   = 1 << 25
	mostExamples = 1 << 22
	leanFolds    = 3
)

func designOf(p *problem.Problem, set *Settings) design {
	n, m, k := len(p.Degrees), len(p.Row), len(p.Names)
	d := design{
		tooFewLabels: m <= fewestLabels && p.Attributes == nil,
		manyClasses:  k > mostClasses && int64(n)*int64(k) > mostScores,
		folds:        validate.FoldCount(m), examples: m,
		propagation: !set.LowEffort,
	}
	if d.manyClasses {
		d.reduce(m, k)
		return d
	}
	for f := range filter(undirectedFilters) {
		d.filters = append(d.filters, f)
	}
	d.shared, d.free = sharedFilters, slices.Clip(freeFilters)
	for f := alongArcs; p.Directed && int(f) < filters; f++ {
		d.filters, d.free = append(d.filters, f), append(d.free, f)
	}
	d.eigenvectors = !set.LowEffort && !d.tooFewLabels && n >= leastSpectral && n <= mostSpectral
	sampled := kernelLabels(p)
	fewClasses := 4*k <= sampled // or two labels of each class are most of a sample
	d.diffusion = !set.LowEffort && m > fewestLabels && (m <= sampled || m <= mostSampled && fewClasses)
	return d
}

// reduce makes it the design of m labels of many classes.
func (d *design) reduce(m, k int) {
	d.manyClasses, d.eigenvectors, d.diffusion = true, false, false
	d.filters, d.shared, d.free = []filter{decay85, source}, []filter{decay85}, nil
	d.folds, d.examples = min(leanFolds, m), min(m, max(choiceLabels, mostExamples/k))
}

// graphColumns returns the largest number of free columns that no label has a part in.
func (d *design) graphColumns(directed bool) int {
	count := structureColumns
	if directed {
		count += arcColumns
	}
	if d.eigenvectors {
		count += spectralColumns
	}
	return count
}

// position returns that of a filter in the list.
func (d *design) position(f filter) int {
	if d.manyClasses {
		return slices.Index(d.filters, f)
	}
	return int(f)
}

// sharedCount returns the number of shared columns of each class: Poisson learning, the shares
// of filters, two of each kernel if there are any, and the prior.
func (d *design) sharedCount() int {
	count := 1 + len(d.shared) + 1
	if d.diffusion {
		count += 2 * kernels
	}
	return count
}

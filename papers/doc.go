// Package papers adds the kernels and learners of five papers to the core. A program that imports
// this package registers them:
//
//	import _ "github.com/heatwalk/heatwalk/papers"
//
//	perceptron       voted perceptrons                   Freund and Schapire, 1999, as in Gärtner et al., 2006
//	dkm, dkm-NAME    learners on deep kernels            Tang and Zhu, Deep kernel machines, 2010, section 3.3
//	rl               votes by similar walks              Desrosiers and Karypis, 2009, as in the CWK paper
//	gp-transduction  softmax likelihood, K⁻¹ = I + γL    Gärtner, Le and Smola, A short tour, 2006, section 1.4
//	vertex           walks over edges, arcs, hyperedges  Gärtner, Le and Smola, A short tour, 2006, section 1.2.4
//
// If several processes share the rows of a graph, all these kernels and learners work, except
// gp-transduction with assign=shares.
//
// Papers, sections and packages:
//
//	Kondor and Lafferty, Diffusion kernels on graphs and other discrete input spaces, 2002
//	    section 4      trees, chains, cubes, strings, records of attributes     papers/ongram
//	    section 2.2    tensor products of kernels, gram classify --product      papers/ongram
//	    section 5      voted perceptrons; the experiments on UCI data           papers, papers/experiments
//	Gärtner, Le and Smola, A short tour of kernel methods for graphs, 2006
//	    section 1.2.3  kernels between graphs: walks, patterns, sets of parts   papers/graphs
//	    section 1.2.4  kernel on the vertices of directed graphs, hypergraphs   papers
//	    section 1.4    balanced transduction with Gaussian processes            papers
//	Neumann, Garnett and Kersting, Coinciding walk kernels, 2013
//	    section 5      relaxation labelling, to compare with                    papers
//	Tang and Zhu, Classifying network data with deep kernel machines, 2010
//	    section 3.3    deep kernels, dkm                                        papers
//	Zhang and Mao, A new kernel for classification of networked entities, 2008
//	    experiments    scripts on WebKB and Cora                                papers/experiments
//
// Package papers/ongram has the commands graphs, records and gram. It is imported separately,
// because it needs the methods of the core.
package papers

import (
	"math"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/propagate"
)

var deepBases = []string{"svm", "rls", "gp", "logistic", "perceptron", "centroid", "density"}

func init() {
	classify.Register(&perceptron)
	for _, name := range deepBases {
		classify.Register(deepLearner(classify.Learners().Named(name)))
	}
	propagate.Register(&relaxationLabelling)
	propagate.Register(&gpTransduction)
	kernel.Register(&vertices)
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

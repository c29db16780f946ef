// Package papers adds the kernels and learners of five papers to those of the core, which is read without them. The
// packages below register themselves, as those of any other module may, when a program imports this one:
//
//	import _ "github.com/heatwalk/heatwalk/papers"
//
// Papers, sections and packages:
//
//	Kondor and Lafferty, Diffusion kernels on graphs and other discrete input spaces, 2002
//	    section 4      trees, chains, cubes, strings, records of attributes     papers/closed
//	    section 2.2    tensor products of kernels, gram classify --product      papers/ongram
//	    section 5      voted perceptrons; the experiments on UCI data           papers/learners, papers/experiments
//	Gärtner, Le and Smola, A short tour of kernel methods for graphs, 2006
//	    section 1.2.3  kernels between graphs: walks, patterns, sets of parts   papers/graphs
//	    section 1.2.4  kernel on the vertices of directed graphs, hypergraphs   papers/vertex
//	    section 1.4    balanced transduction with Gaussian processes            papers/learners
//	Neumann, Garnett and Kersting, Coinciding walk kernels, 2013
//	    section 5      relaxation labelling, to compare with                    papers/learners
//	Tang and Zhu, Classifying network data with deep kernel machines, 2010
//	    section 3.3    deep kernels, dkm                                        papers/learners
//	Zhang and Mao, A new kernel for classification of networked entities, 2008
//	    experiments    scripts on WebKB and Cora                                papers/experiments
//
// Package papers/ongram has the commands graphs, records and gram, and is imported by itself, because it needs the methods of
// the core. Folder papers/experiments has scripts that repeat the experiments of the papers.
package papers

import (
	_ "github.com/heatwalk/heatwalk/papers/learners"
	_ "github.com/heatwalk/heatwalk/papers/vertex"
)

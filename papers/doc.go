// Package papers is the folder of what five papers have beyond the core: the core is read, built and tested
// without it. Importing a package adds its kernels and learners to those of the core, by the registries that
// any other module may use.
//
//	Kondor and Lafferty, Diffusion kernels on graphs and other discrete input spaces, 2002
//	    sections 4.2 to 4.5, 5  trees, chains, cubes, records of attributes, strings    papers/closed
//	    section 5               experiments on UCI data                                 papers/experiments/uci
//	Gärtner, Le and Smola, A short tour of kernel methods for graphs, 2006
//	    section 1.2             kernels between graphs: walks, patterns, sets of parts  papers/graphs
//	Neumann, Garnett, Bauckhage and Kersting, Propagation kernels, 2016
//	    section 3               propagated labels between graphs                        papers/graphs
//
// Package papers/ongram learns from kernel values between records, graphs or other items. Folder
// papers/experiments has scripts that repeat the experiments of the papers.
package papers

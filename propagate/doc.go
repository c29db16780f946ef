// Package propagate holds learners that spread labels along the edges of a graph.
//
// From labelled nodes a [Learner] computes a score of every class for every node. [Learners] lists them:
//
//	lgc      F = (I − αS)⁻¹·Y            Zhou et al., Learning with local and global consistency, 2004
//	poisson  L·F = Y − ȳ in each component  Calder et al., Poisson learning, 2020
//	wvrn     P ← βTP + (1 − β)P          Macskassy and Provost, Classification in networked data, 2007
//
// Package papers registers two more, rl and gp-transduction.
//
// For lgc and poisson, several groups of labelled nodes, such as the folds of a cross-validation, are columns of the same
// block and share its sweeps. Scores have the same bits for any number of workers and any memory limit.
//
// If several processes share the rows of the graph, each process computes the scores of its rows. Labelled nodes must be named
// rows.
package propagate

// Package generate makes synthetic graphs as text: an edge list with one line
// u<TAB>v for each edge, nodes being the numbers from 0, and for block models
// a file of labels.
//
//	err := generate.SBM{RNGSeed: 1}.EdgesTo(ctx, edges)
//	err = generate.SBM{RNGSeed: 1}.LabelsTo(ctx, labels, 0.05)
//
// [SBM] is a block model with classes, with or without homophily; [RMAT] the
// graph of the Graph500 benchmark; [ErdosRenyi] and [Grid] are what they are
// called. The settings and the rng seed decide every byte, on any machine and
// for any number of workers.
package generate

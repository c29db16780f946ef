// Package generate writes synthetic graphs as text: an edge list with one line u<TAB>v for each edge, where
// nodes are the numbers from 0, and for block models a file of labels.
//
//	g, err := generate.New("sbm", param.Values{"nodes": param.Of(1000)}, 1, 0)
//	err = g.EdgesTo(ctx, edges)
//	err = g.LabelsTo(ctx, labels, 0.05)
//
// [Models] lists the models. The output depends on the values and the seed only, not on the machine or the
// number of workers.
package generate

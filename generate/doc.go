// Package generate makes synthetic graphs as text: an edge list with one line
// u<TAB>v for each edge, nodes being the numbers from 0, and for block models
// a file of labels.
//
//	g, err := generate.New("sbm", spec.Values{"nodes": spec.Of(1000)}, 1, 0)
//	err = g.EdgesTo(ctx, edges)
//	err = g.LabelsTo(ctx, labels, 0.05)
//
// [Models] lists the models: a block model with classes, with or without homophily;
// the graph of the Graph500 benchmark; uniform graphs; lattices; and collections of
// small graphs. The values and the rng seed decide every byte, on any machine and
// for any number of workers.
package generate

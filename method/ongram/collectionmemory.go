package ongram

import (
	"context"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/kernel/graphs"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
)

// CollectionBytes is the memory of methods of every kernel with every learner on a collection
// of the given shape whose graphs have classes, with the given parameters of both: the values
// between all graphs, n² numbers for each setting of a kernel, and the largest of the blocks
// that these are computed from and of a fit. c, if not nil, is the collection itself.
func CollectionBytes(ctx context.Context, s *graphfile.Shape, c *graphfile.Collection, kernels []*graphs.Kernel, learners []*classify.Learner, values param.Values, classes, workers int) (bytes int64, err error) {
	var largest int64
	for _, k := range kernels {
		settings, err := split.Settings(&k.Spec, k.Own(values), nil)
		if err != nil {
			return 0, err
		}
		n := int64(s.Graphs)
		bytes += 8 * n * n * int64(len(settings))
		for _, v := range settings {
			need, err := k.Bytes(ctx, s, c, v, workers)
			if err != nil {
				return 0, err
			}
			largest = max(largest, need)
		}
	}
	for _, l := range learners {
		largest = max(largest, learnerBytes(l, s.Graphs, classes))
	}
	return bytes + largest + (graphBytes+4*int64(classes))*int64(s.Graphs), nil
}

// graphBytes is the memory of a graph in addition to its probabilities: its class, its place in
// training and test sets, its predicted class and its place in a ranking.
const graphBytes = 112

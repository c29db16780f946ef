package ongram

import (
	"context"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/graphfile"
	"github.com/heatwalk/heatwalk/kernel/graphs"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// CollectionMemory lists what methods of every kernel with every learner hold beside a collection of
// a shape, of whose graphs there are so many classes, with the given parameters of both: the
// values between all graphs, n² numbers for each setting of a kernel that is tried; and
// what these are computed from, or what a learner takes, one at a time. c, if not nil, is
// the collection itself, of which more can be told.
func CollectionMemory(ctx context.Context, s *graphfile.Shape, c *graphfile.Collection, kernels []*graphs.Kernel, learners []*classify.Learner, given spec.Values, classes, workers int) (list []spec.Bytes, err error) {
	var most []spec.Bytes
	for _, k := range kernels {
		settings, err := validate.Settings(&k.Spec, k.Own(given), nil)
		if err != nil {
			return nil, err
		}
		n := int64(s.Graphs)
		list = append(list, spec.Bytes{What: "values of " + k.Name, Bytes: 8 * n * n * int64(len(settings))})
		for _, v := range settings {
			own, err := k.Memory(ctx, s, c, v, workers)
			if err != nil {
				return nil, err
			}
			most = spec.Larger(most, own)
		}
	}
	for _, l := range learners {
		if l.Memory != nil {
			most = spec.Larger(most, []spec.Bytes{{What: l.Name, Bytes: l.Memory(s.Graphs, classes)}})
		}
	}
	return append(append(list, most...), spec.Bytes{What: "labels, splits and learner", Bytes: (graphBytes + 4*int64(classes)) * int64(s.Graphs)}), nil
}

// graphBytes is what a graph takes beside its probabilities: its class, its place in training
// and test sets, what is predicted of it and its place in a ranking.
const graphBytes = 112

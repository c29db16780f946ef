package heatwalk

import (
	"errors"

	"github.com/RoaringBitmap/roaring/v2"
	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/sparse"
)

// ErrFollower is the error of a job with [Options.Network] in all processes but process 0, which has the
// result.
var ErrFollower = errors.New("heatwalk: process 0 has the result")

// Gather returns the block of all nodes of the graph in process 0, nil in others, from those of the jobs of all processes. Every
// process calls it.
func (j *Job) Gather(b *sparse.Block[float64]) *sparse.Block[float64] {
	return gather(j, b)
}

// gather is [Job.Gather] of any precision, nil of nil.
func gather[T sparse.Float](j *Job, b *sparse.Block[T]) *sparse.Block[T] {
	if j.division == nil || b == nil {
		return b
	}
	return sparse.Gather(j.division, b)
}

// allDegrees returns the degrees of all nodes of the graph. Those of the store may differ from them by rounding.
func (j *Job) allDegrees() []float64 {
	if j.division == nil {
		return j.Degrees
	}
	full := sparse.GatherAll(j.division,
		sparse.BlockOf(len(j.Degrees), 1, j.Degrees))
	return mat.Col(nil, 0, full)
}

// result returns ErrFollower in all processes but process 0.
func (j *Job) result() error {
	if j.division != nil && j.division.Team.Rank() > 0 {
		return ErrFollower
	}
	return nil
}

// gatherPrediction completes a prediction of the local rows to one of all nodes, in process 0.
func gatherPrediction(j *Job, out *method.Prediction) error {
	if j.division == nil {
		return nil
	}
	out.Scores = gather(j, out.Scores)
	out.Raw = gather(j, out.Raw)
	class := make([]float64, len(out.Class))
	for i, c := range out.Class {
		class[i] = float64(c)
	}
	class, out.Reached = gatherReached(j, class, out.Reached)
	out.Class = make([]int, len(class))
	for i, c := range class {
		out.Class[i] = int(c)
	}
	return j.result()
}

// gatherReached returns the values of all nodes and the set of reached ones in process 0, nil in others, from
// those of the local rows.
func gatherReached(j *Job, values []float64,
	reached *roaring.Bitmap) ([]float64, *roaring.Bitmap) {
	if j.division == nil {
		return values, reached
	}
	nodes := sparse.NewBlock[float64](len(values), 2)
	for i, v := range values {
		nodes.Row(i)[0] = v
		if reached.Contains(uint32(i)) {
			nodes.Row(i)[1] = 1
		}
	}
	nodes = gather(j, nodes)
	if nodes == nil {
		return nil, nil
	}
	values = make([]float64, nodes.Rows)
	reached = roaring.New()
	for i := range values {
		values[i] = nodes.Row(i)[0]
		if nodes.Row(i)[1] == 1 {
			reached.Add(uint32(i))
		}
	}
	reached.RunOptimize()
	return values, reached
}

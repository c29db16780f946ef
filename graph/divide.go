package graph

import (
	"context"

	"github.com/heatwalk/heatwalk/sparse"
)

// Divide returns the part of g that a process has in a division of its rows: vectors have an element for
// each row of the process's blocks, and components keep their numbers and sizes. Node ids are omitted.
// Every process calls it. Cost: that of [sparse.Divide], and a vector of g for each vector of the result.
func Divide(ctx context.Context, g *Graph, d *sparse.Division) (*Graph, error) {
	a, err := sparse.Divide(ctx, g.A, d, g.Workers)
	if err != nil {
		return nil, err
	}
	part := &Graph{
		A: a, Hyperedges: g.Hyperedges, Workers: g.Workers, Memory: g.Memory,
		Degrees: partOf(d, g.Degrees), Loops: partOf(d, g.Loops), looplessDegrees: partOf(d, g.looplessDegrees),
	}
	part.leaveLoopsOut()
	if g.In != nil {
		if part.In, err = sparse.Divide(ctx, g.In, d, g.Workers); err != nil {
			return nil, err
		}
	}
	if g.Components != nil {
		part.Components = &sparse.Components{Of: partOf(d, g.Components.Of), Sizes: g.Components.Sizes}
	}
	return part, nil
}

// partOf returns the elements of v for the rows of a process, with zeros for padding, or nil for nil.
func partOf[T any](d *sparse.Division, v []T) []T {
	if v == nil {
		return nil
	}
	part := make([]T, len(d.Rows))
	for i, row := range d.Rows {
		if !d.IsPadding(i) {
			part[i] = v[row]
		}
	}
	return part
}

package auto

import (
	"context"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// arcs holds the edges of a directed graph. Most features ignore directions, because an edge says something about both of
// its ends; a few features come from steps along and against arcs.
type arcs struct {
	step    [2]*sparse.Operator[float32] // T of A and of Aᵀ
	degrees [2][]float64                 // sums of the rows of A and of Aᵀ
	unit    float64
}

// leaveDirections sets in.p to the problem without directions and in.arcs to the arcs.
func leaveDirections(ctx context.Context, in *input) error {
	p := in.p
	q, against, err := p.WithoutDirections(ctx, in.set.Workers, in.work)
	if err != nil {
		return err
	}
	incoming, err := sparse.Degrees(ctx, against, in.set.Workers)
	if err != nil {
		return err
	}
	in.p, in.arcs = q, &arcs{degrees: [2][]float64{p.Degrees, incoming},
		unit: blocks.WeightUnit(p.A, p.Degrees)}
	for i, m := range []sparse.Matrix{p.A, against} {
		if err := blocks.CheckScale[float32](in.p.Team(), in.arcs.degrees[i]); err != nil {
			return err
		}
		in.arcs.step[i] = sparse.NewOperator[float32](sparse.Transition, m,
			in.arcs.degrees[i])
		in.arcs.step[i].Workers = in.set.Workers
	}
	return nil
}

func (in *input) release() {
	if both, divided := in.p.A.(*sparse.Divided); divided && in.arcs != nil {
		both.Close()
	}
}

const arcColumns = 4

package method

import (
	"context"

	"github.com/heatwalk/heatwalk/param"
)

// Regression declares how an engine predicts numbers, from [problem.Problem.Value].
type Regression struct {
	param.Spec

	// Attributes reports that it uses the attributes of nodes.
	Attributes bool

	// Ridge reports that larger values of the last parameter are simpler.
	Ridge bool

	// OnKernel reports that it learns from the values of a kernel, as in diffusion+rls.
	OnKernel bool

	// Predict predicts the value of every node from the values of p, with each of some settings,
	// which are complete values of the parameters. If several processes share the nodes, it predicts
	// those of the process.
	Predict func(ctx context.Context, p *Problem, settings []param.Values, s *Settings) ([][]float64, error)

	// Bytes returns the memory of Predict; nil: none but the values. The error refuses the problem.
	Bytes func(p *Problem, settings []param.Values, s *Settings) (int64, error)

	// HeldOut returns the errors of predictions from the other folds by setting and value; nil:
	// Predict is used.
	HeldOut func(ctx context.Context, p *Problem, fold []int, settings []param.Values, s *Settings) ([][]float64, error)
}

// Engine returns an engine of numbers.
func (r *Regression) Engine() *Engine {
	return &Engine{Name: r.Spec.Name, Takes: r.Spec.Takes(), Specs: []*param.Spec{&r.Spec}, Numbers: r}
}

package method

import (
	"context"

	"github.com/heatwalk/heatwalk/method/internal/propagation"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// Reference is what a prediction is better than, or not: estimates of label propagation
// and of the largest class, on the same folds.
type Reference struct {
	Propagation, Majority problem.Estimate
	PropagationBlank      problem.Estimate // with no class for nodes that no label reaches
}

// Estimates returns those of a prediction by m and of label propagation, with no class for
// nodes that no label reaches if blank. Where m is label propagation or the largest class,
// its own is that of the reference.
func (p *Prediction) Estimates(m Method, r *Reference, blank bool) (own, lp problem.Estimate) {
	own, lp = p.Estimate, r.Propagation
	if blank {
		own, lp = p.Blank, r.PropagationBlank
	}
	switch m {
	case labelPropagation{}:
		own = lp
	case Majority:
		own = r.Majority
	}
	return own, lp
}

// Refer measures label propagation and the largest class on the folds that a method
// measures itself on. Both are zero with too few labels, see [CrossValidate]. Cost: as many
// sweeps as walks have steps, for each slab of the columns that fit the memory of the
// settings.
func Refer(ctx context.Context, m Method, p *Problem, s *Settings) (*Reference, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	set := s.WithDefaults()
	if validate.TooFew(p.Class) {
		return new(Reference), nil
	}
	folds := set.folds(len(p.Row))
	if m == (automatic{}) {
		folds = validate.FoldCount(len(p.Row))
	}
	l := &propagation.Propagation{P: p, Prior: set.Prior, Alpha: 1, Memory: set.Memory, Workers: set.Workers}
	c, err := l.Compare(ctx, validate.Folds(p.Class, folds, set.RNGSeed, 0), folds)
	return (*Reference)(c), err
}

// PhasesMemory lists what [Refer], then Predict of a method, which makes so many sweeps at
// the most, and then a prediction with the labels to write and the components of the graph
// hold beside the problem. Errors are those of [Memory].
func PhasesMemory(m Method, p *Problem, s *Settings) (phases [][]spec.Bytes, sweeps int, err error) {
	list, sweeps, err := Memory(m, p, nil, s)
	compared := spec.Bytes{What: "label propagation to compare with", Bytes: propagation.ComparedBytes(p, s.Memory), Optional: true}
	scores, class, reached := 4*len(p.Names), 2*8, 1+8
	kept := spec.Bytes{What: "predictions", Bytes: int64(len(p.Degrees)) * int64(scores+class+reached)}
	return [][]spec.Bytes{{compared}, list, {kept}}, sweeps, err
}

package items

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/kernels"
	"github.com/heatwalk/heatwalk/param"
)

// Source is a kernel between the items of a [Collection] with a learner.
type Source = kernels.GramSource

// Classified is the result of a classification.
type Classified = kernels.Classified

// Source returns a kernel between the items with a learner.
func (c *Collection) Source(kernel *param.Spec, l *classify.Learner) *Source {
	s := &Source{Spec: param.Spec{
		Name: kernel.Name + "+" + l.Name, Title: l.Title + ", on " + kernel.Title,
		Works: kernel.Works, Params: slices.Concat(kernel.Params, l.Params),
	}, Kernel: kernel, Learner: l, Items: c.IDs.N}
	if c.Units != nil {
		s.Units = c.Units(kernel)
	}
	s.Gram = func(ctx context.Context, v param.Values, labelled []int) (classify.Gram, param.Values, error) {
		return c.Gram(ctx, kernel, v, labelled)
	}
	return s
}

package regress

import (
	"context"

	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/sparse"
)

// Names of the predictions of [Each] that no method makes.
const (
	MeanName       = "mean"               // of the known values
	NeighboursName = "mean of neighbours" // of the known ones among them, or else that of all
)

// Each predicts the value of every node by the two means and then by each of the methods, with the parameters
// that cross-validation of the known values chooses. It calls visit with each prediction, by row. Known values
// are predicted too. Errors and cost are those of [Run], but that every method predicts.
func Each(ctx context.Context, p *Problem, methods []*Method, s *Settings, visit func(name string, v Parameters, predicted []float64)) error {
	r, err := newRun(p, s)
	if err != nil {
		return err
	}
	predicted := make([]float64, len(r.Degrees))
	mean := meanOf(r.Value)
	for i := range predicted {
		predicted[i] = mean
	}
	visit(MeanName, Parameters{}, predicted)
	full := &hopSet{hiddenFolds: [2]int{-1, -1}}
	err = r.walkMeans(ctx, make([]int, len(r.Row)), []*hopSet{full}, func(hop int, b *sparse.Block[float64]) {
		for i := range predicted {
			if hop == 0 {
				predicted[i] = mean + ratio(b.Row(i))
			}
		}
	})
	if err != nil {
		return err
	}
	visit(NeighboursName, Parameters{}, predicted)
	var c *comparison // once a method has parameters to choose
	for _, m := range methods {
		_, _, settings, err := m.settings(kernel.On(ctx, r.Graph))
		if err != nil {
			return err
		}
		v := settings[0]
		if len(settings) > 1 {
			if c == nil {
				if c, err = r.compared(ctx); err != nil {
					return err
				}
			}
			e, err := m.Model.compare(ctx, c, m)
			if err != nil {
				return err
			}
			v = e.settings[e.best(-1)]
		}
		values, _, err := m.Model.predict(ctx, r, m, v)
		if err != nil {
			return err
		}
		visit(m.Name(), v, values)
	}
	return nil
}

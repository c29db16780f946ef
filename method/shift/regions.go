package shift

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/problem"
)

// measureLow predicts the labels of one half of the graph from those of the other half.
func (r *Report) measureLow(ctx context.Context, m method.Method, p *method.Problem, out *method.Prediction, share []float64, accuracy problem.Estimate, s *method.Settings) error {
	hidden, visible, err := halves(ctx, p, s.Workers, &out.Work)
	if err != nil {
		return err
	}
	half := &method.Prediction{Reached: out.Reached}
	training := p.At(visible)
	if err := training.Validate(); err == nil {
		if half, err = r.predictHalf(ctx, m, training, out, s); half == nil {
			return err
		}
	} else if !errors.Is(err, problem.ErrOneClass) {
		return err
	}
	tested, right := make([]float64, len(p.Names)), make([]float64, len(p.Names))
	for _, i := range hidden {
		row, class, predicted := p.Row[i], p.Class[i], training.Class[0] // of all labels that are not hidden, if it is the only one
		if half.Class != nil {
			predicted = half.Class[row]
		}
		if half.Reached.Contains(uint32(row)) {
			tested[class]++
			if predicted == class {
				right[class]++
			}
		}
	}
	sum, total := 0.0, 0.0
	for c, n := range tested {
		if n > 0 {
			sum += share[c] * right[c] / n
			total += share[c]
		}
	}
	if r.Low = accuracy.Accuracy; total > 0 {
		r.Low = min(r.Low, sum/total)
	}
	return nil
}

// predictHalf predicts from some of the labels with the parameters of out. It returns nil if both
// predictions exceed the memory limit.
func (r *Report) predictHalf(ctx context.Context, m method.Method, training *method.Problem, out *method.Prediction, s *method.Settings) (*method.Prediction, error) {
	set, retained := *s, int64(len(training.Degrees))*int64(4*len(training.Names)+8) // scores and classes of out
	set.Progress = nil
	if s.Memory > 0 {
		need, err := method.Bytes(m, training, nil, s)
		if err != nil || need > s.Memory-retained {
			r.Omitted = need + retained
			return nil, nil
		}
		set.Memory -= retained
	}
	var par *method.Parameters
	if out.Settings > 0 {
		par = &out.Parameters
	}
	half, err := m.Predict(ctx, training, par, &set)
	if err != nil {
		return nil, err
	}
	out.Work.Add(half.Work)
	return half, method.Reweigh(ctx, training, half, s.Workers)
}

// halves divides the labels into those nearer to one end of the graph and those nearer to the other
// end. The ends are the label with the most hops to the first label, and the one with the most hops to
// that. Both halves have the same size; positions are increasing.
func halves(ctx context.Context, p *method.Problem, workers int, work *problem.Work) (hidden, visible []int, err error) {
	hops := func(end int) ([]int, error) {
		f, err := nearestLabels(ctx, p.At([]int{end}), workers, work)
		list := make([]int, len(p.Row))
		for i, row := range p.Row {
			if err == nil && f.at(0, row) != unreached {
				list[i] = f.at(0, row).hops()
			}
		}
		return list, err
	}
	farthest := func(list []int) int { return slices.Index(list, slices.Max(list)) }
	firstHops, err := hops(0)
	if err != nil {
		return nil, nil, err
	}
	one := farthest(firstHops)
	if firstHops, err = hops(one); err != nil {
		return nil, nil, err
	}
	secondHops, err := hops(farthest(firstHops))
	if err != nil {
		return nil, nil, err
	}
	order := make([]int, len(p.Row))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(firstHops[i]-secondHops[i], firstHops[j]-secondHops[j]) })
	visible, hidden = order[:(len(order)+1)/2], order[(len(order)+1)/2:]
	slices.Sort(visible)
	slices.Sort(hidden)
	return hidden, visible, nil
}

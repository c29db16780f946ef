package evaluate

import (
	"slices"

	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/param"
)

// Surface has the accuracies of compared settings over two of their parameters, or over one. Where
// settings differ in other parameters, the accuracy is the highest one.
type Surface struct {
	Method   string       `json:"method"` // the kernel or learner whose parameters they are, of X
	X        string       `json:"x"`      // names of parameters
	Y        string       `json:"y,omitempty"`
	XValues  []float64    `json:"x_values"` // in increasing order
	YValues  []float64    `json:"y_values,omitempty"`
	Accuracy [][]*float64 `json:"accuracy"` // by Y, then by X; null where nothing was compared
	XChosen  float64      `json:"x_chosen"` // the values that were chosen
	YChosen  float64      `json:"y_chosen,omitempty"`
}

// axis is a numeric parameter with the value of each trial.
type axis struct {
	kind   string
	chosen float64
	param  *param.Param
	number []float64
	values []float64 // distinct, in increasing order
}

// newSurface returns the accuracies of trials over the first two numeric parameters with several
// values, those of the walk or kernel before those of the learner; nil if there is no such parameter.
func newSurface(trials []method.Trial, chosen *method.Parameters) *Surface {
	if len(trials) == 0 {
		return nil
	}
	var axes []axis
	for i, set := range trials[0].Chosen() {
		for j := range set.Spec.Params {
			if a, ok := axisOf(trials, i, &set.Spec.Params[j]); ok && len(axes) < 2 {
				a.kind, a.chosen = set.Spec.Name, chosen.Chosen()[i].Values.Number(a.param.Name)
				axes = append(axes, a)
			}
		}
	}
	if len(axes) == 0 {
		return nil
	}
	x := axes[0]
	s := &Surface{Method: x.kind, X: x.param.Name, XValues: x.values, XChosen: x.chosen}
	y := axis{number: make([]float64, len(trials)), values: []float64{0}}
	if len(axes) > 1 {
		y = axes[1]
		s.Y, s.YValues, s.YChosen = y.param.Name, y.values, y.chosen
	}
	for range y.values {
		s.Accuracy = append(s.Accuracy, make([]*float64, len(x.values)))
	}
	for i, t := range trials {
		row, _ := slices.BinarySearch(y.values, y.number[i])
		column, _ := slices.BinarySearch(x.values, x.number[i])
		if cell := &s.Accuracy[row][column]; *cell == nil || **cell < t.Accuracy {
			*cell = &trials[i].Accuracy
		}
	}
	return s
}

// axisOf returns the values of a parameter of the given number of the chosen settings; ok reports that it is a
// number, and that trials differ in it.
func axisOf(trials []method.Trial, setting int, p *param.Param) (a axis, ok bool) {
	if p.Kind != param.Real && p.Kind != param.Whole {
		return a, false
	}
	a.param = p
	for i := range trials {
		chosen := trials[i].Chosen()
		if setting >= len(chosen) || !chosen[setting].Values.Has(p.Name) {
			return a, false
		}
		a.number = append(a.number, chosen[setting].Values.Number(p.Name))
	}
	a.values = slices.Compact(slices.Sorted(slices.Values(a.number)))
	return a, len(a.values) > 1
}

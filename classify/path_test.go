package classify

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/param"
)

func TestPaths(t *testing.T) {
	const multiple = 3
	p := clouds(4, 60, 5, 3, 2)
	k := p.gram()
	times(k.Data, 0.2)
	larger := p.gram()
	times(larger.Data, 0.2*multiple)
	paths := 0
	for _, l := range Learners() {
		if l.Path == nil {
			continue
		}
		along := l.Path.Param(l.Path.Parameter)
		if along == nil || len(along.Grid) < 2 || l.Param(l.Path.Parameter) == nil {
			t.Errorf("%s: its path is along %q, %+v", l.Name, l.Path.Parameter, along)
			continue
		}
		if l.Path.Fit == nil {
			continue
		}
		paths++
		var settings, weighed []param.Values
		for _, x := range []float64{0.05, 0.7} {
			v, err := l.Path.Resolve(nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if v[l.Path.Parameter] = param.Of(x); v.Has("svm-tolerance") {
				v["svm-tolerance"] = param.Of(1e-9)
			}
			settings = append(settings, v)
			w := maps.Clone(v)
			if w[l.Path.Parameter] = param.Of(x / multiple); l.Path.Ridge {
				w[l.Path.Parameter] = param.Of(x * multiple)
			}
			weighed = append(weighed, w)
		}
		models, err := l.Path.Fit()(t.Context(), k, p.y, p.classes, settings)
		if err != nil {
			t.Fatalf("%s: %v", l.Name, err)
		}
		scaled, err := l.Path.Fit()(t.Context(), larger, p.y, p.classes, weighed)
		if err != nil {
			t.Fatalf("%s: %v", l.Name, err)
		}
		for s, v := range settings {
			alone, err := l.Fit(t.Context(), k, p.y, p.classes, v)
			if err != nil {
				t.Fatalf("%s: %v", l.Name, err)
			}
			for i := range k.Rows {
				want := alone.ScoresTo(nil, k.row(i), 0)
				got, other := models[s].ScoresTo(nil, k.row(i), 0), scaled[s].ScoresTo(nil, larger.row(i), 0)
				for c := range want {
					what, tolerance := fmt.Sprintf("%s, %v: item %d", l.Name, v[l.Path.Parameter], i), 1e-6*(1+math.Abs(want[c]))
					within(t, what, got[c], want[c], tolerance)
					within(t, what+" on a multiple", other[c], want[c], tolerance)
				}
			}
		}
	}
	if paths == 0 {
		t.Error("no learner has a path on kernels")
	}
}

func TestComparedMachinesEnd(t *testing.T) {
	p := clouds(4, 200, 3, 2, 1)
	for i := range p.y {
		p.y[i] = i % 2 // classes at random
	}
	v, err := svmPath.Resolve(param.Values{"cost": param.Of(1e6), "svm-tolerance": param.Of(1e-12)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	models, err := svmPath.Fit()(t.Context(), p.gram(), p.y, p.classes, []param.Values{v})
	if !errors.Is(err, ErrIterationLimit) || len(models) != 1 || models[0].Machines[0].Iterations > comparedIterations {
		t.Errorf("%d models, %v", len(models), err)
	}
}

func times(list []float64, f float64) {
	for i := range list {
		list[i] *= f
	}
}

package method_test

import (
	"errors"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/spec"
)

// outside is a method of another package with a memory estimate of its own.
type outside struct{ method.Method }

func (outside) Extend() method.Extension {
	return method.Extension{
		Memory: func(_, tuned *method.Problem, s *method.Settings) ([]spec.Bytes, int, error) {
			if s != nil && s.Memory > 0 && s.Memory < 1e9 {
				return nil, 0, errors.New("too little")
			}
			if tuned != nil {
				return []spec.Bytes{{What: "its choice", Bytes: 3e9}}, 0, nil
			}
			return []spec.Bytes{{What: "its own", Bytes: 1e9}, {What: "or more", Bytes: 1e9, Optional: true}}, 7, nil
		},
	}
}

func TestOutsideMethod(t *testing.T) {
	g := testgraph.Planted(t, 5, 60, 50)
	p := &method.Problem{Graph: &graph.Graph{A: g.A, Degrees: g.Degrees}, Row: g.Row, Class: g.Class, Names: g.Names}
	for m, tells := range map[method.Method]bool{outside{method.Majority}: true, method.Majority: false} {
		e := method.ExtensionOf(m)
		list, sweeps, err := method.Memory(m, p, nil, nil)
		if err != nil || (spec.Sum(list) == 2e9 && spec.Least(list) == 1e9 && sweeps == 7) != tells || len(list) == 0 {
			t.Errorf("%v, %d sweeps, %v", list, sweeps, err)
		}
		if list, _, err = method.Memory(m, p, p, nil); err != nil || (spec.Sum(list) == 3e9) != tells || !tells && list != nil {
			t.Errorf("to tune %v, %v", list, err)
		}
		if _, _, err = method.Memory(m, p, nil, &method.Settings{Memory: 1e8}); (err != nil) != tells {
			t.Errorf("within 100 MB: %v", err)
		}
		list, _, err = method.Memory(method.Smoothed(m), p, nil, nil)
		if err != nil || (spec.Sum(list) >= 2e9 && spec.Least(list) >= 1e9) != tells {
			t.Errorf("with what spreads around it %v, %v", list, err)
		}
		if e.Kernel != nil {
			t.Errorf("kernel %s", e.Kernel.Name)
		}
	}
}

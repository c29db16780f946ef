package method_test

import (
	"errors"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// sized returns an engine of another package with an estimate of its own.
func sized() *method.Engine {
	e := *method.Majority
	e.Cost = func(_, tuned *method.Problem, s *method.Settings) (method.Cost, error) {
		if s.Raw {
			return method.Cost{}, errors.New("no raw scores")
		}
		if tuned != nil {
			return method.Cost{Bytes: 3e9}, nil
		}
		return method.Cost{Bytes: 1e9}, nil
	}
	return &e
}

func TestBytesOfOutsideMethod(t *testing.T) {
	g := testgraph.Planted(t, 5, 60, 50)
	p := &method.Problem{Graph: &graph.Graph{A: g.A, Degrees: g.Degrees}, Row: g.Row, Class: g.Class, Names: g.Names}
	for m, large := range map[*method.Engine]bool{sized(): true, method.Majority: false} {
		bytes, err := m.Bytes(p, nil, nil)
		if err != nil || bytes >= 1e9 != large || bytes == 0 {
			t.Errorf("%d bytes, %v", bytes, err)
		}
		if bytes, err = m.Bytes(p, p, nil); err != nil || bytes >= 3e9 != large {
			t.Errorf("to tune %d bytes, %v", bytes, err)
		}
		if _, err = m.Bytes(p, nil, &method.Settings{Memory: 1e8}); (err != nil) != large {
			t.Errorf("within 100 MB: %v", err)
		}
		if _, err = m.Bytes(p, nil, &method.Settings{Raw: true}); (err != nil) != large {
			t.Errorf("with raw scores: %v", err)
		}
		if bytes, err = method.Smoothed(m).Bytes(p, nil, nil); err != nil || bytes >= 1e9 != large {
			t.Errorf("with smoothing %d bytes, %v", bytes, err)
		}
	}
}

package method_test

import (
	"errors"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// sized is a method of another package with a memory estimate of its own.
type sized struct{ method.Method }

func (sized) Bytes(_, tuned *method.Problem, s *method.Settings) (int64, error) {
	if s.Raw {
		return 0, errors.New("no raw scores")
	}
	if tuned != nil {
		return 3e9, nil
	}
	return 1e9, nil
}

func TestBytesOfOutsideMethod(t *testing.T) {
	g := testgraph.Planted(t, 5, 60, 50)
	p := &method.Problem{Graph: &graph.Graph{A: g.A, Degrees: g.Degrees}, Row: g.Row, Class: g.Class, Names: g.Names}
	for m, large := range map[method.Method]bool{sized{method.Majority}: true, method.Majority: false} {
		bytes, err := method.Bytes(m, p, nil, nil)
		if err != nil || bytes >= 1e9 != large || bytes == 0 {
			t.Errorf("%d bytes, %v", bytes, err)
		}
		if bytes, err = method.Bytes(m, p, p, nil); err != nil || bytes >= 3e9 != large {
			t.Errorf("to tune %d bytes, %v", bytes, err)
		}
		if _, err = method.Bytes(m, p, nil, &method.Settings{Memory: 1e8}); (err != nil) != large {
			t.Errorf("within 100 MB: %v", err)
		}
		if _, err = method.Bytes(m, p, nil, &method.Settings{Raw: true}); (err != nil) != large {
			t.Errorf("with raw scores: %v", err)
		}
		if bytes, err = method.Bytes(method.Smoothed(m), p, nil, nil); err != nil || bytes >= 1e9 != large {
			t.Errorf("with smoothing %d bytes, %v", bytes, err)
		}
	}
}

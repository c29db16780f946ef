package choose

import (
	"context"
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/param"
)

// The examples are those of the rule in the package comment.
func TestBest(t *testing.T) {
	line := &Space{Axes: []Axis{{Values: 4, Ordered: true}}}
	falling := &Space{Axes: []Axis{{Values: 4, Ordered: true, Falling: true}}}
	words := &Space{Axes: []Axis{{Values: 4}}, Usual: 2}
	impossible := math.Inf(-1)
	for _, c := range []struct {
		name  string
		space *Space
		merit []float64
		want  int
	}{
		{"the example of the package comment", line, []float64{70, 81, 82, 69}, 1},
		{"a peak without neighbours", line, []float64{82, 60, 80, 80}, 3},
		{"a peak beyond a standard error", line, []float64{95, 60, 80, 80}, 0},
		{"equal neighbourhoods, of which the simpler one counts", line, []float64{50, 80, 80, 50}, 1},
		{"of a ridge the larger value is simpler", falling, []float64{50, 80, 80, 50}, 2},
		{"words have no neighbours", words, []float64{70, 81, 82, 69}, 2},
		{"all are equal", words, []float64{70, 70, 70, 70}, 2},
		{"all but an impossible one", line, []float64{impossible, 80, 80, 80}, 2},
	} {
		if got := c.space.Best(c.merit, 100); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// With two parameters the neighbourhood is a square.
func TestBestOfTwoParameters(t *testing.T) {
	s := &Space{Axes: []Axis{{Values: 3, Ordered: true}, {Values: 3, Ordered: true}}}
	if got := s.Best([]float64{80, 60, 60, 60, 79, 78, 60, 78, 79}, 100); got != 8 {
		t.Errorf("candidate %d, want the corner with three good neighbours, 8", got)
	}
	even := []float64{50, 80, 50, 80, 50, 80, 50, 80, 50}
	if got := s.Best(even, 100); got != 1 {
		t.Errorf("candidate %d, want 1", got)
	}
	s.Axes[0].Last = true
	if got := s.Best(even, 100); got != 3 {
		t.Errorf("candidate %d where the first parameter breaks ties last, want 3", got)
	}
}

func TestSpaceOf(t *testing.T) {
	of := &param.Spec{Name: "two", Params: []param.Param{
		{Name: "form", Kind: param.Choice, Words: []string{"x", "y"}, Default: param.Of("x"), Grid: []param.Value{param.Of("x"), param.Of("y")}},
		{Name: "beta", Range: param.Above(0), Default: param.Of(1.0), Grid: param.Grid(1.0, 2.0, 4.0)},
	}}
	settings, err := Combinations(of, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := SpaceOf(of, settings, nil); s.Len() != 6 || len(s.Axes) != 2 || s.Axes[0].Ordered || !s.Axes[1].Ordered {
		t.Errorf("%+v", s)
	}
	if s := SpaceOf(of, settings[:5], nil); s.Len() != 5 || len(s.Axes) != 1 || s.Axes[0].Ordered {
		t.Errorf("%+v of settings that are no grid", s)
	}
}

func TestHeldOut(t *testing.T) {
	measure := func(context.Context, []int, []int) (*Counts, error) {
		c := NewCounts(2, []FoldLabels{{Tested: 10, Reached: 10, Of: 10}, {Tested: 10, Reached: 5, Of: 5}})
		copy(c.Right, []float64{9, 1, 2, 8})
		copy(c.Weight, []float64{9, 1, 1, 5})
		return c, nil
	}
	s := &Search{Kernel: new(Space), Learner: &Space{Axes: []Axis{{Values: 2}}}, Together: true, Measure: measure}
	found, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// The second fold chooses candidate 1 for the first, the first fold candidate 0 for the second.
	if found.HeldOut != (Estimator{right: 1 + 1, total: 15, tested: 15}) {
		t.Errorf("%+v", found.HeldOut)
	}
	if found.Setting != 0 || found.Accuracy != 11.0/20 || found.Tested != 20 {
		t.Errorf("%+v", found)
	}
}

func TestSearchInTurn(t *testing.T) {
	right := [][]float64{{50, 60, 55}, {58, 52, 70}}
	s := &Search{Kernel: &Space{Axes: []Axis{{Values: 2}}}, Learner: &Space{Axes: []Axis{{Values: 3}}}}
	s.Measure = func(_ context.Context, kernels, settings []int) (*Counts, error) {
		c := NewCounts(len(kernels)*len(settings), []FoldLabels{{Tested: 100}})
		for a, k := range kernels {
			for b, at := range settings {
				c.Right[a*len(settings)+b] = right[k][at]
			}
		}
		return c, nil
	}
	found, err := s.Run(t.Context())
	if err != nil || found.Kernel != 0 || found.Setting != 1 {
		t.Errorf("in turn: %+v, %v", found, err)
	}
	s.Together = true
	if found, err := s.Run(t.Context()); err != nil || found.Kernel != 1 || found.Setting != 2 {
		t.Errorf("together: %+v, %v", found, err)
	}
}

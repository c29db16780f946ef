package method

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/walks"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestTuneOnSplits(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	g := testgraph.Planted(t, 5, 100, 80)
	p := &engine.Problem{Graph: &graph.Graph{A: g.A, Degrees: g.Degrees}, Row: g.Row, Class: g.Class, Names: g.Names}
	splits, err := choose.Draw(p.Class, choose.Design{Fraction: 0.4, Tuning: true}, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	methods, err := parseMethods("diffusion,von-neumann+rls,pseudo-inverse,modularity,regularized-laplacian+logistic,pseudo-inverse+dkm,lgc,spectral+logistic")
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for _, m := range methods {
		c, err := m.Tune(ctx, p, splits, nil)
		if err != nil {
			t.Fatal(m.Name, err)
		}
		if c == nil {
			t.Fatalf("%s chooses nothing on splits", m.Name)
		}
		right, tested := 0, 0
		for i := range splits.Len {
			out, err := m.Predict(ctx, p.At(splits.At(i).Train), &c.Parameters, nil)
			if err != nil {
				t.Fatal(m.Name, err)
			}
			for _, at := range splits.At(i).Test {
				tested++
				if out.Class[p.Row[at]] == p.Class[at] {
					right++
				}
			}
		}
		if share := float64(right) / float64(tested); c.Tested != tested || math.Abs(c.Accuracy-share) > 0.03 {
			t.Errorf("%s, %v: %v of %d by tuning, %v of %d by predictions", m.Name, c.Parameters, c.Accuracy, c.Tested, share, tested)
		}
	}
}

func TestTuneWithoutSteps(t *testing.T) {
	g := testgraph.Planted(t, 5, 100, 80)
	p := &engine.Problem{Graph: &graph.Graph{A: g.A, Degrees: g.Degrees}, Row: g.Row, Names: []string{"few", "most", "some"}}
	for i := range p.Row {
		p.Class = append(p.Class, []int{1, 0, 1, 2, 1, 2}[i%6])
	}
	splits, err := choose.Draw(p.Class, choose.Design{Fraction: 0.3, Tuning: true}, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	methods, err := parseMethods("cwk")
	if err != nil {
		t.Fatal(err)
	}
	for _, cost := range []float64{1, 128} {
		set := &engine.Settings{Lists: contract.Lists(map[string][]param.Value{"alpha": param.Grid(0.5), "steps": param.Grid(0), "cost": param.Grid(cost)}, walks.Plain)}
		c, err := methods[0].Tune(t.Context(), p, splits, set)
		if err != nil {
			t.Fatal(err)
		}
		right, largest := 0, 0
		for i := range splits.Len {
			train := p.At(splits.At(i).Train)
			out, err := methods[0].Predict(t.Context(), train, &c.Parameters, set)
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range splits.At(i).Test {
				if out.Class[p.Row[at]] == p.Class[at] {
					right++
				}
				if choose.Majority(train.Class) == p.Class[at] {
					largest++
				}
			}
		}
		if tuned := int(math.Round(c.Accuracy * float64(c.Tested))); right != largest || tuned != largest {
			t.Errorf("C = %v: %d right by tuning and %d by predictions, want %d, those of the largest class", cost, tuned, right, largest)
		}
	}
}

func TestTuneUnreached(t *testing.T) {
	const pairs = 10
	p := &engine.Problem{Graph: new(graph.Graph), Names: []string{"a", "b", "c"}}
	var entries []sparse.Triplet
	clique := func(size int) {
		first := len(p.Degrees)
		for i := range size {
			for j := range size {
				if i != j {
					entries = append(entries, sparse.Triplet{Row: uint32(first + i), Col: uint32(first + j), Val: 1})
				}
			}
			p.Degrees = append(p.Degrees, float64(size-1))
		}
	}
	var trainTest choose.Split
	label := func(class int, positions *[]int) {
		*positions = append(*positions, len(p.Row))
		p.Row, p.Class = append(p.Row, len(p.Row)), append(p.Class, class)
	}
	for class, size := range []int{2, 4, 8} { // means are equal to the bit
		clique(size)
		for range size {
			label(class, &trainTest.Train)
		}
	}
	for range pairs {
		clique(2)
		label(2, &trainTest.Test)
		label(2, &trainTest.Test)
	}
	var err error
	if p.A, err = sparse.FromTriplets(len(p.Degrees), len(p.Degrees), entries); err != nil {
		t.Fatal(err)
	}
	list, err := parseMethods("rl,wvrn,lgc")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		c, err := m.Tune(t.Context(), p, &choose.Splits{Len: 1, At: func(int) choose.Split { return trainTest }}, &engine.Settings{Fixed: true})
		if err != nil {
			t.Fatal(err)
		}
		if c.Accuracy != 1 {
			t.Errorf("%s: accuracy %v on nodes of the largest class that no label reaches", m.Name, c.Accuracy)
		}
	}
}

func TestTuneProgress(t *testing.T) {
	p := contract.Planted(t, 5, 100, 80)
	splits, err := choose.Draw(p.Class, choose.Design{Fraction: 0.4, Tuning: true}, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	var got []int64
	s := &engine.Settings{Progress: func(_ string, done, total int64) { got = append(got, done, total) }}
	if _, err := methodOf(t, "cwk").Choose(t.Context(), p, splits, s); err != nil {
		t.Fatal(err)
	}
	if want := []int64{1, 3, 2, 3, 3, 3}; !slices.Equal(got, want) {
		t.Errorf("reported %v, want %v", got, want)
	}
}

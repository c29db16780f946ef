package method

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func rankProblemOf(t testing.TB, a *sparse.CSR, workers int, seeds ...int) (*RankProblem, *mat.Dense) {
	t.Helper()
	g, err := graph.New(t.Context(), a, &graph.Settings{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.New(t.Context(), g, "diffusion", param.Values{"beta": param.Of(2.0)})
	if err != nil {
		t.Fatal(err)
	}
	n := len(g.Degrees)
	p := &RankProblem{Kernel: k, Degrees: g.Degrees, Seeds: seeds}
	for v := range n {
		p.Nodes = append(p.Nodes, v)
	}
	block, _, err := kernel.Matrix(t.Context(), k, p.Nodes, p.Nodes, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p, sparse.DenseOf(block)
}

func TestRankAgreesWithTheMatrix(t *testing.T) {
	t.Run("equal", func(t *testing.T) { compareWithMatrix(t, nil) })
	t.Run("weighted", func(t *testing.T) { compareWithMatrix(t, []float64{3, 0.5, 1e-3, 2}) })
}

func compareWithMatrix(t *testing.T, weight []float64) {
	p, k := rankProblemOf(t, testgraph.Random(1, 260, 600, true), 1, 17, 3, 250, 99)
	p.Weight = weight
	p.RNGSeed = 9
	r, err := Rank(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	mean := func(v int, of []int) float64 {
		sum, total := 0.0, 0.0
		for _, s := range of {
			share := 1.0
			if weight != nil {
				share = weight[slices.Index(p.Seeds, s)]
			}
			sum += share * k.At(v, s)
			total += share
		}
		return sum / total
	}
	score := make([]float64, len(p.Nodes))
	auc := 0.0
	for v := range p.Nodes {
		score[v] = mean(v, p.Seeds)
	}
	for _, s := range p.Seeds { // four seeds are four folds
		others := slices.DeleteFunc(slices.Clone(p.Seeds), func(o int) bool { return o == s })
		score[s] = mean(s, others)
		for v := range p.Nodes {
			if !slices.Contains(p.Seeds, v) && score[s] > mean(v, others) {
				auc += 1 / float64(len(p.Seeds)) / float64(len(p.Nodes)-len(p.Seeds))
			}
		}
	}
	if math.Abs(r.AUC-auc) > 1e-12 || r.Folds != 4 {
		t.Errorf("AUC %v of %d folds, want %v", r.AUC, r.Folds, auc)
	}
	for v := range p.Nodes {
		if math.Abs(r.Score[v]-score[v]) > 1e-9 {
			t.Fatalf("node %d: score %v, want %v", v, r.Score[v], score[v])
		}
	}
	if !slices.IsSortedFunc(r.Order, func(a, b int) int { return int(math.Copysign(1, r.Score[b]-r.Score[a])) }) || len(r.Order) != len(p.Nodes) {
		t.Error("the order is not that of scores")
	}
}

func TestRankSameBits(t *testing.T) {
	var want *Ranking
	for _, workers := range []int{1, 2, 7} {
		p, _ := rankProblemOf(t, testgraph.Random(3, 300, 900, true), workers, 7, 8, 9, 100, 200, 201)
		slices.Reverse(p.Seeds)
		r, err := Rank(t.Context(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = r
		}
		if diff := cmp.Diff(want, r); diff != "" {
			t.Errorf("%d workers:\n%s", workers, diff)
		}
	}
}

func TestRankFewSeeds(t *testing.T) {
	p, k := rankProblemOf(t, testgraph.Path(4), 1, 2)
	r, err := Rank(t.Context(), p, nil)
	if err != nil || !math.IsNaN(r.AUC) || r.Order[0] != 2 || math.Abs(r.Score[0]-k.At(0, 2)) > 1e-9 {
		t.Errorf("one seed: %v, %v", r, err)
	}
	p.Seeds = nil
	if _, err := Rank(t.Context(), p, nil); !errors.Is(err, ErrSeeds) {
		t.Errorf("no seed: %v", err)
	}
	p.Seeds = p.Nodes
	if _, err := Rank(t.Context(), p, nil); !errors.Is(err, ErrSeeds) {
		t.Errorf("every node: %v", err)
	}
}

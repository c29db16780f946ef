package rank

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// problemOf returns a kernel on a graph, and its values between all nodes.
func problemOf(t testing.TB, a *sparse.CSR, workers int, seeds ...int) (*Problem, *mat.Dense) {
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
	p := &Problem{Kernel: k, Degrees: g.Degrees, Seeds: seeds}
	for v := range n {
		p.Nodes = append(p.Nodes, v)
	}
	block, _, err := kernel.Matrix(t.Context(), k, p.Nodes, p.Nodes, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p, sparse.DenseOf(block)
}

// TestScoresAgreeWithTheMatrix computes every result from the whole kernel matrix.
func TestScoresAgreeWithTheMatrix(t *testing.T) {
	p, k := problemOf(t, testgraph.Random(1, 260, 600, true), 1, 17, 3, 250, 99)
	set := &Settings{Sets: 30, RNGSeed: 9}
	r, err := Run(t.Context(), p, set)
	if err != nil {
		t.Fatal(err)
	}
	mean := func(v int, of []int) (sum float64) {
		for _, s := range of {
			sum += k.At(v, s) / float64(len(of))
		}
		return sum
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
	draw := newDraws(p, set.RNGSeed)
	for v := range p.Nodes {
		if math.Abs(r.Score[v]-score[v]) > 1e-9 {
			t.Fatalf("node %d: score %v, want %v", v, r.Score[v], score[v])
		}
		var null []float64
		above := 1.0
		for i := range set.Sets {
			nodes := draw.set(i)
			if slices.Contains(nodes, v) {
				continue
			}
			x := mean(v, nodes)
			if null = append(null, x); x >= score[v] {
				above++
			}
		}
		center, squares := 0.0, 0.0
		for _, x := range null {
			center += x / float64(len(null))
		}
		for _, x := range null {
			squares += (x - center) * (x - center)
		}
		z := (score[v] - center) / math.Sqrt(squares/float64(len(null)-1))
		if math.Abs(r.P[v]-above/float64(len(null)+1)) > 1e-12 || math.Abs(r.Z[v]-z) > 1e-6*math.Abs(z) {
			t.Fatalf("node %d: p %v, z %v, want %v, %v", v, r.P[v], r.Z[v], above/float64(len(null)+1), z)
		}
	}
	if !slices.IsSortedFunc(r.Order, func(a, b int) int { return int(math.Copysign(1, r.Score[b]-r.Score[a])) }) || len(r.Order) != len(p.Nodes) {
		t.Error("the order is not that of scores")
	}
}

// TestRandomSeeds checks that random seeds have about the degrees of the seeds, and that p-values are
// uniform if the seeds themselves are such a set.
func TestRandomSeeds(t *testing.T) {
	p, _ := problemOf(t, testgraph.Random(2, 600, 1800, false), 1, 1, 2, 3, 5, 8, 13, 21, 34)
	draw := newDraws(p, 4)
	bin := map[int]int{}
	for b, nodes := range draw.bins {
		if len(nodes) < fewestAlike {
			t.Errorf("%d nodes in a group", len(nodes))
		}
		for _, v := range nodes {
			bin[v] = b
		}
	}
	var first []int
	for i := range 20 {
		nodes := draw.set(i)
		count := make([]int, len(draw.bins))
		for _, v := range nodes {
			count[bin[v]]++
		}
		if slices.Sort(nodes); !slices.Equal(count, draw.count) || len(slices.Compact(nodes)) != len(p.Seeds) {
			t.Errorf("set %d has %v nodes of each degree, want %v", i, count, draw.count)
		}
		if i == 0 {
			first = nodes
		}
	}
	p.Seeds = first
	r, err := Run(t.Context(), p, &Settings{Sets: 199, RNGSeed: 77})
	if err != nil {
		t.Fatal(err)
	}
	low, mean := 0, 0.0
	for _, v := range p.Nodes {
		if r.P[v] <= 0.1 {
			low++
		}
		mean += r.P[v] / float64(len(p.Nodes))
	}
	if share := float64(low) / float64(len(p.Nodes)); share < 0.05 || share > 0.18 || mean < 0.42 || mean > 0.6 {
		t.Errorf("p ≤ 0.1 at %.3f of the nodes, mean %.3f", share, mean)
	}
}

func TestSameBits(t *testing.T) {
	var want *Ranking
	for _, workers := range []int{1, 2, 7} {
		p, _ := problemOf(t, testgraph.Random(3, 300, 900, true), workers, 7, 8, 9, 100, 200, 201)
		slices.Reverse(p.Seeds)
		r, err := Run(t.Context(), p, &Settings{Sets: 70, RNGSeed: 1})
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

func TestFewSeeds(t *testing.T) {
	p, k := problemOf(t, testgraph.Path(4), 1, 2)
	r, err := Run(t.Context(), p, nil)
	if err != nil || !math.IsNaN(r.AUC) || r.Order[0] != 2 || math.Abs(r.Score[0]-k.At(0, 2)) > 1e-9 {
		t.Errorf("one seed: %v, %v", r, err)
	}
	p.Seeds = nil
	if _, err := Run(t.Context(), p, nil); !errors.Is(err, ErrSeeds) {
		t.Errorf("no seed: %v", err)
	}
	p.Seeds = p.Nodes
	if _, err := Run(t.Context(), p, nil); !errors.Is(err, ErrSeeds) {
		t.Errorf("every node: %v", err)
	}
}

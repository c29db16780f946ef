package auto

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func inputOf(t testing.TB, p *problem.Problem, set *settings) *input {
	t.Helper()
	d := designOf(p, set)
	in, err := newInput(context.Background(), p, set, d, newPlan(p, set).memory, new(graph.Work))
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func featuresOf(t testing.TB, p *problem.Problem, set *settings) *features {
	t.Helper()
	f, err := newFeatures(context.Background(), inputOf(t, p, set))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func evident(t testing.TB, p *problem.Problem, set *settings) *engine.Prediction {
	t.Helper()
	out, err := predict(context.Background(), p, set)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEvidenceIsHonest(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a quarter of a second")
	}
	type blocks struct {
		within, between, least float64
		labels                 int
	}
	for _, c := range testgraph.Sample(t, 2, []blocks{{5, 0.6, 0.8, 40}, {0.5, 4, 0.8, 80}, {5, 1.5, 0.7, 14}}) {
		const draws = 6
		var told, found float64
		for seed := range uint64(draws) {
			p, class := contract.Blocks(t, seed, 300, c.labels, 2, c.within, c.between)
			out := evident(t, p, &settings{Settings: engine.Settings{RNGSeed: seed}})
			told += out.Accuracy / draws
			found += contract.Accuracy(p, out.Class, class) / draws
			if out.Tested > c.labels || out.Tested < c.labels-2 || !(out.Stderr > 0) { // labels that another label reaches
				t.Errorf("%d labels: %d tested, error %v", c.labels, out.Tested, out.Stderr)
			}
		}
		if found < c.least || math.Abs(told-found) > 0.06 {
			t.Errorf("%v: found %.3f, estimated %.3f", c, found, told)
		}
	}
}

// From 5,000 labels on label propagation predicts one fold.
func TestEstimateOfManyLabels(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	for _, labels := range testgraph.Sample(t, 1, []int{1000, 4900, 5100, 20000}) {
		for _, share := range testgraph.Sample(t, 1, []float64{0.1, 0.3, 0.6, 0.9}) {
			nodes := int(float64(labels) / share)
			p, class := blockModelOf(t, nodes, 3*nodes, 3, 0.8)
			for _, v := range rand.New(rand.NewPCG(2, 3)).Perm(nodes)[:labels] {
				p.Row = append(p.Row, v)
				p.Class = append(p.Class, class[v])
			}
			out := evident(t, p, &settings{})
			accuracy := contract.Accuracy(p, out.Class, class)
			independent := math.Sqrt(accuracy * (1 - accuracy) * (1/float64(out.Tested) + 1/float64(nodes-labels)))
			t.Logf("%d labels of %d nodes: accuracy %.3f, estimated %.3f ± %.3f by %d labels", labels, nodes, accuracy, out.Accuracy, out.Stderr, out.Tested)
			if math.Abs(out.Accuracy-accuracy) > 3*out.Stderr || out.Stderr > 1.5*independent || out.Tested < min(labels/3, 700) {
				t.Errorf("%d labels of %d nodes: accuracy %.3f, estimated %.3f ± %.3f by %d labels, whose standard error is %.3f", labels, nodes, accuracy, out.Accuracy, out.Stderr, out.Tested, independent)
			}
		}
	}
}

func TestEvidenceOfShuffledLabels(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a fifth of a second")
	}
	const draws = 6
	var told, largest float64
	for seed := range uint64(draws) {
		p, _ := contract.Blocks(t, seed, 150, 60, 3, 5, 0.5)
		rand.New(rand.NewPCG(seed, 2)).Shuffle(len(p.Class), func(i, j int) { p.Class[i], p.Class[j] = p.Class[j], p.Class[i] })
		told += evident(t, p, &settings{Settings: engine.Settings{RNGSeed: seed}}).Accuracy / draws
		for _, c := range p.Class {
			if c == choose.Majority(p.Class) {
				largest += 1.0 / 60 / draws
			}
		}
	}
	if told > largest+0.03 {
		t.Errorf("estimated %.3f of shuffled labels, of which the largest class has %.3f", told, largest)
	}
}

// The estimate allows for the choice of weights, and where the largest class is predicted, for the luck of the largest
// class.
func TestEstimateAllowsForChoice(t *testing.T) {
	for _, of := range []struct {
		seed, shuffle   uint64
		labels, classes int
	}{{2, 2, 26, 2}, {107, 107, 17, 3}} {
		p, _ := contract.Blocks(t, of.seed, 120, of.labels, of.classes, 8, 0.1)
		rand.New(rand.NewPCG(4, of.shuffle)).Shuffle(len(p.Class), func(i, j int) { p.Class[i], p.Class[j] = p.Class[j], p.Class[i] })
		f := featuresOf(t, p, &settings{Settings: engine.Settings{RNGSeed: 4}})
		h, err := predictHeldOut(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		mixture := h.combine(all)
		if f.reached.GetCardinality() != uint64(len(p.Degrees)) {
			t.Fatal("some node is not reached")
		}
		row := make([]float64, of.classes)
		n := float64(of.labels)
		right, byAll, q, lucky := 0.0, 0.0, 0.0, 0.0
		for i, c := range p.Class {
			mixTo(row, mixture, i)
			h.calibrate(mixture).apply(row)
			if classify.ArgMax(row) == c {
				byAll++
			}
			if count := choose.CountsOf(p); count[classify.ArgMax(row)] == slices.Max(count) {
				lucky += 1 / n
			}
			q += slices.Max(row) / n
			refitted := h.combine(func(j int) bool { return h.fold[j] != h.fold[i] })
			if isMajority(mixture) && !isMajority(refitted) {
				refitted = addShares(h, refitted, majorityWeight)
			}
			mixTo(row, refitted, i)
			h.calibrate(mixture).apply(row)
			if classify.ArgMax(row) == c {
				right++
			}
		}
		confidence := h.estimate(mixture, h.calibrate(mixture), false)
		if len(confidence.Held().Rows) == 0 {
			t.Error("no held-out predictions")
		}
		const mean = 0.6
		want := (right-max(0, byAll-right))/n + mean - q
		if count := choose.CountsOf(p); isMajority(mixture) {
			largest := slices.Max(count) / n
			for c, x := range count {
				if c != slices.Index(count, slices.Max(count)) {
					deviation := math.Sqrt((largest + x/n - (largest-x/n)*(largest-x/n)) / n)
					want -= lucky * deviation * distuv.UnitNormal.Prob((largest-x/n)/deviation)
				}
			}
		}
		got := confidence.Estimate(f.reached, mean).Accuracy
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("estimated %v, want %v", got, want)
		}
	}
}

func TestEvidenceScores(t *testing.T) {
	for _, labels := range []int{12, 40} {
		p := contract.Planted(t, 21, 150, labels)
		out := evident(t, p, &settings{})
		given := map[int]bool{}
		for i, row := range p.Row {
			given[row] = true
			if out.Class[row] != p.Class[i] {
				t.Errorf("labelled node %d changes its class", row)
			}
		}
		for v, class := range out.Class {
			row := out.Scores.Row(v)
			if sum := float64(row[0]) + float64(row[1]) + float64(row[2]); math.Abs(sum-1) > 1e-6 {
				t.Errorf("probabilities of node %d sum to %v", v, sum)
			}
			if !given[v] && row[class] != slices.Max(row) {
				t.Errorf("node %d has class %d of %v", v, class, row)
			}
		}
		task := &choose.Task{Problem: p, Fold: newSeeds(inputOf(t, p, &settings{})).fold}
		if err := task.FindIsolated(context.Background(), 1, new(graph.Work)); err != nil {
			t.Fatal(err)
		}
		if out.Reached.Contains(1) {
			t.Error("a node without neighbours is reached")
		}
		share, of := []float64{10, 10, 10}, 10.0
		for c := range share {
			share[c] /= float64(labels + 3)
		}
		for _, class := range p.Class {
			share[class] += 10 / float64(labels+3)
		}
		for i, isolated := range task.Isolated { // one more for each label that no other fold reaches
			if isolated && labels > fewestLabels {
				share[p.Class[i]]++
				of++
			}
		}
		floats.Scale(1/of, share)
		// as if K labels more had classes in equal shares
		equal := (1 - floats.Dot(share, share)) / (floats.Dot(share, share) - 1.0/3)
		for c, q := range out.Scores.Row(1) {
			want := (float64(labels)*share[c] + equal/3) / (float64(labels) + equal)
			if math.Abs(float64(q)-want) > 1e-6 {
				t.Errorf("without a label class %d has %v, want %v", c, q, want)
			}
		}
	}
}

func TestUnitOfWeights(t *testing.T) {
	for _, labels := range []int{12, 60} {
		p := contract.Planted(t, 27, 120, labels)
		scaled := func(factor float64) (*engine.Prediction, error) {
			var e []sparse.Triplet
			for i := range p.Degrees {
				col, val := p.A.(*sparse.CSR).Row(i)
				for at, c := range col {
					e = append(e, sparse.Triplet{Row: uint32(i), Col: c, Val: val[at] * factor})
				}
			}
			a, err := sparse.FromTriplets(len(p.Degrees), len(p.Degrees), e)
			if err != nil {
				t.Fatal(err)
			}
			degrees := make([]float64, len(p.Degrees))
			for i, d := range p.Degrees {
				degrees[i] = d * factor
			}
			other := *p
			other.Graph = &graph.Graph{A: a, Degrees: degrees}
			return predict(context.Background(), &other, &settings{})
		}
		want := evident(t, p, &settings{})
		for _, exponent := range []int{-80, -30, 50, 80} {
			got, err := scaled(math.Ldexp(1, exponent))
			if err != nil || !slices.Equal(got.Scores.Data, want.Scores.Data) {
				t.Errorf("%d labels, weights times 2^%d: other scores, %v", labels, exponent, err)
			}
		}
		for _, factor := range []float64{1e-40, 1e40} {
			if _, err := scaled(factor); !errors.Is(err, blocks.ErrScale) {
				t.Errorf("weights times %g: %v", factor, err)
			}
		}
	}
}

func TestEvidenceOfFewLabels(t *testing.T) {
	p := contract.Planted(t, 21, 60, 12)
	left := slices.Repeat([]int{int(slices.Min(choose.CountsOf(p)))}, 3)
	p = p.At(slices.DeleteFunc(sched.UpTo(12), func(i int) bool {
		left[p.Class[i]]--
		return left[p.Class[i]] < 0
	}))
	out := evident(t, p, &settings{})
	slow := slowFilters(p, func(int) bool { return true })
	for v := 4; v < 60; v++ {
		if slices.Contains(p.Row, v) || !out.Reached.Contains(uint32(v)) {
			continue
		}
		q := slow[v][source]
		score := make([]float64, 3)
		for c := range score {
			share := 0.0
			for _, class := range p.Class {
				if class == c {
					share += 1 / float64(len(p.Row))
				}
			}
			score[c] = q[c] - share*(q[0]+q[1]+q[2])
		}
		if want := classify.ArgMax(score); out.Class[v] != want {
			t.Errorf("node %d has class %d, scores of Poisson learning are %v", v, out.Class[v], score)
		}
	}
}

// sameBits repeats a prediction with other numbers of workers and with the least memory.
func sameBits(t *testing.T, p *problem.Problem, want *engine.Prediction) {
	t.Helper()
	least := newPlan(p, &settings{Settings: engine.Settings{Workers: 1, Memory: 1}}).learning.Required(1)
	for turn, memory := range []int64{0, least} {
		for _, workers := range testgraph.Workers(turn) {
			got := evident(t, p, &settings{Settings: engine.Settings{Workers: workers, Memory: memory}})
			if !slices.Equal(got.Scores.Data, want.Scores.Data) || !slices.Equal(got.Class, want.Class) || got.Accuracy != want.Accuracy || got.Stderr != want.Stderr {
				t.Errorf("%d labels, %d workers, memory %d: another prediction", len(p.Row), workers, memory)
			}
		}
	}
}

func TestEvidenceSameBits(t *testing.T) {
	for _, labels := range []int{12, 60} {
		if testing.Short() && labels > 12 {
			break
		}
		p := contract.Planted(t, 4, 300, labels)
		a := &contract.Counting{Matrix: p.A}
		p.A = a
		first := evident(t, p, &settings{Settings: engine.Settings{Workers: 1}})
		if !inputOf(t, p, &settings{}).diffusion && a.Count() != first.Work.Sweeps {
			t.Errorf("%d labels: %d sweeps, %d counted", labels, a.Count(), first.Work.Sweeps)
		}
		sameBits(t, p, first)
	}
}

func TestEvidenceOnPath(t *testing.T) {
	p := contract.Path(t, 240, false)
	out := evident(t, p, &settings{})
	for v, class := range out.Class {
		if want := v / 120; class != want && (v < 105 || v >= 135) { // nearer the middle, both scores are next to nothing
			t.Errorf("node %d has class %d", v, class)
		}
	}
}

func TestOneWalkAtATime(t *testing.T) {
	set := &settings{}
	in := inputOf(t, contract.Path(t, 1000, false), set)
	f := &features{in: in, seeds: newSeeds(in)}
	longer := false
	set.Progress = func(stage string, _, _ int64) {
		if f.seeds.steps > walkSteps {
			longer = true
			if f.walks != nil {
				t.Error("shorter walks are held while longer ones walk")
				f.walks = nil
			}
		}
	}
	if err := f.walk(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !longer {
		t.Error("no walk was too short")
	}
}

func TestEvidenceOfUnevenLabels(t *testing.T) {
	p, _ := contract.Blocks(t, 3, 200, 40, 2, 4, 1)
	for i := range p.Class {
		p.Class[i] = 0
	}
	p.Names = []string{"a", "b", "c", "d"}
	p.Class[3], p.Class[5] = 1, 2
	out := evident(t, p, &settings{})
	if out.Tested != 0 || out.Accuracy != 0 {
		t.Errorf("accuracy %v of %d, where one class has several labels", out.Accuracy, out.Tested)
	}
	p.Class[7], p.Class[8] = 1, 3
	if out = evident(t, p, &settings{}); out.Tested != 40 || choose.Majority(out.Class) != 0 {
		t.Errorf("%d tested, the largest class is %d", out.Tested, choose.Majority(out.Class))
	}
}

func TestPoissonAlone(t *testing.T) {
	const n = 40
	a := testgraph.Random(3, n, 25, false)
	p := &problem.Problem{Graph: &graph.Graph{A: a, Degrees: testgraph.Degrees(t, a)}, Names: []string{"a", "b"}}
	for v := range n {
		p.Row, p.Class = append(p.Row, v), append(p.Class, v/30)
	}
	f := featuresOf(t, p, &settings{})
	alone := 0
	for i, row := range predictPoisson(f).rows {
		if !f.full.hasFeatures[i] {
			alone++
			if want := float32(f.columns.prior[0]); row[0] != want {
				t.Errorf("label %d has %v, the prior is %v", i, row[0], want)
			}
		}
	}
	if alone == 0 || alone == n {
		t.Errorf("%d labels are alone", alone)
	}
}

// The values of a kernel between such labels are all 0.
func TestLabelsWithoutEdges(t *testing.T) {
	const n, labels = 18, 16
	a := testgraph.Random(1, n, 0, false)
	p := &problem.Problem{Graph: &graph.Graph{A: a, Degrees: testgraph.Degrees(t, a)}, Names: []string{"a", "b"}}
	for v := range labels {
		p.Row, p.Class = append(p.Row, v), append(p.Class, v%2)
	}
	out := evident(t, p, &settings{})
	for v := range n {
		if row := out.Scores.Row(v); !(row[0] >= 0 && row[0] <= 1) {
			t.Errorf("node %d has the scores %v", v, row)
		}
	}
}

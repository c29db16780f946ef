package method

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/spread"
	"github.com/heatwalk/heatwalk/method/walks"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestShuffledLabelsAreNotFound(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	const draws = 6
	grid := contract.Lists(map[string][]param.Value{"alpha": param.Grid(0.3, 0.9), "steps": param.Grid(1, 3, 10), "cost": param.Grid(0.5, 8), "lambda": param.Grid(0.01, 0.1, 1)}, walks.Plain, walks.Honest)
	for _, name := range []string{"cwk", "p-step", "p-step+rls", "lgc", "spectral+logistic"} {
		var told, found, referred float64
		for seed := range uint64(draws) {
			p, class := contract.Blocks(t, seed, 120, 60, 3, 5, 0.5)
			r := rand.New(rand.NewPCG(seed, 2))
			r.Shuffle(len(class), func(i, j int) { class[i], class[j] = class[j], class[i] })
			for i, row := range p.Row {
				p.Class[i] = class[row]
			}
			set := &engine.Settings{Lists: grid, RNGSeed: seed}
			out, reference, err := methodOf(t, name).PredictCompared(t.Context(), p, set)
			if err != nil {
				t.Fatal(err)
			}
			told += out.Accuracy / draws
			found += contract.Accuracy(p, out.Class, class) / draws
			referred += reference.Propagation.Accuracy / draws
		}
		for what, share := range map[string]float64{"told": told, "found": found, "told of label propagation": referred} {
			if math.Abs(share-1.0/3) > 0.08 {
				t.Errorf("%s: %s %.3f of three classes in no order", name, what, share)
			}
		}
	}
}

// luckOf returns the expected excess of the largest share of labels: the sum of σ·φ(difference/σ) over the others, σ the
// standard deviation of the difference.
func luckOf(labels float64, largest float64, others ...float64) (sum float64) {
	for _, q := range others {
		d := largest - q
		sigma := math.Sqrt((largest + q - d*d) / labels)
		sum += sigma * math.Exp(-d*d/(2*sigma*sigma)) / math.Sqrt(2*math.Pi)
	}
	return sum
}

func TestEstimateCountsReachedNodes(t *testing.T) {
	p := &engine.Problem{Names: make([]string, 3), Graph: &graph.Graph{Degrees: make([]float64, 110)}, Row: make([]int, 10), Class: []int{0, 0, 0, 0, 0, 1, 1, 1, 1, 2}}
	reached := roaring.New()
	reached.AddRange(0, 85) // 75 nodes and the labels
	var h choose.Estimator
	weight := choose.WeightsOf(p)
	for i, right := range []bool{true, true, true, false, true, true, true, false, true, true} {
		h.Note(i < 7, right, weight[p.Class[i]])
	}
	out := h.Estimate(p, reached)
	// Of seven reached labels six are right, four of five of the first class. Shares of 0.5, 0.4 and 0.1 shrink towards 1/3
	// as by K = (1 − 0.42)/(0.42 − 1/3) more labels.
	more := 0.58 / (0.42 - 1.0/3) / 3
	first, second := (5+more)/5*9/(9+2*more), (4+more)/4*9/(9+2*more)
	of := 5*first + 2*second
	// One label of ten is alone in its class, so that a tenth of the nodes may have classes without a label.
	accuracy := (4*first + 2*second) / of
	if got, want := out.Accuracy, 0.9*accuracy; math.Abs(got-want) > 1e-12 {
		t.Errorf("accuracy %v, want %v", got, want)
	}
	share := (4*first + 2*second + 2) / (of + 4)
	if got, want := out.Stderr, math.Sqrt(0.81*1.4*share*(1-share)*(1/(of+4)+1.0/75)+accuracy*accuracy*0.9/100); math.Abs(got-want) > 1e-12 {
		t.Errorf("standard error %v, want %v", got, want)
	}
	if out.Tested != 7 || out.Unseen != 0.1 || out.Reached != 75 || out.Unreached != 25 {
		t.Errorf("%d tested, %v of classes without labels, %d nodes reached and %d not", out.Tested, out.Unseen, out.Reached, out.Unreached)
	}
	if none := new(choose.Estimator).Estimate(p, reached); none.Tested != 0 {
		t.Errorf("no label was tested, and the estimate is %v", none)
	}
}

func TestReferPropagates(t *testing.T) {
	p, _ := contract.Blocks(t, 3, 200, 50, 3, 5, 1)
	set := &engine.Settings{RNGSeed: 4}
	declared, err := spread.Propagation.Declare(p, set, engine.BaselineWorkspace(p, set))
	if err != nil {
		t.Fatal(err)
	}
	for _, memory := range []int64{0, declared.Required(1)} { // all columns together, and within a limit
		_, got, err := spread.Propagation.PredictCompared(t.Context(), p, &engine.Settings{RNGSeed: set.RNGSeed, Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		folds := choose.FoldCount(len(p.Row))
		fold := choose.DrawFolds(p, folds, set.RNGSeed, 0).Of
		right, largest, weight := 0.0, 0.0, choose.WeightsOf(p)
		for f := range folds {
			var rest []int
			for i := range fold {
				if fold[i] != f {
					rest = append(rest, i)
				}
			}
			out, err := spread.Propagation.Predict(t.Context(), p.At(rest), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range p.Class {
				if fold[i] != f {
					continue
				}
				if out.Class[p.Row[i]] == c {
					right += weight[c]
				}
				if choose.Majority(p.At(rest).Class) == c {
					largest++
				}
			}
		}
		count := make([]float64, 3)
		for _, c := range p.Class {
			count[c]++
		}
		slices.Sort(count)
		constant := max(1.0/3, (largest+count[2]/50)/51-luckOf(50, count[2]/50, count[1]/50, count[0]/50))
		if math.Abs(got.Propagation.Accuracy-right/50) > 0.02 || math.Abs(got.Majority.Accuracy-constant) > 1e-9 {
			t.Errorf("memory %d: label propagation %v, want %v; largest class %v, want %v", memory,
				got.Propagation.Accuracy, right/50, got.Majority.Accuracy, constant)
		}
	}
}

// Most nodes are in components without a label, so that the estimate must not count the class with most of the few labels
// there.
func TestEstimateWithoutLuck(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	draws := 20
	if testgraph.Hunt {
		draws = 60
	}
	for _, name := range []string{"auto", "lp"} {
		difference, tested := 0.0, 0.0
		for seed := range uint64(draws) {
			p, class := contract.Blocks(t, seed, 600, 30, 3, 1.2, 0.1)
			set := &engine.Settings{RNGSeed: seed}
			out, _, err := methodOf(t, name).PredictCompared(t.Context(), p, set)
			if err != nil {
				t.Fatal(err)
			}
			labels := float64(out.Tested)
			difference += (out.Accuracy - accuracyReached(p, out, class)) * labels
			tested += labels
		}
		difference /= tested
		standardError := 0.5 / math.Sqrt(tested)
		if !(math.Abs(difference) <= 3*standardError) {
			t.Errorf("%s: reported %.3f too high on %v labels", name, difference, tested)
		}
	}
}

func accuracyReached(p *engine.Problem, out *engine.Prediction, class []int) float64 {
	labelled := map[int]bool{}
	for _, row := range p.Row {
		labelled[row] = true
	}
	right, of := 0, 0
	for v, c := range class {
		if !labelled[v] && out.Reached.Contains(uint32(v)) {
			if of++; out.Class[v] == c {
				right++
			}
		}
	}
	return float64(right) / float64(max(1, of))
}

func TestPropagationTellsOfItsParameters(t *testing.T) {
	const draws = 4
	m := methodOf(t, "lp")
	for name, value := range map[string]float64{"steps": 1, "alpha": 0.02} {
		var told, found, plain float64
		for seed := range uint64(draws) {
			p, class := contract.Blocks(t, seed, 200, 40, 3, 5, 0.5)
			set := &engine.Settings{RNGSeed: seed, Given: param.Values{name: param.Of(value)}}
			if name == "steps" {
				set.Given[name] = param.Of(int(value))
			}
			out, reference, err := m.PredictCompared(t.Context(), p, set)
			if err != nil {
				t.Fatal(err)
			}
			own, other := out.Estimate, reference.Propagation
			told, plain = told+own.Accuracy/draws, plain+other.Accuracy/draws
			found += contract.Accuracy(p, out.Class, class) / draws
		}
		if math.Abs(told-found) > 0.05 || plain-told < 0.1 {
			t.Errorf("%s = %v: told %.3f, found %.3f; without the parameter %.3f", name, value, told, found, plain)
		}
	}
}

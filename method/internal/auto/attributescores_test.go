package auto

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// wordsOf returns a table of sixty words. A node has each of its class's ten words with probability own, the others with
// probability other.
func wordsOf(rng *rand.Rand, class []int, own, other float64) *sparse.Table {
	const words = 60
	t := &sparse.Table{Rows: len(class), Cols: words}
	row := make([]float32, words)
	for v, c := range class {
		for j := range row {
			row[j] = 0
			if share := rng.Float64(); share < other || j/10 == c && share < own {
				row[j] = 1
			}
		}
		t.Set(v, row)
	}
	return t
}

func TestWordsTell(t *testing.T) {
	for _, labelled := range []int{9, 60} {
		if testing.Short() && labelled > 9 {
			break
		}
		p, class := contract.Blocks(t, 7, 300, labelled, 3, 0.2, 0.2)
		p.Attributes = wordsOf(rand.New(rand.NewPCG(1, 1)), class, 0.4, 0.04)
		out := evident(t, p, &settings{Settings: engine.Settings{Workers: 1}})
		if got := contract.Accuracy(p, out.Class, class); got < 0.75 {
			t.Errorf("%d labels: accuracy %.2f", labelled, got)
		} else if labelled > 50 && (out.Accuracy < got-3*out.Stderr || out.Accuracy > got+3*out.Stderr) {
			t.Errorf("%d labels: estimated %.2f ± %.2f, found %.2f", labelled, out.Accuracy, out.Stderr, got)
		}
		if got := out.Reached.GetCardinality(); got != 300 {
			t.Errorf("%d nodes reached", got)
		}
		for _, s := range []settings{{Settings: engine.Settings{Workers: 2}}, {Settings: engine.Settings{Workers: 7, Memory: 4 << 20}}} {
			again := evident(t, p, &s)
			if !slices.Equal(again.Scores.Data, out.Scores.Data) || again.Accuracy != out.Accuracy {
				t.Errorf("%d labels: other bits with %d workers, memory %d", labelled, s.Workers, s.Memory)
			}
		}
	}
}

func TestMissingAttributes(t *testing.T) {
	p, class := contract.Blocks(t, 8, 300, 60, 3, 4, 0.2)
	whole := wordsOf(rand.New(rand.NewPCG(2, 1)), class, 0.5, 0.02)
	some := &sparse.Table{Rows: 300, Cols: 60}
	row := make([]float32, 60)
	for v := range 300 {
		if p.Degrees[v] == 0 || v%2 == 0 {
			continue
		}
		clear(row)
		columns, values := whole.Reader().Row(v)
		for i, x := range values {
			j := i
			if columns != nil {
				j = int(columns[i])
			}
			row[j] = x
		}
		some.Set(v, row)
	}
	p.Attributes = some
	out := evident(t, p, &settings{})
	if got := contract.Accuracy(p, out.Class, class); got < 0.85 {
		t.Errorf("accuracy %.2f", got)
	}
	var alone []float32
	for v := range 300 {
		if p.Degrees[v] > 0 || slices.Contains(p.Row, v) {
			continue
		}
		if out.Reached.Contains(uint32(v)) {
			t.Errorf("node %d has neither neighbours nor attributes and is reached", v)
		}
		if got := out.Scores.Row(v); alone == nil {
			alone = slices.Clone(got)
		} else if !slices.Equal(got, alone) {
			t.Errorf("node %d of which nothing is known has the scores %v, another %v", v, got, alone)
		}
	}
	if alone == nil {
		t.Error("no node is alone")
	}
}

func TestAttributesLeakNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	draws := 3.0
	if testgraph.Hunt {
		draws = 6
	}
	without, strangers := 0.0, 0.0
	for seed := range uint64(draws) {
		p, class := contract.Blocks(t, seed, 400, 80, 4, 5, 0.5)
		without += contract.Accuracy(p, evident(t, p, &settings{}).Class, class) / draws
		rng := rand.New(rand.NewPCG(3, seed))
		others := slices.Clone(class)
		rng.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
		p.Attributes = wordsOf(rng, others, 0.4, 0.04)
		strangers += contract.Accuracy(p, evident(t, p, &settings{}).Class, class) / draws
		if seed > 0 {
			continue
		}
		p.Attributes = wordsOf(rng, class, 0.4, 0.04)
		rng.Shuffle(len(p.Class), func(i, j int) { p.Class[i], p.Class[j] = p.Class[j], p.Class[i] })
		if out := evident(t, p, &settings{}); out.Accuracy > 0.25+3*out.Stderr {
			t.Errorf("shuffled labels: estimated %.2f ± %.2f", out.Accuracy, out.Stderr)
		}
	}
	if strangers < without-0.02 {
		t.Errorf("accuracy %.3f with the attributes of others, %.3f without", strangers, without)
	}
}

func noiseOf(rng *rand.Rand, n, d int) *sparse.Table {
	t, row := &sparse.Table{Rows: n, Cols: d}, make([]float32, d)
	for v := range n {
		for j := range row {
			row[j] = float32(rng.NormFloat64())
		}
		t.Set(v, row)
	}
	return t
}

func TestUselessAttributes(t *testing.T) {
	const draws = 5
	var with, without float64
	for seed := range uint64(draws) {
		p, class := contract.Blocks(t, seed, 400, 20, 4, 3.5, 0.6)
		without += contract.Accuracy(p, evident(t, p, &settings{}).Class, class) / draws
		p.Attributes = noiseOf(rand.New(rand.NewPCG(seed, 4)), 400, 10)
		with += contract.Accuracy(p, evident(t, p, &settings{}).Class, class) / draws
	}
	if without < 0.5 || with < without-0.1 {
		t.Errorf("accuracy %.3f with random attributes, %.3f without", with, without)
	}
}

// The estimate is the accuracy of chance, because λ of ridges and the best block are chosen without the held-out labels.
func TestFewLabelsTellNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of draws")
	}
	draws := 20.0
	if testgraph.Hunt {
		draws = 60
	}
	var told, found float64
	for seed := range uint64(draws) {
		p, class := contract.Blocks(t, seed, 150, 24, 3, 0.5, 0.5)
		p.Attributes = noiseOf(rand.New(rand.NewPCG(seed, 5)), 150, 80)
		out := evident(t, p, &settings{Settings: engine.Settings{RNGSeed: seed}})
		told += out.Accuracy / draws
		found += contract.Accuracy(p, out.Class, class) / draws
	}
	if told > found+0.03 {
		t.Errorf("estimated %.3f, found %.3f", told, found)
	}
}

func TestStack(t *testing.T) {
	class, rng := make([]int, 60), rand.New(rand.NewPCG(6, 6))
	for i := range class {
		class[i] = i % 4
	}
	random := func(most float64) component {
		return steady(class, 4, func(int) float64 { return most * rng.Float64() })
	}
	h := heldOutOf(class, 4, []component{random(0.8), random(0.8), random(0.6)}, random(0.7))
	h.components[0].Alone, h.components[1].Free, h.poisson.Poisson = true, true, true
	among := func(i int) bool { return i%5 > 0 }
	likelihood := func(mixture []component) (sum float64) {
		for _, s := range mixture {
			beforehand := 0.1
			if s.Alone || s.Poisson {
				beforehand = 1
			}
			sum += beforehand * math.Log(s.Weight)
		}
		for i := range class {
			if q := 0.0; among(i) {
				for _, s := range mixture {
					q += s.Weight * h.truth(&s, i)
				}
				sum += math.Log(q)
			}
		}
		return sum
	}
	got := h.stack(h.likeliest(among), among)
	total, most := 0.0, likelihood(got)
	for _, s := range got {
		total += s.Weight
	}
	if len(got) < 3 || math.Abs(total-1) > 1e-12 {
		t.Fatalf("%d components with the sum %v", len(got), total)
	}
	for i := range got {
		for j := range got {
			near := slices.Clone(got)
			near[i].Weight += 0.02
			if near[j].Weight -= 0.02; i != j && near[j].Weight > 0 && likelihood(near) > most {
				t.Errorf("weights %d and %d: %v is likelier than %v", i, j, likelihood(near), most)
			}
		}
	}
	h.poisson = steady(class, 4, func(i int) float64 { return 0.99 })
	h.poisson.Poisson = true
	if got = h.stack(h.likeliest(among), among); !got[0].Poisson || got[0].Weight < 0.9 {
		t.Errorf("mixture %+v, want next to all for Poisson learning, which is right", got)
	}
}

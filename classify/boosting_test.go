package classify

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// boostingProblem returns items with two columns of numbers, a column of six categories, and missing values, for every loss.
// There are at most 255 items, so that each value has its own bin.
func boostingProblem(seed uint64, n int, loss Loss) *Boosting {
	rng := rand.New(rand.NewPCG(seed, 1))
	b := &Boosting{X: sparse.NewBlock[float32](n, 3), IsCategory: []bool{false, false, true}, Loss: loss, Classes: 4, Hidden: HideEach(3), Targets: sparse.NewBlock[float64](n, 2)}
	for i := range n {
		x := b.X.Row(i)
		x[0] = float32(rng.NormFloat64())
		x[1] = float32(rng.NormFloat64())
		x[2] = float32(rng.IntN(6))
		class := 0
		if x[0] > 0 == (x[1] > 0) {
			class = 1
		}
		if int(x[2])%2 == 1 && rng.Float64() < 0.7 {
			class = 3
		}
		b.Class = append(b.Class, class)
		b.Targets.Row(i)[0] = float64(class & 1)
		b.Targets.Row(i)[1] = float64(class >> 1)
		if loss == SquaredLoss {
			b.Targets.Row(i)[0] = 1e6*rng.NormFloat64() + float64(class)*1e6
		}
		b.Fold = append(b.Fold, rng.IntN(3))
		for j := range x {
			if rng.Float64() < 0.1 {
				x[j] = float32(math.NaN())
			}
		}
	}
	return b
}

// plainTree grows a tree on the rows of items in train by comparing all divisions of the rows of each leaf, and returns the
// value of each item.
func plainTree(b *Boosting, train []bool, first, second []float64) []float64 {
	type group struct {
		left  func(i int) bool
		gain  float64
		items []int
	}
	sums := func(items []int) (g, h, count float64) {
		for _, i := range items {
			if train[i] {
				g += first[i]
				h += second[i]
				count++
			}
		}
		return g, h, count
	}
	search := func(l *group) {
		l.gain = 1e-9
		g, h, count := sums(l.items)
		if count < 2*treeRows {
			return
		}
		try := func(ridge float64, left func(i int) bool) {
			var a []int
			for _, i := range l.items {
				if left(i) {
					a = append(a, i)
				}
			}
			gl, hl, n := sums(a)
			if n < treeRows || count-n < treeRows {
				return
			}
			gr := g - gl
			if gain := gl*gl/(hl+1+ridge) + gr*gr/(h-hl+1+ridge) - g*g/(h+1); gain > l.gain*(1+1e-9) {
				l.gain = gain
				l.left = left
			}
		}
		for j := range b.X.Cols {
			var values []float32
			missing := 0.0
			for i := range b.X.Rows {
				if x := b.X.Row(i)[j]; x == x {
					values = append(values, x)
				} else if train[i] && slices.Contains(l.items, i) {
					missing++
				}
			}
			slices.Sort(values)
			values = slices.Compact(values)
			if b.IsCategory[j] {
				shares := make([]float64, len(values)+1)
				place := make([]int, b.X.Rows)
				members := make([][]int, len(values)+1)
				for i := range place {
					var isListed bool
					if place[i], isListed = slices.BinarySearch(values, b.X.Row(i)[j]); !isListed {
						place[i] = len(values)
					}
				}
				for _, i := range l.items {
					members[place[i]] = append(members[place[i]], i)
				}
				order := []int{len(values)}
				rare := members[len(values)]
				isRare := make([]bool, len(values)+1)
				isRare[len(values)] = true
				for c := range values {
					if _, _, n := sums(members[c]); n < rareCategory {
						rare = append(rare, members[c]...)
						isRare[c] = true
						continue
					}
					order = append(order, c)
					g, h, _ := sums(members[c])
					shares[c] = g / (h + categorySmoothing)
				}
				gRare, hRare, _ := sums(rare)
				shares[len(values)] = gRare / (hRare + categorySmoothing)
				slices.SortStableFunc(order, func(a, b int) int {
					if shares[a] < shares[b] {
						return -1
					}
					return 1
				})
				for last := range order {
					list := order[:last+1]
					try(categoryRidge, func(i int) bool {
						c := place[i]
						if isRare[c] {
							c = len(values)
						}
						return slices.Contains(list, c)
					})
				}
				continue
			}
			var cuts []float32
			for i := 1; i < len(values); i++ {
				cuts = append(cuts, (values[i-1]+values[i])/2)
			}
			if missing > 0 {
				cuts = append(cuts, float32(math.Inf(1)))
			}
			for side := range 2 {
				if side == 1 && missing == 0 {
					continue
				}
				for _, cut := range cuts {
					majority := false
					if missing == 0 {
						below := 0.0
						for _, i := range l.items {
							if train[i] && b.X.Row(i)[j] <= cut {
								below++
							}
						}
						majority = 2*below > count
					}
					try(0, func(i int) bool {
						x := b.X.Row(i)[j]
						return x <= cut || x != x && (side == 1 || majority)
					})
				}
			}
		}
	}
	root := group{}
	for i := range train {
		root.items = append(root.items, i)
	}
	search(&root)
	leaves := []group{root}
	for len(leaves) < treeLeaves {
		best := 0
		for l := range leaves {
			if leaves[l].gain > leaves[best].gain {
				best = l
			}
		}
		if leaves[best].left == nil {
			break
		}
		var left, right group
		for _, i := range leaves[best].items {
			if leaves[best].left(i) {
				left.items = append(left.items, i)
			} else {
				right.items = append(right.items, i)
			}
		}
		search(&left)
		search(&right)
		leaves[best] = left
		leaves = append(leaves, right)
	}
	value := make([]float64, len(train))
	for _, l := range leaves {
		g, h, _ := sums(l.items)
		for _, i := range l.items {
			value[i] = -treeShrinkage * g / (h + treeRidge)
		}
	}
	return value
}

// plainBoosting returns the scores of each item without its fold, by rounds of plainTree.
func plainBoosting(b *Boosting) [][]float64 {
	held := make([][]float64, b.X.Rows)
	for fold := range b.Hidden {
		train := make([]bool, b.X.Rows)
		count := 0.0
		for i, f := range b.Fold {
			if train[i] = f != fold; train[i] {
				count++
			}
		}
		outputs := b.Targets.Cols
		target := func(i, o int) float64 { return b.Targets.Row(i)[o] }
		if b.Loss == SoftmaxLoss { // class 2 has no items
			outputs = 3
			target = func(i, o int) float64 {
				if b.Class[i] == []int{0, 1, 3}[o] {
					return 1
				}
				return 0
			}
		}
		score := make([][]float64, b.X.Rows)
		for i := range score {
			score[i] = make([]float64, outputs)
		}
		for o := range outputs {
			sum := 0.0
			for i := range train {
				if train[i] {
					sum += target(i, o)
				}
			}
			base := math.Log((sum + 1) / (count - sum + 1))
			switch b.Loss {
			case SquaredLoss:
				base = sum / count
			case SoftmaxLoss:
				base = math.Log((sum + 1) / (count + 3))
			}
			for i := range score {
				score[i][o] = base
			}
		}
		for range b.Rounds {
			var updates [][]float64
			for o := range outputs {
				first := make([]float64, len(train))
				second := make([]float64, len(train))
				for i, z := range score {
					p := z[o]
					second[i] = 1
					switch b.Loss {
					case SoftmaxLoss:
						p = Softmax(nil, z)[o]
					case LogisticLoss:
						p = logistic(p)
					}
					if b.Loss != SquaredLoss {
						second[i] = p * (1 - p)
					}
					first[i] = p - target(i, o)
				}
				updates = append(updates, plainTree(b, train, first, second))
			}
			for o, list := range updates {
				for i, v := range list {
					score[i][o] += v
				}
			}
		}
		for i, f := range b.Fold {
			if f == fold {
				held[i] = score[i]
			}
		}
	}
	return held
}

func TestBoostingAgreesWithPlainTrees(t *testing.T) {
	defer func(list []float64) { factors = list }(factors)
	factors = []float64{1}
	for _, loss := range []Loss{SoftmaxLoss, LogisticLoss, SquaredLoss} {
		b := boostingProblem(3, 200, loss)
		b.Rounds = 3
		m, held, err := b.Fit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := plainBoosting(b)
		unit := 1.0
		if loss == SquaredLoss {
			unit = 1e6
		}
		for i := range want {
			fold := make([]float64, m.Outputs())
			m.AddModelTo(fold, b.X.Row(i), b.Fold[i], 1)
			for o, z := range held.Row(i) {
				if math.Abs(z-want[i][o]) > 1e-6*unit || math.Abs(z-fold[o]) > 1e-12*unit {
					t.Fatalf("loss %d: item %d has the score %v of output %d and %v by the model of its fold, want %v", loss, i, z, o, fold[o], want[i][o])
				}
			}
		}
	}
}

// Boosting has the same bits for any order of the items and any number of workers, contributions add up, probabilities sum to
// one, and a model survives JSON.
func TestBoostingProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		loss := Loss(rapid.IntRange(0, 2).Draw(t, "loss"))
		n := rapid.IntRange(0, 300).Draw(t, "items")
		b := boostingProblem(rapid.Uint64().Draw(t, "seed"), n, loss)
		b.MostRounds = 6
		if rapid.Bool().Draw(t, "pairs") {
			b.Hidden = [][]int{{0, 1}, {1, 2}, {0, 2}, {}}
		}
		m, held, err := b.Fit(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		order := rand.New(rand.NewPCG(uint64(n), 1)).Perm(n)
		again := *b
		again.X = sparse.NewBlock[float32](n, b.X.Cols)
		again.Targets = sparse.NewBlock[float64](n, b.Targets.Cols)
		again.Class = make([]int, n)
		again.Fold = make([]int, n)
		for i, from := range order {
			copy(again.X.Row(i), b.X.Row(from))
			copy(again.Targets.Row(i), b.Targets.Row(from))
			again.Class[i] = b.Class[from]
			again.Fold[i] = b.Fold[from]
		}
		again.Workers = rapid.IntRange(1, 7).Draw(t, "workers")
		m2, held2, err := again.Fit(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(m, m2) {
			t.Fatal("another order and number of workers give another model")
		}
		for i, from := range order {
			if !slices.Equal(held2.Row(i), held.Row(from)) {
				t.Fatal("another order gives other held-out scores")
			}
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		kept := new(BoostedTrees)
		if err := json.Unmarshal(text, kept); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			x := b.X.Row(i)
			scores := m.ScoresTo(nil, x)
			if !slices.Equal(kept.ScoresTo(nil, x), scores) {
				t.Fatal("a model from JSON has other scores")
			}
			for o, score := range scores {
				parts := make([]float64, m.Columns)
				sum := 0.0
				for model := range m.Models() {
					sum += m.AddContributionsTo(parts, x, model, o, 1/float64(m.Models()))
				}
				for _, v := range parts {
					sum += v
				}
				if math.Abs(sum-score) > 1e-9*(1+math.Abs(score)) {
					t.Fatalf("contributions add up to %v, the score is %v", sum, score)
				}
			}
			if loss == SoftmaxLoss {
				sum := 0.0
				for _, p := range m.PredictionTo(nil, scores) {
					sum += p
				}
				if math.Abs(sum-1) > 1e-12 {
					t.Fatalf("probabilities sum to %v", sum)
				}
			}
		}
	})
}

// If each output has its own columns, an output has the scores of a fit of the output alone on its columns.
func TestBoostingColumnsOfOutputs(t *testing.T) {
	defer func(list []float64) { factors = list }(factors)
	factors = []float64{1}
	b := boostingProblem(4, 300, LogisticLoss)
	b.Rounds = 4
	b.IsCategory = nil
	for j := range b.X.Cols {
		b.Output = append(b.Output, j%(b.Targets.Cols+1)-1)
	}
	_, held, err := b.Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for o := range b.Targets.Cols {
		alone := *b
		alone.Output = nil
		alone.Targets = sparse.NewBlock[float64](b.X.Rows, 1)
		var columns []int
		for j, user := range b.Output {
			if user < 0 || user == o {
				columns = append(columns, j)
			}
		}
		alone.X = sparse.NewBlock[float32](b.X.Rows, len(columns))
		for i := range b.X.Rows {
			alone.Targets.Row(i)[0] = b.Targets.Row(i)[o]
			for k, j := range columns {
				alone.X.Row(i)[k] = b.X.Row(i)[j]
			}
		}
		_, want, err := alone.Fit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.X.Rows {
			if held.Row(i)[o] != want.Row(i)[0] {
				t.Fatalf("item %d has the score %v of output %d, and %v without the columns of other outputs", i, held.Row(i)[o], o, want.Row(i)[0])
			}
		}
	}
}

// An exclusive or of two columns, of which neither alone says anything, is learned; so is a category whose order means
// nothing.
func TestBoostingLearns(t *testing.T) {
	b := boostingProblem(5, 3000, SoftmaxLoss)
	b.Workers = testgraph.Workers(0)[1]
	_, held, err := b.Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i, c := range b.Class {
		if []int{0, 1, 3}[ArgMax(held.Row(i))] == c {
			right++
		}
	}
	if share := float64(right) / 3000; share < 0.75 { // 0.85 without missing values
		t.Errorf("%v of the held-out items have the right class", share)
	}
}

// Ends: one item, one class, constant and missing columns, 500 classes, and infinite values.
func TestBoostingEnds(t *testing.T) {
	fit := func(n, classes, columns int, value func(i, j int) float64) *BoostedTrees {
		b := &Boosting{X: sparse.NewBlock[float32](n, columns), Classes: classes, Hidden: HideEach(2), MostRounds: 3}
		for i := range n {
			b.Class = append(b.Class, i%classes)
			b.Fold = append(b.Fold, i/classes%2)
			for j := range columns {
				b.X.Row(i)[j] = float32(value(i, j))
			}
		}
		m, held, err := b.Fit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range held.Data {
			if !finite(v) {
				t.Fatalf("%d items of %d classes: a score is %v", n, classes, v)
			}
		}
		return m
	}
	constant := func(int, int) float64 { return 7 }
	missing := func(int, int) float64 { return math.NaN() }
	if p := fit(1, 1, 2, constant); p.PredictionTo(nil, p.ScoresTo(nil, []float32{1, 2}))[0] != 1 {
		t.Error("the only class is not certain")
	}
	for _, value := range []func(int, int) float64{constant, missing} {
		m := fit(100, 3, 2, value)
		for _, c := range m.PredictionTo(nil, m.ScoresTo(nil, []float32{1, 2})) {
			if math.Abs(c-1./3) > 0.01 {
				t.Errorf("a class has the probability %v without columns that differ", c)
			}
		}
	}
	fit(1000, 500, 1, func(i, _ int) float64 { return float64(i % 500) })
	m := fit(200, 2, 1, func(i, _ int) float64 {
		switch {
		case i < 10:
			return math.NaN()
		case i%2 == 0:
			return math.Inf(-1)
		}
		return math.Inf(1)
	})
	if p := m.PredictionTo(nil, m.ScoresTo(nil, []float32{float32(math.Inf(1))})); p[1] < 0.6 {
		t.Errorf("infinite values are not told apart: probabilities %v", p)
	}
}

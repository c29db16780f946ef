package walks

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
)

// slowWalk returns P_0 … P_steps by the definition.
func slowWalk(p *engine.Problem, alpha float64, steps int, visible func(i int) bool) [][][]float64 {
	n, _ := p.A.Dims()
	k := len(p.Names)
	dense := p.A.(*sparse.CSR)
	label := make([]int, n)
	for i := range label {
		label[i] = -1
	}
	for i, row := range p.Row {
		if visible(i) {
			label[row] = p.Class[i]
		}
	}
	walk := make([][][]float64, steps+1)
	for t := range walk {
		walk[t] = make([][]float64, n)
		for i := range n {
			row := make([]float64, k)
			for c := range row {
				switch {
				case t > 0 && p.Degrees[i] == 0:
					row[c] = walk[t-1][i][c]
				case t > 0:
					for j := range n {
						row[c] += dense.At(i, j) / p.Degrees[i] * walk[t-1][j][c]
					}
				case label[i] < 0:
					row[c] = 1 / float64(k)
				}
				if label[i] >= 0 {
					if t > 0 {
						row[c] *= 1 - alpha
					}
					if c == label[i] {
						if t > 0 {
							row[c] += alpha
						} else {
							row[c] = 1
						}
					}
				}
			}
			walk[t][i] = row
		}
	}
	return walk
}

func slowReached(p *engine.Problem, visible func(i int) bool) []bool {
	n, _ := p.A.Dims()
	reached := make([]bool, n)
	for i, row := range p.Row {
		reached[row] = visible(i)
	}
	a := p.A.(*sparse.CSR)
	for range n {
		a.DoNonZero(func(i, j int, v float64) { reached[i] = reached[i] || reached[j] })
	}
	return reached
}

type slowItem struct {
	walk  [][][]float64
	row   int
	class int
}

func (s slowItem) kernel(o slowItem, from, to int) float64 {
	sum := 0.0
	for t := from; t <= to; t++ {
		for c, v := range s.walk[t][s.row] {
			sum += v * o.walk[t][o.row][c]
		}
	}
	return sum / float64(to-from+1)
}

// slowHits counts the right predictions of a model fitted to the dense Gram matrix. close counts predictions that rounding
// may change: decisions within 1e-3 of 0, and decisions of machines with nearly all support vectors at their bound, whose
// bias is open.
func slowHits(t *testing.T, train, test []slowItem, classes, largest int, par engine.Parameters, close *int64) int64 {
	n := len(train)
	data := make([]float64, n*n)
	y := make([]int, n)
	for i, a := range train {
		y[i] = a.class
		for j, b := range train {
			data[i*n+j] = a.kernel(b, par.MinSteps(), par.Steps())
		}
	}
	svm := &classify.SVM{Cost: par.Declared.Values.Number("cost"), Tolerance: 1e-6}
	model, err := svm.Fit(context.Background(), classify.DenseGram(sparse.BlockOf(n, n, data)), y, classes)
	oneClass := errors.Is(err, classify.ErrOneClass)
	if err != nil && !oneClass {
		t.Fatal(err)
	}
	open := false
	if !oneClass {
		for _, m := range model.Machines {
			open = open || m.Bounded >= len(m.Index)-1
		}
	}
	hits := int64(0)
	row := make([]float64, n)
	for _, a := range test {
		answer := largest
		if !oneClass {
			for j, b := range train {
				row[j] = a.kernel(b, par.MinSteps(), par.Steps())
			}
			decisions := model.ScoresTo(nil, row, 0)
			answer = model.Pairs.Predict(decisions)
			if open || slices.ContainsFunc(decisions, func(d float64) bool { return math.Abs(d) < 1e-3 }) {
				*close++
			}
		}
		if answer == a.class {
			hits++
		}
	}
	return hits
}

var oracleLists = contract.Lists(map[string][]param.Value{"alpha": param.Grid(0, 0.3, 0.9, 1), "steps": param.Grid(1, 2, 4, 9), "min-steps": param.Grid(1), "cost": param.Grid(4, 60, 900)}, Plain, Honest)

func TestCrossValidateAgainstOracle(t *testing.T) {
	oracleGrid := gridOf(t, oracleLists, "svm")
	p := contract.Planted(t, 6, 60, 21)
	set := &engine.Settings{Lists: oracleLists, RNGSeed: 5, Given: param.Values{"svm-tolerance": param.Of(1e-6)}}
	choice, err := chooseWalks(context.Background(), p, set)
	if err != nil {
		t.Fatal(err)
	}
	folds := choose.FoldCount(len(p.Row))
	fold := choose.DrawFolds(p, folds, set.RNGSeed, 0).Of
	want, close := make([]int64, oracleGrid.Size()), make([]int64, oracleGrid.Size())
	for _, alpha := range []float64{0, 0.3, 0.9, 1} {
		walks := make([][][][]float64, folds)
		reached := make([][]bool, folds)
		for f := range walks {
			visible := func(i int) bool { return fold[i] != f }
			walks[f] = slowWalk(p, alpha, 9, visible)
			reached[f] = slowReached(p, visible)
		}
		for f := range walks {
			var visible []int
			for i, c := range p.Class {
				if fold[i] != f {
					visible = append(visible, c)
				}
			}
			largest := choose.Majority(visible)
			for i := range want {
				par := settingAt(oracleGrid, i)
				if par.Alpha() != alpha {
					continue
				}
				var train, test []slowItem
				for i, row := range p.Row {
					own, class := fold[i], p.Class[i]
					switch {
					case own == f && reached[f][row]:
						test = append(test, slowItem{walks[f], row, class})
					case own == f:
						if class == largest {
							want[indexOf(oracleGrid, par)]++
						}
					case par.Features() == Plain:
						train = append(train, slowItem{walks[f], row, class})
					case reached[own][row]:
						train = append(train, slowItem{walks[own], row, class})
					}
				}
				want[i] += slowHits(t, train, test, len(p.Names), largest, par, &close[i])
			}
		}
	}
	compareHits(t, oracleGrid, total(choice.Found.Counts), want, close)
	if choice.Accuracy != float64(total(choice.Found.Counts)[indexOf(oracleGrid, choice.Parameters)])/float64(len(p.Row)) {
		t.Errorf("accuracy %v of %v", choice.Accuracy, choice.Parameters)
	}
}

// compareHits requires equal hits where no decision was close, and elsewhere no more difference than the close decisions.
func compareHits(t *testing.T, g *job, got, want, close []int64) {
	clear := 0
	for i := range want {
		if close[i] == 0 {
			clear++
		}
		if d := got[i] - want[i]; max(d, -d) > close[i] {
			t.Errorf("%v: %d hits, want %d", settingAt(g, i), got[i], want[i])
		}
	}
	if clear < len(want)/2 {
		t.Errorf("only %d of %d settings are clear", clear, len(want))
	}
}

func indexOf(g *job, par engine.Parameters) int {
	for i := range g.Size() {
		if one := settingAt(g, i); maps.Equal(one.Kernel.Values, par.Kernel.Values) && one.Declared.Values["cost"] == par.Declared.Values["cost"] {
			return i
		}
	}
	return -1
}

func TestChooseOnSplitsAgainstOracle(t *testing.T) {
	oracleGrid := gridOf(t, oracleLists, "svm")
	p := contract.Planted(t, 2, 60, 50)
	splits, err := choose.Draw(p.Class, choose.Design{Fraction: 0.5, Tuning: true}, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	set := &engine.Settings{Lists: oracleLists, RNGSeed: 5, Given: param.Values{"svm-tolerance": param.Of(1e-6)}}
	choice, err := chooseWalksOnSplits(context.Background(), p, splits, set)
	if err != nil {
		t.Fatal(err)
	}
	want, close := make([]int64, oracleGrid.Size()), make([]int64, oracleGrid.Size())
	for i := range splits.Len {
		s := splits.At(i)
		train := p.At(s.Train)
		count := choose.FoldCount(len(train.Row))
		fold := choose.DrawFolds(train, count, set.RNGSeed, 0).Of
		largest := choose.Majority(train.Class)
		all := func(int) bool { return true }
		reached := slowReached(train, all)
		var hidden [][]bool
		for f := range count {
			hidden = append(hidden, slowReached(train, func(i int) bool { return fold[i] != f }))
		}
		for _, alpha := range []float64{0, 0.3, 0.9, 1} {
			full := slowWalk(train, alpha, 9, all)
			var folds [][][][]float64
			for f := range count {
				folds = append(folds, slowWalk(train, alpha, 9, func(i int) bool { return fold[i] != f }))
			}
			for i := range want {
				par := settingAt(oracleGrid, i)
				if par.Alpha() != alpha {
					continue
				}
				var items, test []slowItem
				for i, row := range train.Row {
					own, class := fold[i], train.Class[i]
					if par.Features() == Plain {
						items = append(items, slowItem{full, row, class})
					} else if hidden[own][row] {
						items = append(items, slowItem{folds[own], row, class})
					}
				}
				for _, at := range s.Test {
					row, class := p.Row[at], p.Class[at]
					if reached[row] {
						test = append(test, slowItem{full, row, class})
					} else if class == largest {
						want[i]++
					}
				}
				want[i] += slowHits(t, items, test, len(p.Names), largest, par, &close[i])
			}
		}
	}
	compareHits(t, oracleGrid, total(choice.Found.Counts), want, close)
}

func TestPredictAgainstOracle(t *testing.T) {
	p := contract.Planted(t, 3, 80, 40)
	for _, kind := range []string{Plain, Honest} {
		par := walkWith(onWalk(0.6, 6, 1, kind), costOf(4))
		set := &engine.Settings{RNGSeed: 8, Given: param.Values{"svm-tolerance": param.Of(1e-6)}}
		got, err := predictWalksWith(context.Background(), p, par, set)
		if err != nil {
			t.Fatal(err)
		}
		all := func(int) bool { return true }
		full, reached := slowWalk(p, par.Alpha(), par.Steps(), all), slowReached(p, all)
		var train []slowItem
		var y []int
		cost := 4.0
		if kind == Plain {
			for i, row := range p.Row {
				train, y = append(train, slowItem{full, row, p.Class[i]}), append(y, p.Class[i])
			}
		} else {
			cost /= fewPartitions
			for d := range uint64(fewPartitions) {
				fold := choose.DrawFolds(p, choose.FoldCount(len(p.Row)), set.RNGSeed, d).Of
				for i, row := range p.Row {
					visible := func(j int) bool { return fold[j] != fold[i] }
					if slowReached(p, visible)[row] {
						walk := slowWalk(p, par.Alpha(), par.Steps(), visible)
						train, y = append(train, slowItem{walk, row, p.Class[i]}), append(y, p.Class[i])
					}
				}
			}
		}
		m := len(train)
		gram := sparse.BlockOf(m, m, make([]float64, m*m))
		for i, a := range train {
			for j, b := range train {
				gram.Data[i*m+j] = a.kernel(b, par.MinSteps(), par.Steps())
			}
		}
		model, err := (&classify.SVM{Cost: cost, Tolerance: 1e-6}).Fit(context.Background(), classify.DenseGram(gram), y, 3)
		if err != nil {
			t.Fatal(err)
		}
		labelled := make(map[int]int)
		for i, row := range p.Row {
			labelled[row] = p.Class[i]
		}
		share := make([]float64, 3)
		power := math.NaN()
		for i := range reached {
			sum := 0.0
			for _, v := range got.Scores.Row(i) {
				sum += float64(v)
			}
			if math.Abs(sum-1) > 1e-6 {
				t.Errorf("%s: scores of row %d sum to %v", kind, i, sum)
			}
			if got.Reached.Contains(uint32(i)) != reached[i] {
				t.Errorf("%s: row %d: reached %v", kind, i, !reached[i])
			}
			class, known := labelled[i]
			if !reached[i] {
				for c, v := range got.Scores.Row(i) {
					if want := 1.0 / 3; math.Abs(float64(v)-want) > 1e-6 { // walks began with the uniform prior
						t.Errorf("%s: score %d of unreached row %d: %v, want %v", kind, c, i, v, want)
					}
				}
				if want := choose.Majority(p.Class); got.Class[i] != want {
					t.Errorf("%s: unreached row %d is of class %d, want %d", kind, i, got.Class[i], want)
				}
				continue
			}
			k := make([]float64, m)
			for j, b := range train {
				k[j] = slowItem{full, i, 0}.kernel(b, par.MinSteps(), par.Steps())
			}
			classify.SoftVotes(share, model.Pairs, model.ScoresTo(nil, k, 0), choose.VoteSlope)
			for c := range share {
				ratio := math.Log(share[c] / share[0])
				if math.Abs(ratio) < 0.05 || got.Scores.Row(i)[c] < 1e-4 || got.Scores.Row(i)[0] < 1e-4 {
					continue
				}
				p := math.Log(float64(got.Scores.Row(i)[c])/float64(got.Scores.Row(i)[0])) / ratio
				if math.IsNaN(power) {
					power = p
				}
				if math.Abs(p-power) > 0.02*power {
					t.Errorf("%s: row %d: scores are votes to the power %v, want %v", kind, i, p, power)
				}
			}
			want := classify.ArgMax(share)
			if known {
				want = class
			}
			if got.Class[i] != want {
				t.Errorf("%s: row %d is of class %d, want %d", kind, i, got.Class[i], want)
			}
		}
		if math.IsNaN(power) || math.Abs(power-1) < 0.05 {
			t.Errorf("%s: scores are votes to the power %v", kind, power)
		}
	}
}

func total(c *choose.Counts) []int64 {
	sums := make([]int64, c.Candidates)
	for i, n := range c.Right {
		sums[i%c.Candidates] += int64(n)
	}
	return sums
}

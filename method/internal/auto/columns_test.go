package auto

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
	"github.com/heatwalk/heatwalk/test/contract"
)

// slowFilters returns Σ_j c_j·(T^j·D^-p·Y)_vc of every filter, node and class by the definition, from the visible labels.
func slowFilters(p *problem.Problem, visible func(i int) bool) [][undirectedFilters][]float64 {
	n, k := len(p.Degrees), len(p.Names)
	a := p.A.(*sparse.CSR)
	unit := blocks.WeightUnit(p.A, p.Degrees)
	out := make([][undirectedFilters][]float64, n)
	for v := range out {
		for f := range out[v] {
			out[v][f] = make([]float64, k)
		}
	}
	x := make([][]float64, n)
	for v := range x {
		x[v] = make([]float64, k)
	}
	for i, row := range p.Row {
		if visible(i) && p.Degrees[row] > 0 {
			x[row][p.Class[i]] = unit / p.Degrees[row]
		}
	}
	for j := range walkSteps + 1 {
		for v := range n {
			for c, mass := range x[v] {
				for f := range undirectedFilters {
					switch w := math.Pow; {
					case filter(f) == source:
						out[v][f][c] += mass
					case f <= int(decay95):
						out[v][f][c] += w([]float64{0.85, 0.95}[f], float64(j)) * mass
					case filter(f) >= first && f-int(first)+1 == j:
						out[v][f][c] += mass
					}
				}
			}
		}
		next := make([][]float64, n)
		for v := range next {
			next[v] = make([]float64, k)
			for u := range n {
				if w := a.At(v, u); w != 0 {
					for c := range k {
						next[v][c] += w / p.Degrees[v] * x[u][c]
					}
				}
			}
			if p.Degrees[v] == 0 {
				copy(next[v], x[v])
			}
		}
		x = next
	}
	return out
}

func walked(t *testing.T, p *problem.Problem) (*seeds, *walkFeatures) {
	t.Helper()
	s := newSeeds(inputOf(t, p, &settings{Settings: engine.Settings{RNGSeed: 5, Workers: 2}}))
	walks, err := s.walk(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return s, walks
}

func TestFilters(t *testing.T) {
	for _, labels := range []int{14, 40} {
		p := contract.Planted(t, 9, 60, labels)
		s, walks := walked(t, p)
		near := func(what string, got float32, want float64) {
			if math.Abs(float64(got)-want) > 1e-5*(math.Abs(want)+1) {
				t.Errorf("%d labels: %s is %v, want %v", labels, what, got, want)
			}
		}
		full := slowFilters(p, func(int) bool { return true })
		for v := range full {
			for f := range undirectedFilters {
				for c, want := range full[v][f] {
					near(fmt.Sprintf("filter %d of class %d at node %d", f, c, v), walks.row(v)[f*3+c], want)
				}
			}
		}
		got := make([]float32, undirectedFilters*3)
		slow := map[[2]int][][undirectedFilters][]float64{}
		for i, row := range p.Row {
			for _, without := range []int{-1, 0, 3} {
				others := func(o int) bool { return s.fold[o] != s.fold[i] && s.fold[o] != without }
				key := [2]int{s.fold[i], without}
				if slow[key] == nil {
					slow[key] = slowFilters(p, others)
				}
				honest := slow[key][row]
				var left, all [3]float64
				for o, c := range p.Class {
					all[c]++
					if others(o) {
						left[c]++
					}
				}
				s.honestTo(got, walks, i, without)
				for f := range undirectedFilters {
					for c, want := range honest[f] {
						if left[c] > 0 {
							want *= all[c] / left[c]
						}
						near(fmt.Sprintf("honest filter %d of class %d at label %d without %d", f, c, i, without), got[f*3+c], want)
					}
				}
			}
		}
		if hidden := slices.Max(s.fold) + 1; hidden != map[int]int{14: 14, 40: 10}[labels] {
			t.Errorf("%d labels are hidden in %d folds", labels, hidden)
		}
	}
}

// Where a label is the only one of its class, others see the walks from the other folds alone. Classes with two labels in a
// fold are scaled.
func TestLabelsOfSmallClasses(t *testing.T) {
	p, _ := contract.Blocks(t, 4, 200, 60, 30, 4, 0.5)
	f := featuresOf(t, p, &settings{Settings: engine.Settings{Effort: engine.LowEffort}})
	scaled := map[[2]int]int{}
	for i, c := range p.Class {
		scaled[[2]int{f.fold[i], c}]++
	}
	row := make([]float32, f.walks.cols)
	compared := 0
	for fold := range f.in.folds {
		var others []int
		for i := range p.Row {
			if f.fold[i] != fold {
				others = append(others, i)
			}
		}
		left := featuresOf(t, p.At(others), &settings{Settings: engine.Settings{Effort: engine.LowEffort}})
		for i, v := range p.Row {
			if f.fold[i] != fold {
				continue
			}
			f.seeds.honestTo(row, f.walks, i, -1)
			for column, got := range row {
				class := column % 30
				want := left.walks.row(v)[column]
				if scaled[[2]int{fold, class}] <= 1 && math.Abs(float64(got-want)) > 1e-5*(1+float64(want)) {
					t.Errorf("column %d of label %d is %v, without its fold %v", column, i, got, want)
				}
				compared += int(boolean(want > 0))
			}
			for class, got := range f.inFold[fold].prior {
				if want := left.columns.prior[class]; scaled[[2]int{fold, class}] <= 1 && math.Abs(got-want) > 0.1*want {
					t.Errorf("the share of class %d for fold %d is %v, of the labels left %v", class, fold, got, want)
				}
			}
		}
	}
	if compared == 0 {
		t.Error("no walk reaches a label")
	}
}

// Labels drawn by class are no random sample: a class with one label less in a fold would name the class of the label.
func TestLabelsDrawnByClass(t *testing.T) {
	p, _ := contract.Blocks(t, 4, 200, 59, 30, 4, 0.5)
	for i := range p.Class {
		p.Class[i] = i / 2
	}
	s := newSeeds(inputOf(t, p, &settings{Settings: engine.Settings{Effort: engine.LowEffort}}))
	for fold, evidence := range s.evidence {
		for class, got := range evidence {
			if want := float64(s.labels[class]); got != want {
				t.Errorf("fold %d represents %v labels of class %d, which has %v", fold, got, class, want)
			}
		}
	}
}

func TestColumns(t *testing.T) {
	ctx := context.Background()
	p := contract.Planted(t, 9, 60, 30)
	s, walks := walked(t, p)
	graph, err := newGraphColumns(ctx, p, 1, new(graph.Work))
	if err != nil {
		t.Fatal(err)
	}
	count := choose.CountsOf(s.in.p)
	got, err := newColumns(ctx, s.in, count, walks, graph)
	if err != nil {
		t.Fatal(err)
	}
	n, k, m := len(p.Degrees), 3, float64(len(p.Row))
	slow := slowFilters(p, func(int) bool { return true })
	prior, share, logs := make([]float64, k), make([]float64, k), make([]float64, k)
	for c := range k {
		for _, class := range p.Class {
			if class == c {
				share[c] += 1 / m
			}
		}
		prior[c] = (share[c]*m + 1) / (m + float64(k))
	}
	for c := range k {
		logs[c] = math.Log(prior[c]) - (math.Log(prior[0])+math.Log(prior[1])+math.Log(prior[2]))/3
	}
	sum := func(x []float64) float64 { return x[0] + x[1] + x[2] }
	epsilon := func(f filter) float64 {
		total, of := 0.0, 0.0
		for v := range n {
			if q := sum(slow[v][f]); q > 1e-12 {
				total += q
				of++
			}
		}
		return 0.05 * total / of
	}
	shareOf := func(v int, f filter, c int) float64 {
		return (slow[v][f][c] + epsilon(f)*prior[c]) / (sum(slow[v][f]) + epsilon(f))
	}
	shared := func(v, column, c int) float64 {
		switch {
		case column == 0:
			q := slow[v][source]
			return (q[c] - share[c]*sum(q)) / (sum(q) + epsilon(source))
		case column <= 3:
			return math.Log(shareOf(v, []filter{decay85, decay95, source}[column-1], c) / prior[c])
		}
		return logs[c]
	}
	free := func(v, column int) float64 {
		if column < 12 {
			return shareOf(v, []filter{first, second, third, fourth}[column/3], column%3)
		}
		around := 0.0
		for u := range n {
			around += p.A.(*sparse.CSR).At(v, u) * p.Degrees[u] / max(p.Degrees[v], 1e-300)
		}
		unit := blocks.WeightUnit(p.A, p.Degrees)
		own, other := math.Log(1+p.Degrees[v]/unit), math.Log(1+around/unit)
		return []float64{own, own * own, other, other * other}[column-12]
	}
	const some = 17
	y, x := make([]float64, got.design.sharedCount()*k), make([]float64, got.freeCount())
	got.sharedTo(y, walks.row(some))
	got.freeTo(x, walks.row(some), some)
	if len(y) != 5*k || len(x) != 16 {
		t.Fatalf("%d shared and %d free columns", len(y), len(x))
	}
	for i := range y {
		squares, of := 0.0, 0.0
		for v := range n {
			for c := range k {
				if p.Degrees[v] > 0 {
					squares += math.Pow(shared(v, i/k, c), 2)
					of++
				}
			}
		}
		want := max(-5, min(shared(some, i/k, i%k)/math.Sqrt(squares/of+1e-9), 5))
		if math.Abs(y[i]-want) > 1e-4 {
			t.Errorf("shared column %d of class %d is %v, want %v", i/k, i%k, y[i], want)
		}
	}
	for i := range x {
		var mean, square, of float64
		for v := range n {
			if p.Degrees[v] > 0 {
				mean += free(v, i)
				square += math.Pow(free(v, i), 2)
				of++
			}
		}
		mean /= of
		want := max(-6, min((free(some, i)-mean)/(math.Sqrt(square/of-mean*mean)+1e-6), 6))
		if math.Abs(x[i]-want) > 1e-3 {
			t.Errorf("free column %d is %v, want %v", i, x[i], want)
		}
	}
}

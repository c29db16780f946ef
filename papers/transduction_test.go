package papers

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestGPTransductionGolden(t *testing.T) {
	for _, name := range []string{"karate", "wrand60"} {
		g := testgraph.Load(t, name)
		seeds := cwk.Seeds{Row: g.Train, Class: g.TrainClass, Classes: len(g.Classes)}
		labelled := map[int]bool{}
		for _, row := range g.Train {
			labelled[row] = true
		}
		for _, beta := range []float64{0, 0.1} {
			given := param.Values{"alpha": param.Of(1.0), "variance": param.Of(4.0), "laplacian": param.Of("combinatorial"), "balance": param.Of(beta)}
			file := fmt.Sprintf("%s/gp_transduction_b%.1f_", name, beta)
			got := contract.Scores(t, &gpTransduction, contract.GraphOf(t, g.A, 0), []cwk.Seeds{seeds}, given, nil)
			testgraph.Close(t, got, testgraph.Golden(t, file+"t.npy"), 1e-8, 1e-8)
			rough := contract.Scores(t, &gpTransduction, contract.GraphOf(t, g.A, 0), []cwk.Seeds{seeds}, given,
				&propagate.Settings{Tolerance: gpTransduction.ChoiceTolerance})
			testgraph.Close(t, rough, testgraph.Golden(t, file+"t.npy"), 0, 0.1) // ten times the last change
			given["rounds"] = param.Of(1)
			one := contract.Scores(t, &gpTransduction, contract.GraphOf(t, g.A, 0), []cwk.Seeds{seeds}, given, nil)
			testgraph.Close(t, one, testgraph.Golden(t, file+"t_round1.npy"), 1e-8, 1e-8)
			v, err := gpTransduction.Resolve(given, nil)
			if err != nil {
				t.Fatal(err)
			}
			v["assign"] = param.Of("shares")
			theta, class, err := gpTransduction.Decide(nil, got, seeds, v)
			if err != nil {
				t.Fatal(err)
			}
			for c, want := range testgraph.Golden(t, file+"theta.npy").Data {
				if d := math.Abs(theta[c] - want); d > 1e-8*(1+math.Abs(want)) {
					t.Errorf("%s: Θ of class %d is %v, want %v", file, c, theta[c], want)
				}
			}
			v["assign"] = param.Of("likeliest")
			if same, none, err := gpTransduction.Decide(nil, got, seeds, v); err != nil || none != nil || !slices.Equal(same, theta) {
				t.Error("the likeliest classes are assigned by shares", err)
			}
			quota := testgraph.Golden(t, file+"quota.npy").Data
			q, row, at := testgraph.Golden(t, file+"q.npy"), make([]float64, len(theta)), 0
			for i := range got.Rows {
				if labelled[i] {
					continue
				}
				for c := range row {
					row[c] = got.Row(i)[c] + theta[c]
				}
				if class[i] != int(quota[at]) {
					t.Errorf("%s: node %d has class %d, want %v", file, i, class[i], quota[at])
				}
				classify.Softmax(row, row)
				for c, want := range q.Row(at) {
					if d := math.Abs(row[c] - want); d > 1e-8 {
						t.Errorf("%s: node %d has class %d with %v, want %v", file, i, c, row[c], want)
					}
				}
				at++
			}
		}
	}
}

func TestQuotas(t *testing.T) {
	for _, c := range []struct{ count, want []int }{
		{[]int{1, 1}, []int{4, 3}}, {[]int{3, 0, 4}, []int{3, 0, 4}}, {[]int{1, 1, 1, 1}, []int{2, 2, 2, 1}}, {[]int{1, 5}, []int{1, 6}},
	} {
		if got := quotas(c.count, 7); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.count, got, c.want)
		}
	}
}

// A class without a label has no part in the stationary point.
func TestGPTransductionWithoutBalance(t *testing.T) {
	p := testgraph.Planted(t, 3, 60, 14)
	k := len(p.Names)
	seeds := cwk.Seeds{Row: p.Row, Class: p.Class, Classes: k + 1}
	g := contract.GraphOf(t, p.A, 0)
	given := param.Values{"balance": param.Of("none"), "alpha": param.Of(3.0), "variance": param.Of(20.0), "laplacian": param.Of("combinatorial"), "rounds": param.Of(2000)}
	f := contract.Scores(t, &gpTransduction, g, []cwk.Seeds{seeds}, given, nil)
	step, of := contract.Transition(t, p.A), map[int]int{}
	for a, row := range p.Row {
		of[row] = p.Class[a]
	}
	share := make([]float64, k)
	for i := range f.Rows {
		if !math.IsInf(f.Row(i)[k], -1) {
			t.Fatalf("node %d scores %v for a class without a label", i, f.Row(i)[k])
		}
		classify.Softmax(share, f.Row(i)[:k])
		for c := range k {
			laplacian := g.Degrees[i] * f.Row(i)[c]
			for j := range f.Rows {
				if g.Degrees[i] > 0 {
					laplacian -= g.Degrees[i] * step.At(i, j) * f.Row(j)[c]
				}
			}
			slope := (f.Row(i)[c] + 3*laplacian) / 20
			if class, labelled := of[i]; labelled {
				slope += share[c]
				if class == c {
					slope--
				}
			}
			if math.Abs(slope) > 1e-9 {
				t.Errorf("node %d, class %d: the derivative is %v", i, c, slope)
			}
		}
	}
}

// Probabilities agree to nine digits, the offset included.
func TestSharesAmongEquals(t *testing.T) {
	f := sparse.BlockOf(6, 2, []float64{0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1 + 1e-12, 0})
	seeds := cwk.Seeds{Row: []int{0, 1}, Class: []int{0, 1}, Classes: 2}
	if got := assignShares(f, nil, seeds); !slices.Equal(got, []int{0, 1, 0, 0, 1, 1}) {
		t.Errorf("classes %v", got)
	}
	f = sparse.BlockOf(6, 3, []float64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -9, 0, 0, 1, -9, 0, -9, 9})
	seeds = cwk.Seeds{Row: []int{0, 1, 2}, Class: []int{0, 1, 2}, Classes: 3}
	for _, c := range []struct {
		offset []float64
		first  int // node of class 0
	}{{nil, 3}, {[]float64{0, -9, 0}, 4}} {
		if got := assignShares(f, c.offset, seeds); got[c.first] != 0 {
			t.Errorf("offset %v: classes %v", c.offset, got)
		}
	}
}

// The first round has known targets ν, one-hot at labels and 1/k elsewhere, so that the gradient classify.Softmax(t) − ν + (I
// + γL)·t/σ² must vanish to the tolerance. Its norm times σ² bounds the error of t, because the second derivative is at least
// I/σ².
func TestGPTransductionWeakLinks(t *testing.T) {
	const n, k, gamma, variance = 24, 2, 10.0, 100.0
	for name, weight := range map[string]func(i, j int) float64{
		"two clusters": func(i, j int) float64 {
			return math.Exp(-float64((i%12-j%12)*(i%12-j%12))) * max(3e-13, float64(1-(i/12+j/12)%2))
		},
		"growing weights": func(i, j int) float64 { return math.Pow(10, float64(i+j)/4-6) },
		"path": func(i, j int) float64 {
			return max(0, 2-math.Abs(float64(i-j))) * math.Pow(10, float64(min(i, j)%13)-6)
		},
		"star": func(i, j int) float64 { return max(0, 1-float64(min(i, j))) * math.Pow(10, float64(max(i, j)%13)-12) },
	} {
		var list []sparse.Triplet
		dense := [n][n]float64{}
		for i := range n {
			for j := range n {
				if w := weight(i, j); i != j && w > 0 {
					list, dense[i][j] = append(list, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: w}), w
				}
			}
		}
		a, err := sparse.FromTriplets(n, n, list)
		if err != nil {
			t.Fatal(err)
		}
		seeds := cwk.Seeds{Row: []int{2, 17}, Class: []int{0, 1}, Classes: k}
		for _, laplacian := range []string{"combinatorial", "normalized"} {
			got := contract.Scores(t, &gpTransduction, contract.GraphOf(t, a, 1), []cwk.Seeds{seeds}, param.Values{
				"laplacian": param.Of(laplacian), "alpha": param.Of(gamma), "variance": param.Of(variance), "balance": param.Of("none"), "rounds": param.Of(1),
			}, nil)
			degree := [n]float64{}
			for i := range n {
				for _, w := range dense[i] {
					degree[i] += w
				}
			}
			share := make([]float64, k)
			for i := range n {
				classify.Softmax(share, got.Row(i))
				for c := range k {
					target, sum, size := 1.0/k, 0.0, 1.0
					if i == 2 || i == 17 {
						target = 0
						if (i == 17) == (c == 1) {
							target = 1
						}
					}
					for j, w := range dense[i] {
						x, y := got.Row(i)[c], got.Row(j)[c]
						term := w * (x - y)
						if laplacian == "normalized" {
							term = w/degree[i]*x - w/math.Sqrt(degree[i]*degree[j])*y
						}
						sum += term
						size += math.Abs(w * x)
					}
					gradient := share[c] - target + (got.Row(i)[c]+gamma*sum)/variance
					if bound := 1e-9 + 1e-14*size; !(math.Abs(gradient) <= bound) {
						t.Errorf("%s, %s: gradient %.2g at node %d, class %d, want less than %.2g", name, laplacian, gradient, i, c, bound)
					}
				}
			}
		}
	}
}

func TestSharesNeedOneProcess(t *testing.T) {
	v, err := gpTransduction.Resolve(param.Values{"assign": param.Of("shares"), "balance": param.Of("none")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := sparse.FromTriplets(9, 9, nil)
	if err != nil {
		t.Fatal(err)
	}
	contract.OnProcesses(t, 2, contract.GraphOf(t, a, 1), []int{4}, func(g *graph.Graph, local func(row int) int) (*sparse.Block[float64], error) {
		f := sparse.NewBlock[float64](len(g.Degrees), 1)
		_, _, err := gpTransduction.Decide(sparse.TeamOf(g.A), f, cwk.Seeds{Row: []int{local(4)}, Class: []int{0}, Classes: 1}, v)
		if !errors.Is(err, sparse.ErrDivided) {
			t.Error(err)
		}
		return f, nil
	})
}

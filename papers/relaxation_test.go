package papers

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestRLGolden(t *testing.T) {
	for _, name := range []string{"karate", "wrand60"} {
		g := testgraph.Load(t, name)
		n, k := len(g.Degrees), len(g.Classes)
		seeds := cwk.Seeds{Row: g.Train, Class: g.TrainClass, Classes: k}
		want := testgraph.Golden(t, name+"/rl_iterations.npy") // rounds, one below the other
		for round := range want.Rows / n {
			given := param.Values{
				"gamma": param.Of(0.3), "walk": param.Of(3), "power-alpha": param.Of(1.5), "power-beta": param.Of(2.0), "rounds": param.Of(round),
			}
			got := contract.Scores(t, &relaxationLabelling, contract.GraphOf(t, g.A, 0), []cwk.Seeds{seeds}, given, nil)
			testgraph.Close(t, got, &sparse.Block[float64]{Rows: n, Cols: k, Stride: want.Stride, Data: want.Data[round*n*want.Stride:]}, 1e-10, 1e-9)
		}
	}
}

// The golden rounds do not have these walks and distributions.
func TestRLAgainstDense(t *testing.T) {
	p := testgraph.Planted(t, 4, 40, 9)
	k := len(p.Names)
	seeds := cwk.Seeds{Row: p.Row, Class: p.Class, Classes: k}
	n := 40
	step := contract.Transition(t, p.A)
	for i, walk := range []int{0, 1, 2, 4, 0, 1, 2, 4} {
		beta := []float64{0.7, 1}[i/4]
		given := param.Values{"gamma": param.Of(0.4), "walk": param.Of(walk), "power-alpha": param.Of(1.3), "power-beta": param.Of(beta)}
		for round := range 2 {
			given["rounds"] = param.Of(round)
			before := contract.Scores(t, &relaxationLabelling, contract.GraphOf(t, p.A, 0), []cwk.Seeds{seeds}, given, nil)
			given["rounds"] = param.Of(round + 1)
			after := contract.Scores(t, &relaxationLabelling, contract.GraphOf(t, p.A, 0), []cwk.Seeds{seeds}, given, nil)
			var same, r, sigma mat.Dense
			now := mat.NewDense(n, k, nil)
			for i := range n {
				now.SetRow(i, before.Row(i))
			}
			same.Mul(now, now.T())
			r.CloneFrom(&same)
			sigma.CloneFrom(&same)
			for j := 1; j <= walk; j++ {
				var left mat.Dense
				left.Mul(step, &r)
				r.Mul(&left, step.T())
				r.MulElem(&same, &r)
				var part mat.Dense
				part.Scale(math.Pow(0.6, 2*float64(j)), &r)
				sigma.Add(&sigma, &part)
			}
			sigma.Scale(0.16, &sigma)
			for u := range n {
				if slices.Contains(p.Row, u) {
					continue
				}
				want, count, sum := make([]float64, k), make([]float64, k), 0.0
				for a, v := range p.Row {
					want[p.Class[a]] += math.Pow(sigma.At(u, v), beta)
					count[p.Class[a]]++
				}
				for c := range want {
					want[c] = math.Pow(want[c]/count[c], 1.3)
					sum += want[c]
				}
				for c := range want {
					if d := math.Abs(after.Row(u)[c] - want[c]/sum); !(d <= 1e-12) {
						t.Fatalf("N = %d, round %d: node %d has class %d with %v, want %v", walk, round+1, u, c, after.Row(u)[c], want[c]/sum)
					}
				}
			}
		}
	}
}

func TestRLRefusesLongWalks(t *testing.T) {
	g := testgraph.Load(t, "karate")
	v, err := relaxationLabelling.Resolve(param.Values{"walk": param.Of(16)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	seeds := cwk.Seeds{Row: g.Train, Class: g.TrainClass, Classes: 2}
	_, err = relaxationLabelling.ScoresTo(t.Context(), sparse.NewBlock[float64](34, 2), contract.GraphOf(t, g.A, 1), []cwk.Seeds{seeds}, v, nil)
	want := "rl: walk: walks of 16 steps have more than 20000 sequences of 2 classes; give fewer steps"
	if wrong := new(param.ParameterError); !errors.As(err, &wrong) || fmt.Sprint(wrong) != want {
		t.Errorf("%v, want %s", err, want)
	}
}

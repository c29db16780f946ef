package method

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/spread"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
)

func TestUnreachedKeepThePrior(t *testing.T) {
	ctx := context.Background()
	entries := []sparse.Triplet{{Row: 5, Col: 6, Val: 1}, {Row: 6, Col: 5, Val: 1}, {Row: 7, Col: 8, Val: 1}, {Row: 8, Col: 7, Val: 1}}
	for i := range uint32(4) {
		entries = append(entries, sparse.Triplet{Row: i, Col: i + 1, Val: 1}, sparse.Triplet{Row: i + 1, Col: i, Val: 1})
	}
	a, err := sparse.FromTriplets(9, 9, entries)
	if err != nil {
		t.Fatal(err)
	}
	degrees, err := sparse.Degrees(ctx, a, 1)
	if err != nil {
		t.Fatal(err)
	}
	given := sparse.NewBlock[float64](9, 3)
	for i := range given.Rows {
		copy(given.Row(i), []float64{0.25, 0.25, 0.5})
	}
	copy(given.Row(6), []float64{0.4, 0.4, 0.2})
	uniform, share := []float64{1. / 3, 1. / 3, 1. / 3}, []float64{2. / 7, 3. / 7, 2. / 7}
	for name, c := range map[string]struct {
		prior cwk.Prior
		walks [][]float64 // scores of 5 and 6
		class []int
	}{
		"uniform":   {cwk.Prior{}, [][]float64{uniform, uniform}, []int{1, 1}},
		"empirical": {cwk.Prior{Empirical: true, Pseudo: 1}, [][]float64{share, share}, []int{1, 1}},
		"given":     {cwk.Prior{Given: given}, [][]float64{given.Row(5), given.Row(6)}, []int{2, 1}}, // node 6 has the larger class of two equals
	} {
		for _, directed := range []bool{false, true} {
			p := &engine.Problem{Graph: &graph.Graph{A: a, Degrees: degrees}, Directed: directed, Row: []int{0, 1, 3, 4}, Class: []int{0, 1, 1, 2}, Names: []string{"x", "y", "z"}}
			for _, of := range []string{"lp", "cwk", "majority", "diffusion", "diffusion+rls"} {
				methods, err := parseMethods(of)
				if err != nil {
					t.Fatal(err)
				}
				m := methods[0]
				if directed && strings.HasPrefix(of, "diffusion") {
					continue
				}
				out, err := m.Predict(ctx, p, nil, &engine.Settings{Prior: c.prior, Fixed: true})
				if err != nil {
					t.Fatalf("%s: %v", of, err)
				}
				for k, row := range []int{5, 6} {
					want, class := share, 1
					if slices.Contains(m.Takes, "prior") {
						want, class = c.walks[k], c.class[k]
					}
					for j, v := range out.Scores.Row(row) {
						if math.Abs(float64(v)-want[j]) > 1e-7 {
							t.Errorf("%s, %s, directed %t: scores %v of row %d, want %v", name, of, directed, out.Scores.Row(row), row, want)
							break
						}
					}
					if out.Class[row] != class {
						t.Errorf("%s, %s, directed %t: row %d is of class %d, want %d", name, of, directed, row, out.Class[row], class)
					}
				}
			}
		}
	}
	short := sparse.NewBlock[float64](8, 3)
	if _, err := spread.Propagation.Predict(ctx, &engine.Problem{Graph: &graph.Graph{A: a, Degrees: degrees}, Row: []int{0, 1}, Class: []int{0, 1}, Names: []string{"x", "y", "z"}}, nil, &engine.Settings{Prior: cwk.Prior{Given: short}}); err == nil {
		t.Error("a prior for fewer nodes is accepted")
	}
}

func TestUnabsorbed(t *testing.T) {
	for n, isRefused := range map[int]bool{1500: true, 1000: false} {
		_, err := spread.Propagation.Predict(context.Background(), contract.Path(t, n, true), nil, nil)
		if errors.As(err, new(*problem.Error)) != isRefused {
			t.Errorf("a path of %d nodes: %v", n, err)
		}
	}
}

// A loop that outweighs everything else does not keep a label away.
func TestPropagationLoops(t *testing.T) {
	p := contract.Path(t, 5, false)
	e := []sparse.Triplet{{Row: 1, Col: 1, Val: 1e17}, {Row: 3, Col: 3, Val: 1e12}}
	for i := range uint32(4) {
		e = append(e, sparse.Triplet{Row: i, Col: i + 1, Val: 1}, sparse.Triplet{Row: i + 1, Col: i, Val: 1})
	}
	var err error
	if p.A, err = sparse.FromTriplets(5, 5, e); err != nil {
		t.Fatal(err)
	}
	if p.Degrees, err = sparse.Degrees(t.Context(), p.A, 1); err != nil {
		t.Fatal(err)
	}
	out, err := spread.Propagation.Predict(t.Context(), p, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if got, want := float64(out.Scores.Row(i)[1]), float64(i)/4; math.Abs(got-want) > 1e-6 {
			t.Errorf("row %d: %v, want %v", i, got, want)
		}
	}
}

package method

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/method/internal/ledger"
	"github.com/heatwalk/heatwalk/method/problem/problemtest"
	"github.com/heatwalk/heatwalk/sparse"
)

// Label propagation gives what the whole walk does, however many classes fit at
// a time, and ends long before it.
func TestPropagation(t *testing.T) {
	ctx := context.Background()
	for _, directed := range []bool{false, true} {
		p := problemtest.Planted(t, 4, 600, 60)
		p.Directed = directed
		w := walkOf[float64](p, &Settings{}, propagationSteps)
		w.Variants = []cwk.Variant{{Absorb: 1}}
		want := sparse.NewBlock[float64](len(p.Degrees), len(p.Names))
		err := w.Run(ctx, func(t int, rows sparse.Rows, x *sparse.Block[float64]) {
			for i := rows.Lo; t == propagationSteps && i < rows.Hi; i++ {
				copy(want.Row(i), x.Row(i))
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		var first []float32
		for _, workers := range []int{1, 2, 7} {
			for _, width := range []int{len(p.Names), 2, 1} {
				s := &Settings{Workers: workers, Memory: ledger.Kept(p) + propagatedBytes(p, &Settings{}, width)}
				if got, _ := propagated(p, &Settings{Memory: propagatedBytes(p, &Settings{}, width)}); got != width {
					t.Fatalf("%d classes at a time, want %d", got, width)
				}
				out, err := labelPropagation{}.Predict(ctx, p, nil, s)
				if err != nil {
					t.Fatal(err)
				}
				passes := len(p.Names) / width
				if out.Work.Sweeps > passes*propagationSteps/2 {
					t.Errorf("%d classes at a time take %d sweeps", width, out.Work.Sweeps)
				}
				got := out.Scores
				if first == nil {
					first = slices.Clone(got.Data)
				}
				if !slices.Equal(first, got.Data) {
					t.Errorf("directed %t, %d workers, %d classes at a time: other bits", directed, workers, width)
				}
				for i := range got.Rows {
					if !out.Reached.Contains(uint32(i)) {
						continue
					}
					for j, v := range got.Row(i) {
						if math.Abs(float64(v)-want.Row(i)[j]) > 2e-6 {
							t.Fatalf("directed %t: [%d,%d] is %v, want %v", directed, i, j, v, want.Row(i)[j])
						}
					}
				}
			}
		}
	}
}

// A node that no label reaches keeps the prior of the settings where the method
// walks, and the shares of the labels where it does not, as scores; its class is the
// likeliest of these, the largest among equals.
func TestUnreachedKeepThePrior(t *testing.T) {
	ctx := context.Background()
	entries := []sparse.Triplet{{Row: 5, Col: 6, Val: 1}, {Row: 6, Col: 5, Val: 1}, {Row: 7, Col: 8, Val: 1}, {Row: 8, Col: 7, Val: 1}}
	for i := range uint32(4) { // the path 0 … 4, and two pairs beside it
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
		"uniform":   {cwk.Uniform(), [][]float64{uniform, uniform}, []int{1, 1}},
		"empirical": {cwk.Empirical(1), [][]float64{share, share}, []int{1, 1}},
		"given":     {cwk.Given(given), [][]float64{given.Row(5), given.Row(6)}, []int{2, 1}}, // of 6, the larger of two
	} {
		for _, directed := range []bool{false, true} {
			p := &Problem{A: a, Degrees: degrees, Directed: directed, Row: []int{0, 1, 3, 4}, Class: []int{0, 1, 1, 2}, Names: []string{"x", "y", "z"}}
			for _, of := range []string{"lp", "cwk", "majority", "diffusion", "diffusion+rls"} {
				methods, err := ParseMethods(of)
				if err != nil {
					t.Fatal(err)
				}
				m := methods[0]
				if directed && strings.HasPrefix(of, "diffusion") {
					continue
				}
				out, err := m.Predict(ctx, p, nil, &Settings{Prior: c.prior, Folds: 2, Grid: NoGrid()})
				if err != nil {
					t.Fatalf("%s: %v", of, err)
				}
				for k, row := range []int{5, 6} {
					want, class := share, 1
					if slices.Contains(m.Takes(), "prior") {
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
	if _, err := (labelPropagation{}).Predict(ctx, &Problem{A: a, Degrees: degrees, Row: []int{0, 1}, Class: []int{0, 1}, Names: []string{"x", "y", "z"}}, nil, &Settings{Prior: cwk.Given(short)}); err == nil {
		t.Error("a prior for fewer nodes is accepted")
	}
}

// On a long path labels are propagated to its end, within the memory that the plan
// says; with less than a factor takes there is an error that says how much it lacks.
func TestPropagationOnPath(t *testing.T) {
	ctx := context.Background()
	const n = 5000
	p := problemtest.Path(t, n, false)
	for _, lacks := range []int64{0, 1000} {
		set := &Settings{Memory: ledger.Kept(p) + propagatedBytes(p, &Settings{}, 1) + factorBytes(p, &Settings{}, 1) - lacks}
		out, err := labelPropagation{}.Predict(ctx, p, nil, set)
		var limited *ConvergenceError
		if lacks > 0 {
			if !errors.As(err, &limited) || limited.Short != lacks || !errors.Is(err, iterative.ErrIterationLimit) {
				t.Errorf("with %d bytes too few: %v", lacks, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if want := float64(i) / (n - 1); math.Abs(float64(out.Scores.Row(i)[1])-want) > 1e-6 {
				t.Fatalf("node %d has %v, want %v", i, out.Scores.Row(i)[1], want)
			}
		}
	}
}

// A walk that has not settled says so.
func TestUnsettled(t *testing.T) {
	for n, want := range map[int]bool{5000: true, 20: false} {
		out, err := labelPropagation{}.Predict(context.Background(), problemtest.Path(t, n, true), nil, nil)
		if err != nil || (out.Unfinished != "") != want {
			t.Errorf("a path of %d nodes: %q, %v", n, out.Unfinished, err)
		}
	}
}

// A loop that outweighs everything else does not keep a label away.
func TestPropagationLoops(t *testing.T) {
	p := problemtest.Path(t, 5, false)
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
	out, err := labelPropagation{}.Predict(t.Context(), p, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if got, want := float64(out.Scores.Row(i)[1]), float64(i)/4; math.Abs(got-want) > 1e-6 {
			t.Errorf("row %d: %v, want %v", i, got, want)
		}
	}
}

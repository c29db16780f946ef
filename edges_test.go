package heatwalk_test

import (
	"cmp"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/sparse"
)

func TestEachEdge(t *testing.T) {
	const text = "source,target,kind,day,weight\n" +
		"a,b,pays,2024-01-01,2\na,b,calls,2024-01-03,0.5\nb,b,pays,2024-01-02,4\nb,c,pays,2024-01-03,1e-6\nc,a,calls,2024-01-01,3\n"
	path := filepath.Join(t.TempDir(), "edges.csv")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, reading := range []ingest.Config{{}, {Kind: "kind", Time: "day"}} {
		for _, directed := range []bool{false, true} {
			for _, edges := range []sides.Options{{}, {Kinds: map[string]float64{"pays": 0.25}}, {Since: "2024-01-02"}} {
				c := reading
				c.Directed = directed
				c.KeepLoops = true
				c.Fields = []string{"source", "target", "weight"}
				g, err := heatwalk.Open(t.Context(), path, &heatwalk.Options{Reading: &c, Edges: edges})
				if err != nil {
					if c.Kind == "" { // edges without kinds have no factors
						continue
					}
					t.Fatal(err)
				}
				want, err := sparse.Load(t.Context(), g.A, 1)
				if err != nil {
					t.Fatal(err)
				}
				n := g.Nodes.Len()
				got := mat.NewDense(n, n, nil)
				rows := slices.Collect(g.Nodes.Rows())
				err = g.EachEdge(t.Context(), func(e heatwalk.Edge) error {
					if (e.Kind != "") != (c.Kind != "") || (e.Time != "") != (c.Time != "") || e.Time == "2024-01-01" && edges.Since != "" {
						t.Errorf("%+v: edge %+v", edges, e)
					}
					i, j := rows[e.Source], rows[e.Target]
					got.Set(i, j, got.At(i, j)+e.Weight)
					if !directed && i != j {
						got.Set(j, i, got.At(j, i)+e.Weight)
					}
					return nil
				})
				if err != nil || !mat.EqualApprox(got, want, 1e-15) || math.IsNaN(mat.Sum(got)) {
					t.Errorf("directed %t, %+v, %+v: edges add to\n%v\nand the matrix is\n%v (%v)", directed, c.Kind, edges, mat.Formatted(got), mat.Formatted(want), err)
				}
				if err := g.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

func TestToleranceOfMethods(t *testing.T) {
	stages := map[string]bool{}
	g, err := heatwalk.Open(t.Context(), club, &heatwalk.Options{Progress: func(stage string, _, _ int64) { stages[stage] = true }, Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	n := len(g.IDs())
	l := mat.NewDense(n, n, nil)
	check(g.EachEdge(t.Context(), func(e heatwalk.Edge) error {
		for _, end := range [][2]int{{e.Source, e.Target}, {e.Target, e.Source}} {
			l.Set(end[0], end[1], -e.Weight)
			l.Set(end[0], end[0], l.At(end[0], end[0])+e.Weight)
		}
		return nil
	}))
	b := mat.NewDense(n, 2, nil)
	for i := range n {
		b.Set(i, 0, float64(i))
		b.Set(i, 1, 1-float64(i%2)*2)
	}
	for _, tolerance := range []float64{0, 1e-2, 1e-6, 1e-11} {
		limit := cmp.Or(tolerance, 1e-8)
		x, report, err := g.Solve(t.Context(), heatwalk.Laplacian, 2, 1, b, tolerance)
		check(err)
		m := mat.NewDense(n, n, nil)
		m.Scale(2, l)
		for i := range n {
			m.Set(i, i, m.At(i, i)+1)
		}
		var want mat.Dense
		check(want.Solve(m, b))
		compareColumns(t, "Solve", x, &want, report.ColumnBound, limit)
		y, report, err := g.Expm(t.Context(), -0.5, heatwalk.Laplacian, b, tolerance)
		check(err)
		m.Scale(-0.5, l)
		var heat mat.Dense
		heat.Exp(m)
		want.Mul(&heat, b)
		compareColumns(t, "Expm", y, &want, report.ColumnBound, limit)
		v, pairs, err := g.Eigen(t.Context(), heatwalk.Laplacian, 0, 3, tolerance)
		check(err)
		var product mat.Dense
		product.Mul(l, v)
		for j, value := range pairs.Values {
			residual := mat.NewVecDense(n, nil)
			residual.AddScaledVec(product.ColView(j), -value, v.ColView(j))
			if norm := mat.Norm(residual, 2); norm > pairs.Residuals[j]+1e-12 || norm > limit*mat.Norm(l, 2)+1e-12 {
				t.Errorf("residual %g, reported %g", norm, pairs.Residuals[j])
			}
		}
		k, report, err := g.Kernel(t.Context(), "diffusion:beta=0.5:laplacian=combinatorial", nil, []string{"1"}, tolerance)
		check(err)
		compareColumns(t, "Kernel", k, heat.Slice(0, n, 0, 1), []float64{report.ErrorBound * math.Sqrt(float64(n))}, math.Inf(1))
		r, err := g.Rank(t.Context(), []string{"1"}, "diffusion:beta=0.5:laplacian=combinatorial", tolerance)
		check(err)
		for i, id := range g.IDs() {
			row, _ := g.Nodes.Lookup(id)
			if math.Abs(r.Score[row]-heat.At(i, 0)) > r.ErrorBound+1e-14 {
				t.Errorf("score %g of %s, want %g within %g", r.Score[row], id, heat.At(i, 0), r.ErrorBound)
			}
		}
	}
	if _, _, err := g.Expm(t.Context(), 1, heatwalk.Laplacian, b, 1); err == nil {
		t.Error("a tolerance of 1 is accepted")
	}
	if len(stages) == 0 {
		t.Error("no progress")
	}
}

func compareColumns(t *testing.T, name string, x, want mat.Matrix, bounds []float64, limit float64) {
	t.Helper()
	rows, cols := x.Dims()
	for j := range cols {
		var squares, size float64
		for i := range rows {
			squares += math.Pow(x.At(i, j)-want.At(i, j), 2)
			size += math.Pow(want.At(i, j), 2)
		}
		rounding := 1e-12 * math.Sqrt(size) // rounding of want
		if math.Sqrt(squares) > bounds[j]+rounding || bounds[j] > 1.01*limit*math.Sqrt(size) {
			t.Errorf("%s: column %d is wrong by %g, bound %g, limit %g", name, j, math.Sqrt(squares), bounds[j], limit)
		}
	}
}

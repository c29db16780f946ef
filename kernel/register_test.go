package kernel

import (
	"context"
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// plain hides optional methods of a kernel.
type plain struct{ of Kernel }

func (p plain) Len() int { return p.of.Len() }

func (p plain) Block(ctx context.Context, rows, cols []int, take Sink, s *Settings) (*Report, error) {
	return p.of.Block(ctx, rows, cols, take, s)
}

func (p plain) ApplyTo(ctx context.Context, dst, x *sparse.Block[float64], s *Settings) (*Report, error) {
	return p.of.ApplyTo(ctx, dst, x, s)
}

func TestRegister(t *testing.T) {
	Register(&Family{
		Spec: param.Spec{Name: "plain", Title: "exp(−βL̃)", Works: param.Undirected, Params: []param.Param{betaParam(nil)}},
		New: func(ctx context.Context, g *graph.Graph, v param.Values) (Kernel, error) {
			k, err := New(ctx, g, "diffusion", v)
			return plain{k}, err
		},
	})
	t.Cleanup(func() { families = families[:len(families)-1] })
	g := newGraph(t, testgraph.Random(3, 200, 600, true), 2)
	few, most := upTo(90), upTo(150)
	own, wrapped := mustNew(t, g, "diffusion", nil), mustNew(t, g, "plain", nil)
	for _, c := range [][2][]int{{most, few}, {few, most}, {most, most}} {
		rows, cols := c[0], c[1]
		want, _ := mustMatrix(t, own, rows, cols, nil)
		got, report := mustMatrix(t, wrapped, rows, cols, nil)
		for i := range got.Rows {
			for j, v := range got.Row(i) {
				if math.Abs(v-want.Row(i)[j]) > report.ErrorBound+1e-9 {
					t.Fatalf("%d×%d: K[%d, %d] = %v, want %v", len(rows), len(cols), i, j, v, want.Row(i)[j])
				}
			}
		}
	}
	grams, _, err := Grams(background, []Kernel{wrapped, own}, few, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range few {
		for j := range few {
			if v := grams[0].Row(i)[j]; v != grams[0].Row(j)[i] || math.Abs(v-grams[1].Row(i)[j]) > 1e-7 {
				t.Fatalf("Gram matrix: K[%d, %d] = %v, mirrored %v, want %v", i, j, v, grams[0].Row(j)[i], grams[1].Row(i)[j])
			}
		}
	}
	f := Families().Named("plain")
	if bytes := f.BlockWorkspace(param.Values{"beta": param.Of(1.0)}, g.Degrees, 1200, false, most, few, nil).Required(0); bytes < 8*200*64 {
		t.Errorf("%d bytes are estimated", bytes)
	}
	defer func() {
		if recover() == nil {
			t.Error("a second kernel of that name is accepted")
		}
	}()
	Register(&Family{Spec: param.Spec{Name: "plain"}, New: f.New})
}

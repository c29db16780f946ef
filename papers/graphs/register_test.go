package graphs

import (
	"context"
	"testing"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

func TestRegister(t *testing.T) {
	Register(&Kernel{
		Spec: param.Spec{Name: "sizes", Title: "product of the numbers of vertices", Works: param.Graphs},
		New: func(_ context.Context, c *graphfile.Collection, _ param.Values, _ *Settings) (Rows, error) {
			return Pairs(func(_, i, j int) (float64, error) {
				return float64(c.Graphs[i].Len() * c.Graphs[j].Len()), nil
			}), nil
		},
	})
	t.Cleanup(func() { kernels = kernels[:len(kernels)-1] })
	c := &graphfile.Collection{Graphs: make([]graphfile.Member, 3)}
	for i := range c.Graphs {
		c.Graphs[i].Ptr = make([]int32, i+2)
	}
	k := Kernels().Named("sizes")
	if bytes := k.Memory(c.Shape(), nil, 2); bytes != 0 {
		t.Errorf("%d bytes", bytes)
	}
	g, err := k.Prepare(t.Context(), c, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := sparse.NewBlock[float64](3, 3)
	if err := g.RowsTo(t.Context(), b, 0); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		for j := range 3 {
			if want := float64((i + 1) * (j + 1)); b.Row(i)[j] != want {
				t.Errorf("K(%d, %d) is %v, want %v", i, j, b.Row(i)[j], want)
			}
		}
	}
}

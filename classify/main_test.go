package classify

import (
	"context"
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type problem struct {
	f       *sparse.Block[float64]
	y       []int
	classes int
}

func clouds(rngSeed uint64, n, p, classes int, spread float64) problem {
	f, y := testgraph.Clouds(rngSeed, n, p, classes, spread)
	return problem{f, y, classes}
}

func (p problem) gram() *denseGram[float64] {
	k := LinearGram(p.f)
	g := &denseGram[float64]{Rows: k.Len(), Cols: k.Len(), Stride: k.Len(), Data: make([]float64, k.Len()*k.Len())}
	for i := range g.Rows {
		k.RowTo(g.row(i), i)
	}
	return g
}

func (p problem) row(x []float64) []float64 {
	row := make([]float64, p.f.Rows)
	for i := range row {
		row[i] = inner(x, p.f.Row(i))
	}
	return row
}

func (p problem) radial() *denseGram[float64] {
	n := p.f.Rows
	g := &denseGram[float64]{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	for i := range n {
		for j := range n {
			d := 0.0
			for c, v := range p.f.Row(i) {
				d += (v - p.f.Row(j)[c]) * (v - p.f.Row(j)[c])
			}
			g.Data[i*n+j] = math.Exp(-d / float64(p.f.Cols))
		}
	}
	return g
}

func within(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v ± %.3g", what, got, want, tolerance)
	}
}

func panics(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := recover(); got != want {
			t.Errorf("panic with %v, want %q", got, want)
		}
	}()
	f()
}

func solved(ctx context.Context, s *costSolver, k Gram, y []int, classes int) (*Model, error) {
	models, err := s.path(ctx, k, y, classes, []float64{s.SVM.withDefaults().Cost})
	if models == nil {
		return nil, err
	}
	return &models[0], err
}

func (m *Model) coefTo(dst []float64, machine int) []float64 {
	dst = destination(dst, m.Items)
	clear(dst)
	k := &m.Machines[machine]
	for j, i := range k.Index {
		dst[i] = k.Coef[j]
	}
	return dst
}

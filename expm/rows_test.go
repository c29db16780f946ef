package expm

import (
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestRows(t *testing.T) {
	const n, cols, tolerance = 400, 3, 1e-9
	a := testgraph.Random(7, n, n, true) // some rows have no entry
	rows := []int{n - 1, 0, 17, 200, 16}
	for name, fs := range map[string][]Function{
		"S": {Exp(-0.5), Inverse(3, 2)}, "L̃": {Exp(-0.25), Exp(-300), Power(2, 0)}, "L": {Exp(-40), Exp(-1e5), Matern(0.01, 1.5)}, "A": {Exp(-2)},
	} {
		m := mapOf(t, graphOf(t, a, 2), name)
		b := randomBlock(8, n, cols)
		full := newBlocks(n, cols, len(fs))
		if _, err := m.ApplyTo(ctx, full, b, fs, &Settings{Tolerance: tolerance}); err != nil {
			t.Fatal(name, err)
		}
		listed := newBlocks(len(rows), cols, len(fs))
		if _, err := m.ApplyTo(ctx, listed, b, fs, &Settings{Tolerance: tolerance, Rows: rows}); err != nil {
			t.Fatal(name, err)
		}
		for f := range fs {
			size := 0.0
			for _, v := range full[f].Data {
				size = math.Hypot(size, v)
			}
			for place, row := range rows {
				compareRows(t, name, listed[f].Row(place), full[f].Row(row), 2*tolerance*size)
			}
		}
	}
}

func compareRows(t *testing.T, name string, got, want []float64, bound float64) {
	t.Helper()
	for j, v := range want {
		if !(math.Abs(got[j]-v) <= bound) {
			t.Errorf("%s: %v, want %v within %g", name, got[j], v, bound)
		}
	}
}

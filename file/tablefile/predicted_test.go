package tablefile

import (
	"bytes"
	"context"
	"testing"

	"github.com/heatwalk/heatwalk/file/npy"
)

func TestArchiveOfPredictions(t *testing.T) {
	labels, reached := []int{1, -1, 0}, []bool{true, false, true}
	var b bytes.Buffer
	m := &Matrix{Rows: AxisOf([]string{"a", "b", "c"}), Cols: AxisOf([]string{"x", "y"}), Predictions: func(i int) (int, bool) { return labels[i], reached[i] }}
	err := Fill[float32](context.Background(), &b, NPZ, m, func(i int, row []float64) error {
		row[0], row[1] = float64(i), 0.5
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	archive, err := npy.OpenArchive("p.npz", bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]float64{"label": {1, -1, 0}, "reached": {1, 0, 1}, "features": {0, 0.5, 1, 0.5, 2, 0.5}} {
		a, err := archive.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float64, len(want))
		if err := a.Floats(got); err != nil || a.End() != nil {
			t.Fatal(name, err)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
	}
}

package speed

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
)

// A measurement is kept for the same version, and repeated for another one or without a file.
func TestMeasure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "heatwalk", "speed.json")
	first := Measure(path, "v1")
	for _, seconds := range []float64{first.Near, first.Far, first.Decode, first.Text} {
		if seconds < 1e-12 || seconds > 1e-6 {
			t.Errorf("measured %v", first)
		}
	}
	t.Logf("%+v", first)
	if again := Measure(path, "v1"); again != first {
		t.Errorf("%v is not kept, got %v", first, again)
	}
	if err := os.WriteFile(path, []byte(`{"cpu": "another", "version": "v1", "near_seconds": 1, "far_seconds": 1, "decode_seconds": 1, "text_seconds": 1}`), 0o666); err != nil {
		t.Fatal(err)
	}
	if other := Measure(path, "v1"); other.Near == 1 {
		t.Error("the speed of another machine is used")
	}
}

func TestSeconds(t *testing.T) {
	m := Machine{Near: 1, Far: 64, Decode: 10}
	w := sparse.Work{EntryColumns: 500, RowColumns: 1}
	const far, rows = farBytes / lineBytes, rowColumn * 8 // the block that rows are measured with has 16 MiB
	for _, c := range []struct {
		name string
		job  Job
		want float64
	}{
		{"small block", Job{Work: w, Rows: 1}, 500 + rows},
		{"rows of a line", Job{Work: w, Rows: far, RowBytes: 1 << 10}, 64*500 + rows},
		{"narrow rows", Job{Work: w, Rows: far / 8, RowBytes: lineBytes}, 8 * (500 + rowColumn)},
		{"coded", Job{Work: w, Coded: true, RowBytes: 32}, 500 + rows + 10*frameSteps*500/4},
		{"copied", Job{Copied: 3}, 10 * copySteps * 3},
		{"sum", Job{Work: w.Plus(w).Times(2)}, 4 * (500 + rows)},
	} {
		if got, want := m.Seconds(&c.job, 4), c.want/4; math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s: %v seconds, want %v", c.name, got, want)
		}
	}
}

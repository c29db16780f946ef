package speed

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
)

// A measurement is kept for the same version, and repeated for another one or without a file.
func TestMeasure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "heatwalk", "speed.json")
	first := Measure(path, "v1")
	if first.Gather < 1e-12 || first.Gather > 1e-6 || first.Text < 1e-12 || first.Text > 1e-6 {
		t.Errorf("measured %v", first)
	}
	t.Logf("%+v", first)
	if again := Measure(path, "v1"); again != first {
		t.Errorf("%v is not kept, got %v", first, again)
	}
	if err := os.WriteFile(path, []byte(`{"cpu": "another", "version": "v1", "gather_seconds": 1, "text_seconds": 1}`), 0o666); err != nil {
		t.Fatal(err)
	}
	if other := Measure(path, "v1"); other.Gather == 1 {
		t.Error("the speed of another machine is used")
	}
}

func TestSeconds(t *testing.T) {
	w := sparse.Work{EntryColumns: 5, RowColumns: 1}
	if got, want := (Machine{Gather: 2}).Seconds(w.Plus(w).Times(2), 4), 4*2*(5+rowColumn)/4.0; got != want {
		t.Errorf("%v seconds, want %v", got, want)
	}
}

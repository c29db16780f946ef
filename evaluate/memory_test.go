package evaluate

import (
	"testing"

	"github.com/heatwalk/heatwalk/method"
)

// Of a limit that is too small to be divided nothing is left without a limit.
func TestSideBySideKeepsTheLimit(t *testing.T) {
	p := planted(t, 3, 60, 40)
	methods, err := method.Parse("cwk")
	if err != nil {
		t.Fatal(err)
	}
	plan := &Plan{Fractions: []float64{0.5}, Splits: 4}
	m := &entry{Entry: method.Entry{Method: methods[0].Method, Settings: &method.Settings{Grid: tinyGrid, Memory: 1, Workers: 2}}}
	if lanes, s := plan.sideBySide(m, p); lanes != 1 || s.Memory != 1 {
		t.Errorf("%d predictions side by side, each with a limit of %d bytes", lanes, s.Memory)
	}
}

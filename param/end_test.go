package param

import "testing"

func TestEnd(t *testing.T) {
	for _, c := range []struct {
		end, refused float64
		open         bool
		digits       int
		want         string
	}{
		{87.49999999, 151, false, 6, "87.5"},
		{0.10999, 0.11, false, 2, "0.10999"},
		{0.10999, 0.11, false, 4, "0.10999"},
		{0.1099, 0.11, false, 2, "0.1099"},
		{0.1099, 0.12, false, 2, "0.11"},
		{0.25, 0.25, true, 10, "0.25"},
		{0.24999999999, 0.25, true, 6, "0.25"},
		{0.24999999999, 0.25, false, 6, "0.24999999999"},
		{0.25, -1, true, 10, "0.25"},
		{2.0000001, 2, false, 3, "2.0000001"},
		{1e300, 1e301, false, 3, "1e+300"},
	} {
		if got := End(c.end, c.refused, c.open, c.digits); got != c.want {
			t.Errorf("end %v, refused %v: %s, want %s", c.end, c.refused, got, c.want)
		}
	}
}

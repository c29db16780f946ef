package shell

import (
	"testing"
)

func TestAccuracyText(t *testing.T) {
	for _, test := range []struct {
		accuracy, stderr float64
		want             string
	}{
		{0.988, 0.596, "cross-validated accuracy between 39.2 and 100.0 %"},
		{0.1, 0.3, "cross-validated accuracy between 0.0 and 40.0 %"},
		{0.75, 0.25, "cross-validated accuracy 75.0 ± 25.0 %"},
	} {
		d := &LabelsDocument{}
		d.Estimate(test.accuracy, test.stderr, 4)
		if got := d.DescribeAccuracy(); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

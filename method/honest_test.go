package method

import (
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/test/contract"
)

// The mean over draws must agree within three standard errors.
func TestPrintedAccuracy(t *testing.T) {
	for _, c := range []struct{ nodes, labelled, classes, draws int }{
		{400, 40, 2, 4}, {260, 230, 3, 2}, {300, 180, 12, 2},
	} {
		if testing.Short() && c.classes == 3 {
			continue
		}
		for _, name := range []string{"auto", "lp", "lgc", "diffusion+rls"} {
			sum := 0.0
			variance := 0.0
			for draw := range c.draws {
				p, class := contract.Blocks(t, uint64(draw), c.nodes, c.labelled, c.classes, 5, 1/float64(c.classes))
				out, _, err := methodOf(t, name).PredictCompared(t.Context(), p, nil)
				if err != nil {
					t.Fatal(err)
				}
				sum += out.Accuracy - contract.Accuracy(p, out.Class, class)
				variance += float64(out.Stderr * out.Stderr)
			}
			t.Logf("%v %s: %.1f ± %.1f points", c, name, 100*sum/float64(c.draws), 100*math.Sqrt(variance)/float64(c.draws))
			if math.Abs(sum) > 3*math.Sqrt(variance) {
				t.Errorf("%v: %s prints %.1f points too much in the mean, with an error of %.1f", c, name,
					100*sum/float64(c.draws), 100*math.Sqrt(variance)/float64(c.draws))
			}
		}
	}
}

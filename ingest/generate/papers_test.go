package generate

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/file/npy"
)

// TestPapers checks that the training set and the test set are a share of the nodes, that the newest are
// the test set, and that the numbers of a class have a mean of their own, for any number of workers.
func TestPapers(t *testing.T) {
	const nodes, attributes = 5000, 20
	var files [2][4]string
	for i, workers := range []int{1, 3} {
		g, err := New("papers", values(given{"nodes": nodes, "classes": 6, "attributes": attributes}), 1, workers)
		if err != nil {
			t.Fatal(err)
		}
		p := g.(Attributed)
		var training, test, truth, x bytes.Buffer
		for _, err := range []error{
			p.LabelsTo(t.Context(), &training, 0.1), p.TestLabelsTo(t.Context(), &test, 0.1), p.TruthTo(t.Context(), &truth), p.AttributesTo(t.Context(), &x),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if int64(x.Len()) > p.AttributeBytes() {
			t.Errorf("%d bytes of numbers, %d declared", x.Len(), p.AttributeBytes())
		}
		files[i] = [4]string{training.String(), test.String(), truth.String(), x.String()}
	}
	if files[0] != files[1] {
		t.Error("3 workers write other files than 1")
	}
	training, test, truth := parseLabels(t, files[0][0]), parseLabels(t, files[0][1]), parseLabels(t, files[0][2])
	if len(training) != 430 || len(test) != 70 || len(truth) != nodes || training[429].node >= test[0].node {
		t.Fatalf("%d and %d of %d labels", len(training), len(test), len(truth))
	}
	a, err := npy.Read("x.npy", strings.NewReader(files[0][3]))
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, nodes*attributes)
	if err := a.Floats(x); err != nil {
		t.Fatal(err)
	}
	var sum, squares float64 // of a column of the numbers of class 0
	count := 0.0
	for i, l := range truth {
		if l.class == 0 {
			sum, squares, count = sum+x[i*attributes], squares+x[i*attributes]*x[i*attributes], count+1
		}
	}
	if mean := sum / count; math.Abs(squares/count-mean*mean-1) > 5*math.Sqrt(2/count) || math.Abs(mean) < 5/math.Sqrt(count) {
		t.Errorf("mean %v, mean square %v of %v numbers", mean, squares/count, count)
	}
}

type label struct{ node, class int }

func parseLabels(t *testing.T, text string) (list []label) {
	t.Helper()
	for line := range strings.Lines(text) {
		var l label
		if n, err := fmt.Sscanf(line, "%d\tc%d\n", &l.node, &l.class); n != 2 || err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		list = append(list, l)
	}
	return list
}

package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestConvertSparseFeatures(t *testing.T) {
	out := filepath.Join(t.TempDir(), "X.svm")
	run(t, "convert", filepath.Join(testgraph.Root(t), "file", "tablefile", "testdata", "scipy_csr.npz"), "-o", out)
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	const want = "0 3:0.518 5:0.059\n0 4:0.671 5:0.83\n0 1:0.783\n0 1:0.829 3:0.198 4:0.29\n" +
		"0 1:0.142 5:0.412\n0 3:0.865 4:0.672 5:0.273\n0 4:0.593\n"
	if string(got) != want {
		t.Errorf("%s", got)
	}
}

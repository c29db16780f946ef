package learn

import (
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/engine"
)

// This program does not import papers.
func TestNamesOfPapers(t *testing.T) {
	for _, name := range []string{"rl", "gp-transduction", "cwk+perceptron", "vertex+rls", "diffusion:beta=1+dkm:depth=2",
		"cwk+dkm-svm", "cwk+dkm-rls", "cwk+dkm-gp", "cwk+dkm-logistic", "cwk+dkm-perceptron", "cwk+dkm-centroid"} {
		for _, target := range []engine.Target{engine.Classes, engine.Numbers} {
			_, err := method.ParseList(name, target)
			if err == nil || !strings.Contains(err.Error(), " in this program; ") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, err := method.Parse("cwk+gpp"); err == nil || strings.Contains(err.Error(), "papers") {
		t.Error(err)
	}
}

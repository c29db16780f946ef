package method

import (
	"strings"
	"testing"
)

func TestParseParts(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"diffusion:beta=2:laplacian=combinatorial+rls:lambda=0.1": {"beta": "2", "laplacian": "combinatorial", "lambda": "0.1"},
		"diffusion:beta=2:cost=10":                                {"beta": "2", "cost": "10"},
		"cwk:alpha=5e-1:steps=10+gp:variance=1e+1":                {"alpha": "5e-1", "steps": "10", "variance": "1e+1"},
		"cwk:features=plain+svm:cost=1":                           {"features": "plain", "cost": "1"},
		"lgc:alpha=0.99":                                          {"alpha": "0.99"},
	} {
		entries, err := Parse(text)
		if err != nil || len(entries) != 1 || entries[0].Name != text || len(entries[0].Own) != len(want) {
			t.Errorf("%s: %+v, %v", text, entries, err)
			continue
		}
		for name, value := range want {
			if got := entries[0].Own[name]; got.String() != value && got.String() != map[string]string{"5e-1": "0.5", "1e+1": "10"}[value] {
				t.Errorf("%s: %s is %q", text, name, got)
			}
		}
	}
	for text, want := range map[string]string{
		"diffusion+rls:beta=2":       `rls: there is no parameter "beta"`,
		"diffusion:lambda=1+rls":     `diffusion: there is no parameter "lambda"`,
		"lgc:alpha=0.5:alpha=0.6":    "alpha is given twice",
		"diffusion:beta+rls":         `"beta" in "diffusion:beta+rls" is no parameter`,
		"diffusion:beta=2+rsl":       `no method "diffusion+rsl"`,
		"diffusion:beta=2+rls,lp:k=": `"k=" in "lp:k=" is no parameter`,
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

package method

import (
	"errors"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
)

// parseMethods returns the methods of a list.
func parseMethods(list string) (found []*engine.Engine, err error) {
	entries, err := Parse(list)
	for _, e := range entries {
		found = append(found, e.Method)
	}
	return found, err
}

func TestParseMethods(t *testing.T) {
	got, err := parseMethods("lp, cwk+perceptron")
	if err != nil || len(got) != 2 || got[0].Name != "lp" || got[1].Name != "cwk+perceptron" {
		t.Fatalf("%v, %v", got, err)
	}
	for list, want := range map[string]string{
		"lcg":    `there is no method "lcg" in this program; did you mean lgc?`,
		"svm":    `there is no method "svm" in this program; it learns from a kernel, as in diffusion+svm`,
		"":       `there is no method "" in this program; choose from ` + MethodList(),
		"lp,,lp": `there is no method "" in this program; choose from ` + MethodList(),
		"lp,lp":  `method "lp" is named twice; leave one out`,

		"commute-time+svm": "commute-time is a distance, no kernel",
	} {
		_, err := parseMethods(list)
		if !errors.Is(err, choose.ErrUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", list, err, want)
		}
	}
}

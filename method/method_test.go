package method

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/walks"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/test/contract"

	"go.uber.org/goleak"
)

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

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFewLabels(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	base := contract.Planted(t, 6, 60, 50)
	lists := contract.Lists(map[string][]param.Value{"alpha": param.Grid(0.1, 0.9), "steps": param.Grid(1, 8), "cost": param.Grid(0.5, 32)}, walks.Plain, walks.Honest)
	for _, labels := range []struct{ row, class []int }{
		{[]int{5, 9}, []int{0, 1}},
		{[]int{0, 1}, []int{2, 1}}, // nodes without an edge
		{[]int{5, 9, 14}, []int{0, 1, 2}},
		{[]int{5, 9, 14, 20, 21, 22}, []int{0, 0, 0, 0, 0, 2}},
		{[]int{2, 3, 5, 6}, []int{0, 1, 1, 1}},
	} {
		p := *base
		p.Row, p.Class = labels.row, labels.class
		for _, m := range All() {
			got, err := m.Predict(context.Background(), &p, nil, &engine.Settings{Lists: lists})
			if err != nil {
				t.Errorf("%s with labels %v: %v", m.Name, labels, err)
				continue
			}
			for i, row := range p.Row {
				if got.Class[row] != p.Class[i] {
					t.Errorf("%s: labelled row %d is of class %d", m.Name, row, got.Class[row])
				}
			}
		}
	}
}

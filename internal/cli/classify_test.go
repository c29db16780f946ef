package cli

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/ingest"
)

func TestLabelsOf(t *testing.T) {
	p := &evaluate.Prediction{
		Class:   []int{0, 1, 1, 0},
		Reached: []bool{true, true, false, false},
	}
	// Row 0 is labelled otherwise than predicted, row 3 is its own component.
	l := &ingest.Labels{Row: []int{0, 3}, Class: []int{1, 1}, Names: []string{"a", "b"}}
	for unreached, want := range map[string][]int{
		"blank": {1, 1, unlabelled, 1},
		"prior": {1, 1, 1, 1},
	} {
		f := &classifyFlags{unreached: unreached}
		if diff := cmp.Diff(want, f.labelsOf(p, l)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", unreached, diff)
		}
	}
}

func TestCompare(t *testing.T) {
	seeds := &ingest.Labels{Row: []int{0}, Class: []int{0}, Names: []string{"a", "b"}}
	// Row 0 was given and does not count; row 5 is of a class nobody knew.
	known := &ingest.Labels{Row: []int{0, 1, 2, 3, 4, 5}, Class: []int{1, 0, 1, 1, 0, 2}, Names: []string{"a", "b", "c"}}
	labels := []int{0, 0, 1, 0, unlabelled, 0}
	reached := []bool{true, true, true, true, false, true}
	got := compare(labels, reached, seeds, known)
	// By hand: a has one of two and is said three times, b one of two and is
	// said once, c none of one; the blank is a miss, but no class.
	macro := (2.0/5 + 2.0/3 + 0) / 3
	want := &truth{Nodes: 5, Accuracy: 2. / 5, Reached: 2. / 4, MacroF1: macro}
	if math.Abs(got.MacroF1-want.MacroF1) > 1e-15 {
		t.Errorf("macro-F1 %v, want %v", got.MacroF1, want.MacroF1)
	}
	got.MacroF1 = want.MacroF1
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseFields(t *testing.T) {
	for text, want := range map[string][]int{"1,2": {1, 2}, "3, 1,7": {3, 1, 7}} {
		var got []int
		if err := parseFields(&got, text); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "1", "1,1", "0,1", "1,2,3,4", "a,b", "1,,2"} {
		var got []int
		if err := parseFields(&got, text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

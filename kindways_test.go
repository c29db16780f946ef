package heatwalk_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/regress"
)

// TestKindsChosenAlike predicts, suggests, evaluates and regresses on the same store in several ways: opened at once, opened
// with Defer, and by a graph that has already predicted from other labels or from these. All ways give the same answers, and the accuracy
// that Evaluate reports is that of Classify with as many labels.
func TestKindsChosenAlike(t *testing.T) {
	if os.Getenv("HEATWALK_KNOWN") == "" {
		t.Skip("known failure: weights of kinds are chosen by the first Predict of a graph with Defer only. Without Defer they stay equal, " +
			"and a second call, also of Regress, keeps those of the first; Evaluate does not choose them either. HEATWALK_KNOWN=1 shows it")
	}
	const nodes = 600
	rng := rand.New(rand.NewPCG(3, 1))
	class := make([]string, nodes)
	for v := range class {
		class[v] = "honest"
		if rng.Float64() < 0.25 {
			class[v] = "fraud"
		}
	}
	lines := []string{"source,target,relation"}
	for i, kind := range []string{"device", "pays", "calls"} {
		same := []float64{0.97, 0.5, 0.5}[i]
		for count := 0; count < 900; {
			u, v := rng.IntN(nodes), rng.IntN(nodes)
			if u != v && (rng.Float64() < same) == (class[u] == class[v]) {
				lines = append(lines, fmt.Sprintf("n%d,n%d,%s", u, v, kind))
				count++
			}
		}
	}
	path := filepath.Join(t.TempDir(), "edges.csv")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	labels, others, known, values := map[string]string{}, map[string]string{}, map[string]string{}, map[string]float64{}
	for v := range 400 {
		id := fmt.Sprint("n", v)
		if known[id] = class[v]; v >= 200 {
			continue
		}
		labels[id] = class[v]
		others[id] = class[(v+7)%nodes] // which no kind of edges explains
		values[id] = float64(len(class[v]))
	}
	m, err := method.Parse("lgc")
	if err != nil {
		t.Fatal(err)
	}
	o := &heatwalk.ClassifyOptions{Method: "lgc", Train: []float64{0.5}, Splits: 5}
	ask := func(way string, answer func(g *heatwalk.Graph) error) {
		g, err := heatwalk.Open(t.Context(), path, &heatwalk.Options{Defer: way != "Open", Reading: &ingest.Config{Kind: "relation", Duplicates: ingest.SumDuplicates}})
		before := map[string]map[string]string{"after other labels": others, "after these labels": labels}[way]
		if before != nil && err == nil {
			_, err = g.Classify(t.Context(), before, o)
		}
		if err == nil {
			err = answer(g)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
	var want answersOfKinds
	for _, way := range []string{"Defer", "Open", "after other labels", "after these labels"} {
		var got answersOfKinds
		accuracy := 0.0
		ask(way, func(g *heatwalk.Graph) (err error) {
			got.classified, err = g.Classify(t.Context(), labels, o)
			for v := 400; v < nodes && err == nil; v++ {
				row, _ := g.Nodes.Lookup(fmt.Sprint("n", v))
				if c := got.classified.Class[row]; c >= 0 && got.classified.Classes[c] == class[v] {
					accuracy += 1. / (nodes - 400)
				}
			}
			return err
		})
		ask(way, func(g *heatwalk.Graph) error {
			p, err := g.Problem(labels)
			if err == nil {
				got.suggested, err = heatwalk.Predict(t.Context(), g, p, m[0].Method, &method.Settings{RNGSeed: 1}, &heatwalk.PredictOptions{Suggest: 5})
			}
			return err
		})
		ask(way, func(g *heatwalk.Graph) (err error) {
			got.evaluated, err = g.Evaluate(t.Context(), known, o)
			return err
		})
		ask(way, func(g *heatwalk.Graph) (err error) {
			got.regressed, err = g.Regress(t.Context(), values, "harmonic")
			return err
		})
		if want.classified == nil {
			want = got
		}
		if !slices.Equal(got.classified.Class, want.classified.Class) {
			t.Errorf("%s: other labels than with Defer", way)
		}
		if diff := cmp.Diff(want.suggested.Suggestions, got.suggested.Suggestions); diff != "" {
			t.Errorf("%s: other suggestions: %s", way, diff)
		}
		if !slices.Equal(got.regressed.Value, want.regressed.Value) {
			t.Errorf("%s: other values than with Defer", way)
		}
		told, expected := got.evaluated.Results[0].AccuracyMean, want.evaluated.Results[0].AccuracyMean
		if told != expected || math.Abs(told-accuracy) > 0.06 {
			t.Errorf("%s: Evaluate reports an accuracy of %.3f, %.3f with Defer; that of Classify is %.3f", way, told, expected, accuracy)
		}
	}
}

// answersOfKinds are the answers to the same questions.
type answersOfKinds struct {
	classified, suggested *heatwalk.Prediction
	evaluated             *evaluate.Report
	regressed             *regress.Prediction
}

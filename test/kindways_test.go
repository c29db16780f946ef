package test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/regression"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// The ways are: in memory and streamed, by a graph that has already predicted from these labels or from others, and by
// Predict of the method. Evaluate must report the accuracy of Classify with as many labels.
func TestKindsChosenAlike(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	path, class := edgesOfKinds(t)
	nodes := len(class)
	labels, others, known, values := map[string]string{}, map[string]string{}, map[string]string{}, map[string]float64{}
	for v := range 400 {
		id := fmt.Sprint("n", v)
		if known[id] = class[v]; v >= 200 {
			continue
		}
		labels[id] = class[v]
		others[id] = class[(v+7)%nodes] // no kind of edges explains these labels
		values[id] = float64(len(class[v]))
	}
	m, err := method.Parse("lgc")
	if err != nil {
		t.Fatal(err)
	}
	o := &heatwalk.ClassifyOptions{Method: "lgc"}
	ask := func(way string, answer func(g *heatwalk.Graph) error) {
		g, err := heatwalk.Open(t.Context(), path, &heatwalk.Options{Stream: way == "Stream", Reading: &ingest.Config{Kind: "relation", Duplicates: ingest.SumDuplicates}})
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
	for _, way := range append([]string{"Open"}, testgraph.Sample(t, 1, []string{"Stream", "after other labels", "after these labels"})...) {
		var got answersOfKinds
		accuracy := 0.0
		ask(way, func(g *heatwalk.Graph) (err error) {
			got.classified, err = g.Classify(t.Context(), labels, o)
			for v := 400; v < nodes && err == nil; v++ {
				row, _ := g.Nodes.Lookup(fmt.Sprint("n", v))
				if c := got.classified.Class[row]; c >= 0 && got.classified.Classes[c] == class[v] {
					accuracy += 1 / float64(nodes-400)
				}
			}
			return err
		})
		ask(way, func(g *heatwalk.Graph) error {
			p, err := g.Problem(labels)
			if err == nil {
				got.suggested, err = heatwalk.Predict(t.Context(), g, p, m[0].Method, &engine.Settings{RNGSeed: 1}, &heatwalk.PredictOptions{Suggest: 5})
			}
			return err
		})
		ask(way, func(g *heatwalk.Graph) error {
			p, err := g.Problem(labels)
			if err == nil {
				got.predicted, err = m[0].Method.Predict(t.Context(), p, nil, &engine.Settings{RNGSeed: 1})
			}
			return err
		})
		ask(way, func(g *heatwalk.Graph) (err error) {
			got.evaluated, err = g.Evaluate(t.Context(), known, &heatwalk.ClassifyOptions{Method: "lgc", Train: []float64{0.5}, Splits: 3})
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
			t.Errorf("%s: other labels than by Open", way)
		}
		if !slices.Equal(got.predicted.Class, want.classified.Class) || got.predicted.Accuracy != want.classified.Accuracy ||
			!maps.Equal(got.predicted.Factors.ByName(), want.classified.Factors.ByName()) {
			t.Errorf("%s: Method.Predict reports %.3f with weights %v, Classify %.3f with %v", way, got.predicted.Accuracy, got.predicted.Factors.ByName(), want.classified.Accuracy, want.classified.Factors.ByName())
		}
		if diff := cmp.Diff(want.suggested.Suggestions, got.suggested.Suggestions); diff != "" {
			t.Errorf("%s: other suggestions: %s", way, diff)
		}
		if !slices.Equal(got.regressed.Value, want.regressed.Value) {
			t.Errorf("%s: other values than by Open", way)
		}
		told, expected := got.evaluated.Results[0].AccuracyMean, want.evaluated.Results[0].AccuracyMean
		if told != expected || math.Abs(told-accuracy) > 0.06 {
			t.Errorf("%s: Evaluate reports an accuracy of %.3f, %.3f by Open; that of Classify is %.3f", way, told, expected, accuracy)
		}
	}
}

// The predictions must agree with the predictions from the same lines without amounts.
func TestWeightsOfOneKeepKinds(t *testing.T) {
	path, class := edgesOfKinds(t)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for i := range lines {
		lines[i] += ",weight"
		if i > 0 {
			lines[i] = strings.TrimSuffix(lines[i], "weight") + fmt.Sprint(1+i*i%97)
		}
	}
	amounts := filepath.Join(t.TempDir(), "amounts.csv")
	if err := os.WriteFile(amounts, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{}
	for v := range 200 {
		labels[fmt.Sprint("n", v)] = class[v]
	}
	for _, given := range []map[string]float64{nil, {"device": 1, "pays": 0.25}} {
		var want *engine.Prediction
		for _, path := range []string{path, amounts} {
			g, err := heatwalk.Open(t.Context(), path, &heatwalk.Options{Stream: path == amounts, Edges: sides.Options{Kinds: given},
				Reading: &ingest.Config{Kind: "relation", Duplicates: ingest.SumDuplicates}})
			if err != nil {
				t.Fatal(err)
			}
			p, err := g.Problem(labels)
			if err != nil {
				t.Fatal(err)
			}
			m, err := method.Parse("lp")
			if err != nil {
				t.Fatal(err)
			}
			got, err := m[0].Method.Predict(t.Context(), p, nil, &engine.Settings{RNGSeed: 1, Weights: "none"})
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got
			}
			if !slices.Equal(got.Scores.Data, want.Scores.Data) || !maps.Equal(got.Factors.ByName(), want.Factors.ByName()) || got.Weights != "none" {
				t.Errorf("given %v: other scores with amounts; weights of kinds %v and %v", given, got.Factors.ByName(), want.Factors.ByName())
			}
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// edgesOfKinds draws edges of three kinds, of which one informs about classes, between nodes n0, n1, ….
func edgesOfKinds(t *testing.T) (path string, class []string) {
	t.Helper()
	const nodes = 600
	rng := rand.New(rand.NewPCG(3, 1))
	class = make([]string, nodes)
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
	path = filepath.Join(t.TempDir(), "edges.csv")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	return path, class
}

func TestChosenKindsAreKept(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	path, class := edgesOfKinds(t)
	store := filepath.Join(t.TempDir(), "store")
	if _, err := ingest.Run(t.Context(), store, []string{path}, &ingest.Config{Kind: "relation", Duplicates: ingest.SumDuplicates}); err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{}
	values := map[string]float64{}
	for v := range 200 {
		id := fmt.Sprint("n", v)
		labels[id] = class[v]
		values[id] = float64(len(class[v]))
	}
	o := &heatwalk.ClassifyOptions{Method: "lgc:alpha=0.9"}
	g := openStore(t, store)
	want, err := g.Classify(t.Context(), labels, o)
	if err != nil {
		t.Fatal(err)
	}
	if weights := want.Factors.ByName(); weights["device"] != 1 || weights["pays"] > 0.125 {
		t.Fatalf("weights of kinds %v", weights)
	}
	numbers, err := g.Regress(t.Context(), values, "harmonic")
	if err != nil {
		t.Fatal(err)
	}
	m, err := method.Parse(o.Method)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := m[0].Method.Keep(want.Prediction, &engine.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := g.Problem(labels)
	if err != nil {
		t.Fatal(err)
	}
	restored, err := method.Restore(kept, engine.Classes)
	if err != nil {
		t.Fatal(err)
	}
	again, err := restored.Predict(t.Context(), p, nil, &engine.Settings{Workers: 3})
	if err != nil || !slices.Equal(again.Scores.Data, want.Prediction.Scores.Data) {
		t.Errorf("a kept model predicts other scores, %v", err)
	}
	err = together(t, store, 3, func(g *heatwalk.Graph) error {
		got, err := g.Classify(t.Context(), labels, o)
		if err == nil && (!maps.Equal(got.Factors.ByName(), want.Factors.ByName()) || !slices.Equal(got.Class, want.Class)) {
			return fmt.Errorf("weights %v, want %v, or other classes", got.Factors.ByName(), want.Factors.ByName())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	err = together(t, store, 2, func(g *heatwalk.Graph) error {
		got, err := g.Regress(t.Context(), values, "harmonic")
		if err == nil && floats.Distance(got.Value, numbers.Value, math.Inf(1)) > 1e-6 {
			return errors.New("other values on two processes")
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Predictions are the same as with these weights given.
func TestSeveralLabelsChooseKinds(t *testing.T) {
	path, class := edgesOfKinds(t)
	predict := func(kinds map[string]float64) *heatwalk.Prediction {
		o := &heatwalk.Options{Edges: sides.Options{Kinds: kinds}, Reading: &ingest.Config{Kind: "relation", Duplicates: ingest.SumDuplicates}}
		g, err := heatwalk.Open(t.Context(), path, o)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		var rows, classes []int
		for v := range 200 {
			row, _ := g.Nodes.Lookup(fmt.Sprint("n", v))
			c := slices.Index([]string{"honest", "fraud"}, class[v])
			rows, classes = append(rows, row), append(classes, c)
			if v%10 == 0 {
				rows, classes = append(rows, row), append(classes, 1-c)
			}
		}
		p, err := heatwalk.Predict(t.Context(), g, heatwalk.NewProblem(g, rows, classes, []string{"honest", "fraud"}), regression.Spectral, &engine.Settings{RNGSeed: 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	got := predict(nil)
	if weights := got.Factors.ByName(); weights["device"] != 1 || weights["pays"] > 0.2 {
		t.Fatalf("weights of kinds %v", weights)
	}
	if want := predict(got.Factors.ByName()); !slices.Equal(got.Prediction.Scores.Data, want.Prediction.Scores.Data) {
		t.Error("given weights predict other scores than the same chosen ones")
	}
}

type answersOfKinds struct {
	classified, suggested *heatwalk.Prediction
	predicted             *engine.Prediction
	evaluated             *evaluate.Report
	regressed             *heatwalk.Prediction
}

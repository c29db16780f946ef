package test

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func coraStore(t *testing.T) (dir string, labels map[string]string) {
	t.Helper()
	return coraStoreWith(t, new(ingest.Config))
}

func coraStoreWith(t *testing.T, c *ingest.Config) (dir string, labels map[string]string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "cora")
	if _, err := ingest.Run(t.Context(), dir, []string{filepath.Join("..", "testdata", "cora", "edges.tsv.gz")}, c); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join("..", "testdata", "cora", "labels.tsv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	labels = map[string]string{}
	lines := bufio.NewScanner(text)
	for n := 0; lines.Scan(); n++ {
		if id, label, ok := strings.Cut(lines.Text(), "\t"); ok && n%10 == 1 {
			labels[id] = label
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return dir, labels
}

func openStore(t *testing.T, dir string) *heatwalk.Graph {
	t.Helper()
	g, err := heatwalk.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() }) // only reads
	return g
}

func together(t *testing.T, dir string, processes int, job func(g *heatwalk.Graph) error) error {
	return testgraph.Processes(processes, func(n sparse.Network) error {
		g, err := heatwalk.Open(t.Context(), dir, &heatwalk.Options{Network: n, Workers: 2})
		if err != nil {
			return err
		}
		defer g.Close()
		err = job(g)
		if n.Rank() > 0 && errors.Is(err, heatwalk.ErrFollower) {
			return nil
		}
		if err == nil && n.Rank() > 0 {
			return fmt.Errorf("process %d: no error", n.Rank())
		}
		return err
	})
}

func TestClassifyOnSeveralProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	dir, labels := coraStore(t)
	methods := cmp.Or(os.Getenv("HEATWALK_METHODS"), "lp,lgc:alpha=0.9,poisson,beliefs,cwk:steps=20:alpha=0.9+svm,"+
		"cwk:alpha=0.9:steps=20+density,diffusion:beta=2+rls,diffusion:beta=2+density,spectral+logistic:dimension=16")
	for _, name := range testgraph.Sample(t, 2, strings.Split(methods, ",")) {
		t.Run(name, func(t *testing.T) {
			one := openStore(t, dir)
			o := &heatwalk.ClassifyOptions{Method: name}
			want, err := one.Classify(t.Context(), labels, o)
			if err != nil {
				t.Fatal(err)
			}
			err = together(t, dir, 3, func(g *heatwalk.Graph) error {
				got, err := g.Classify(t.Context(), labels, o)
				if err != nil {
					return err
				}
				if math.Abs(got.Accuracy-want.Accuracy) > 0.005 {
					return fmt.Errorf("accuracy %v, want %v", got.Accuracy, want.Accuracy)
				}
				if got.UnreachedComponents != want.UnreachedComponents {
					return fmt.Errorf("%d components are not reached, want %d", got.UnreachedComponents, want.UnreachedComponents)
				}
				other := 0
				for _, id := range one.IDs() {
					if got.Label(id) != want.Label(id) {
						other++
					}
				}
				if other > len(one.IDs())/200 {
					return fmt.Errorf("%d of %d nodes have another label", other, len(one.IDs()))
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestClassifyNeedsOneProcess(t *testing.T) {
	dir, labels := coraStore(t)
	for _, name := range []string{"cwk:alpha=0.9:steps=20+dkm", "diffusion:beta=2+dkm"} {
		err := together(t, dir, 2, func(g *heatwalk.Graph) error {
			_, err := g.Classify(t.Context(), labels, &heatwalk.ClassifyOptions{Method: name})
			return err
		})
		if !errors.Is(err, sparse.ErrDivided) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEvaluateOnSeveralProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	isolated := filepath.Join(t.TempDir(), "isolated")
	var ids strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&ids, "isolated%d\n", i)
	}
	if err := os.WriteFile(isolated, []byte(ids.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	dir, labels := coraStoreWith(t, &ingest.Config{Nodes: isolated})
	one := openStore(t, dir)
	p, err := one.Problem(labels)
	if err != nil {
		t.Fatal(err)
	}
	lists := []string{"lgc:alpha=0.9,cwk:alpha=0.9:steps=5+density", "poisson,p-step:steps=3+rls"}
	for _, at := range testgraph.Sample(t, 1, []int{0, 1}) {
		list := lists[at]
		entries, err := method.Parse(list)
		if err != nil {
			t.Fatal(err)
		}
		plan := &evaluate.Plan{Methods: entries, Fractions: []float64{0.1}, Splits: 2, TuningSplits: 1, Settings: new(engine.Settings)}
		want, err := heatwalk.Compare(t.Context(), one, p, plan)
		if err != nil {
			t.Fatal(err)
		}
		err = together(t, dir, 2+at, func(g *heatwalk.Graph) error {
			own, err := g.Problem(labels)
			if err != nil {
				return err
			}
			got, err := heatwalk.Compare(t.Context(), g, own, plan)
			if err != nil {
				return err
			}
			if got.Nodes != want.Nodes || got.Unreached != want.Unreached || len(got.Results) != len(want.Results) {
				return fmt.Errorf("%d nodes, %d of them unreached, %d results; want %d, %d, %d",
					got.Nodes, got.Unreached, len(got.Results), want.Nodes, want.Unreached, len(want.Results))
			}
			for i, w := range want.Results {
				if r := got.Results[i]; r.Method != w.Method || !bytes.Equal(r.Parameters, w.Parameters) || math.Abs(r.AccuracyMean-w.AccuracyMean) > 1e-9 || math.Abs(r.MacroF1-w.MacroF1) > 1e-9 {
					return fmt.Errorf("%s %s: accuracy %v, macro-F1 %v, want %s %s: %v, %v",
						r.Method, r.Parameters, r.AccuracyMean, r.MacroF1, w.Method, w.Parameters, w.AccuracyMean, w.MacroF1)
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", list, err)
		}
	}
}

func TestRegressOnSeveralProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	dir, labels := coraStore(t)
	one := openStore(t, dir)
	values := map[string]float64{}
	for id, label := range labels {
		values[id] = float64(len(label)) + float64(len(id))/8
	}
	const list = "harmonic,hops"
	want, err := one.Regress(t.Context(), values, list)
	if err != nil {
		t.Fatal(err)
	}
	compare := func(g *heatwalk.Graph) (*evaluate.Report, error) {
		p := new(engine.Problem)
		for _, id := range slices.Sorted(maps.Keys(values)) {
			row, _ := g.Nodes.Lookup(id)
			p.Row, p.Value = append(p.Row, row), append(p.Value, values[id])
		}
		methods, err := method.ParseList("harmonic", engine.Numbers)
		if err != nil {
			return nil, err
		}
		return heatwalk.Compare(t.Context(), g, p, &evaluate.Plan{Methods: methods, Fractions: []float64{0.5}, Splits: 2, Settings: new(engine.Settings)})
	}
	wanted, err := compare(one)
	if err != nil {
		t.Fatal(err)
	}
	err = together(t, dir, 3, func(g *heatwalk.Graph) error {
		report, compared := compare(g)
		got, err := g.Regress(t.Context(), values, list)
		if err != nil {
			return err
		}
		if compared != nil {
			return compared
		}
		for row, v := range want.Value {
			if math.Abs(got.Value[row]-v) > 1e-6 || got.Reached.Contains(uint32(row)) != want.Reached.Contains(uint32(row)) {
				return fmt.Errorf("row %d: %v, want %v", row, got.Value[row], v)
			}
		}
		if len(got.Value) != len(want.Value) || math.Abs(got.Contest.RMSE-want.Contest.RMSE) > 1e-6 || report.Nodes != wanted.Nodes {
			return fmt.Errorf("%d values, RMSE %v, %d nodes; want %d, %v, %d", len(got.Value), got.Contest.RMSE, report.Nodes, len(want.Value), want.Contest.RMSE, wanted.Nodes)
		}
		for i, w := range wanted.Results {
			if r := report.Results[i]; math.Abs(r.RMSE-w.RMSE) > 1e-6 {
				return fmt.Errorf("%s: RMSE %v, want %v", r.Method, r.RMSE, w.RMSE)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestEigenOnSeveralProcesses(t *testing.T) {
	dir, _ := coraStore(t)
	one := openStore(t, dir)
	_, want, err := one.Eigen(t.Context(), heatwalk.NormalizedAdjacency, lanczos.Largest, 90, 0)
	if err != nil {
		t.Fatal(err)
	}
	err = together(t, dir, 3, func(g *heatwalk.Graph) error {
		vectors, pairs, err := g.Eigen(t.Context(), heatwalk.NormalizedAdjacency, lanczos.Largest, 90, 0)
		if err != nil {
			return err
		}
		for j, v := range want.Values {
			if math.Abs(pairs.Values[j]-v) > 1e-9 {
				return fmt.Errorf("eigenvalue %d is %v, want %v", j, pairs.Values[j], v)
			}
		}
		if n, _ := vectors.Dims(); n != len(one.IDs()) {
			return fmt.Errorf("%d rows", n)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

package cli

import (
	"bytes"
	"context"
	"os"
	"testing"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/ingest"
)

func TestLibraryAgrees(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	must := func(args ...string) {
		t.Helper()
		if code, stderr := runWithin(args...); code != shell.Done {
			t.Fatalf("%v: exit code %d: %s", args, code, stderr)
		}
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must("demo", "--save", "example")
	t.Chdir("example")
	check(os.WriteFile("targets.ids", []byte("a216\na391\na0\n"), 0o666))
	edges := []string{"relations.csv", "--kind", "relation", "--time", "date"}
	must(append([]string{"ingest", "-o", "accounts"}, edges...)...)
	must(append([]string{"classify", "--labels", "known.csv", "--effort", "low", "--node-features", "accounts.csv", "--targets", "targets.ids",
		"--sets", "0.9", "-o", "command.csv", "--save-model", "command.model"}, edges...)...)
	ctx := context.Background()
	same := func(what, name string, got []byte) {
		t.Helper()
		want, err := os.ReadFile(name)
		check(err)
		if !bytes.Equal(got, want) {
			t.Errorf("%s: got\n%s\n%s has\n%s", what, got, name, want)
		}
	}
	for _, name := range []string{"relations.csv", "accounts"} {
		g, err := heatwalk.Open(ctx, name, &heatwalk.Options{Reading: &ingest.Config{Kind: "relation", Time: "date"}})
		check(err)
		labels, err := g.ReadLabels(ctx, "known.csv", nil)
		check(err)
		o := heatwalk.ClassifyOptions{Attributes: "accounts.csv", Targets: []string{"a216", "a391", "a0"}, Sets: 0.9}
		learning := o
		learning.Effort = "low"
		p, err := g.Classify(ctx, labels, &learning)
		check(err)
		check(p.Save("library.model"))
		m, err := heatwalk.LoadModel("library.model")
		check(err)
		q, err := m.Predict(ctx, g, &o)
		check(err)
		model, err := os.ReadFile("library.model")
		check(err)
		same(name, "command.model", model)
		for what, p := range map[string]*heatwalk.Prediction{"learned": p, "by the model": q} {
			var text bytes.Buffer
			check(p.WriteTo(ctx, &text, ".csv"))
			same(name+" "+what, "command.csv", text.Bytes())
		}
		check(g.Close())
	}
}

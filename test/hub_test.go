package test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/sparse"
)

// The shares of labels are weights of edges divided by the sum of these weights, and each link has the kinds of all its
// edges.
func TestHubReasons(t *testing.T) {
	const leaves = sparse.MaxRange + 1000 // odd leaves are joined by pays, which counts half
	var b strings.Builder
	b.WriteString("source,target,kind,weight\n")
	for leaf := range leaves {
		fmt.Fprintf(&b, "hub,n%d,%s,1\n", leaf, []string{"calls", "pays"}[leaf%2])
	}
	fmt.Fprintf(&b, "hub,n7,calls,4\nhub,n%d,calls,2\nn8,n9,pays,1\n", leaves-1)
	path := filepath.Join(t.TempDir(), "edges.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	store := path + ".store"
	if _, err := ingest.Run(t.Context(), store, []string{path}, &ingest.Config{Kind: "kind", Duplicates: ingest.SumDuplicates}); err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{"n7": "A", "n12": "B", fmt.Sprint("n", leaves-1): "A"}
	var want []heatwalk.Reasons
	for _, workers := range []int{1, 2, 7} {
		g, err := heatwalk.Open(t.Context(), store, &heatwalk.Options{Workers: workers, Edges: sides.Options{Kinds: map[string]float64{"pays": 0.5}}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := g.Explain(t.Context(), labels, []string{"hub", "n7"}, &heatwalk.ClassifyOptions{Method: "lp:center=false"})
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d goroutines: %s", workers, diff)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
	e := want[0]
	if e.Label != "A" || len(e.Labels) != 2 || math.Abs(e.Score-7./8) > 1e-9 || math.Abs(e.Labels[0].Share-4.5/8) > 1e-9 {
		t.Fatalf("%+v", e)
	}
	for i, leaf := range []string{"n7", fmt.Sprint("n", leaves-1)} {
		link, kinds, weight := e.Links[i], map[string]float64{}, map[string]float64{"calls": 1, "pays": 0.5}
		total := 0.0
		for _, kind := range link.Kinds {
			kinds[kind.Kind] = kind.Weight
			total += kind.Weight * weight[kind.Kind]
		}
		if link.From != "hub" || link.To != leaf || len(kinds) != 2 || math.Abs(total/8-e.Labels[i].Share) > 1e-9 {
			t.Errorf("link of %s: %+v", leaf, link)
		}
	}
}

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/npy"
	"github.com/heatwalk/heatwalk/method/items"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func collectionFiles(t *testing.T, c *graphfile.Collection) string {
	t.Helper()
	prefix := filepath.Join(t.TempDir(), "D")
	if err := contract.WriteTU(prefix, c); err != nil {
		t.Fatal(err)
	}
	return prefix
}

func TestGoldenGraphs(t *testing.T) {
	check := func(prefix, flags, golden string) {
		t.Run(golden, func(t *testing.T) {
			want, out := testgraph.Golden(t, "graphspace/"+golden+".npy"), filepath.Join(t.TempDir(), "K.npy")
			run(t, append([]string{"graphs", "kernel", prefix, "--dtype", "float64", "--quiet", "-o", out}, strings.Fields(flags)...)...)
			testgraph.Close(t, readNPY(t, out, want.Rows, want.Cols), want, 1e-10, 1e-9)
		})
	}
	undirected := collectionFiles(t, contract.GoldenCollection(t, "undirected.json"))
	directed := collectionFiles(t, contract.GoldenCollection(t, "directed.json"))
	for _, kind := range []string{"sequence", "pair"} {
		walk := "--kernel label-" + kind + ":weights="
		check(undirected, walk+"geometric:decay=0.186", "undirected_"+kind+"_geometric")
		check(undirected, walk+"exponential:decay=0.6", "undirected_"+kind+"_exponential")
		check(directed, walk+"geometric:decay=0.5 --directed", "directed_"+kind+"_geometric")
		check(directed, walk+"exponential:decay=0.6 --directed", "directed_"+kind+"_exponential")
	}
	check(undirected, "--kernel cyclic-patterns", "cyclic_pattern")

	single, multi, measure, base := contract.GoldenSets(t)
	sets, multisets := collectionFiles(t, single), collectionFiles(t, multi)
	dir := t.TempDir()
	var lines, ids strings.Builder
	for i, x := range measure {
		fmt.Fprintf(&lines, "%d\t%v\n", i, x)
		fmt.Fprintln(&ids, i)
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	measured := " --measure " + write("measure.tsv", lines.String())
	write("base.rows.ids", ids.String())
	write("base.cols.ids", ids.String())
	between := " --base " + write("base.npy", matrixText(t, base))
	for _, of := range []struct{ name, flags string }{{"count", ""}, {"measure", measured}} {
		for _, k := range []string{"intersection", "union", "tanimoto"} {
			check(sets, "--kernel "+k+of.flags, "set_"+k+"_"+of.name)
		}
		check(multisets, "--kernel intersection:multiset=true"+of.flags, "multiset_intersection_"+of.name)
		check(multisets, "--kernel cross:multiset=true"+between+of.flags, "multiset_cross_"+of.name)
	}
}

func matrixText(t *testing.T, m *sparse.Block[float64]) string {
	t.Helper()
	var text strings.Builder
	w, err := npy.NewWriter[float64](&text, m.Rows, m.Cols)
	for i := 0; i < m.Rows && err == nil; i++ {
		err = w.Floats(m.Row(i))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestExamples(t *testing.T) {
	for _, kind := range items.Kinds() {
		if kind.Example == "" {
			continue
		}
		n, err := param.ParseTerm(kind.Example)
		if err != nil {
			t.Fatal(err)
		}
		s := param.List[*param.Spec](kind.Kernels()).Named(n.Name)
		if s == nil {
			t.Fatalf("%s: no kernel %s", kind.Name, n.Name)
		}
		for name := range n.Texts {
			if s.Param(name) == nil {
				t.Errorf("%s: %s has no parameter %s", kind.Name, s.Name, name)
			}
		}
	}
}

package cli

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestCollectionLimit(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes a second")
	}
	if system.PeakMemory() == 0 {
		t.Skip("no resident memory is told here")
	}
	dir := t.TempDir()
	writePaths(t, dir, "D", 300, 2200)
	writePaths(t, dir, "S", 300, 1000)
	writePaths(t, dir, "M", 3000, 2)
	run := func(args ...string) (string, error) {
		cmd := exec.Command(os.Args[0], append(args, "--json")...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HEATWALK_TEST_MAIN=1")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	// Similar vertices have few features, and similar graphs few patterns. The plan is within three times the
	// peak.
	for _, kernel := range testgraph.Sample(t, 1, []string{"S --kernel label-pair", "D --kernel cyclic-patterns"}) {
		args := strings.Fields("graphs kernel " + kernel + " -o K.npy")
		var plan costs
		var ran struct {
			Peak int64 `json:"peak_memory_bytes"`
		}
		text, err := run(append(args, "--dry-run")...)
		if err != nil || json.Unmarshal([]byte(text), &plan) != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if text, err = run(args...); err != nil || json.Unmarshal([]byte(text), &ran) != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if ran.Peak > plan.MemoryBytes || plan.MemoryBytes > 3*ran.Peak {
			t.Errorf("%s: the peak is %d bytes, the plan %d", kernel, ran.Peak, plan.MemoryBytes)
		}
		t.Logf("%s: plan %d, peak %d", kernel, plan.MemoryBytes, ran.Peak)
	}
	// One group of rows of values is in memory at a time.
	var ran struct {
		Peak int64 `json:"peak_memory_bytes"`
	}
	const limit = 64 << 20
	if text, err := run("graphs", "kernel", "M", "--kernel", "intersection", "--max-memory", "64MiB", "-o", "K.npy"); err != nil || json.Unmarshal([]byte(text), &ran) != nil || ran.Peak > limit {
		t.Errorf("a kernel of 72 MB within 64 MiB: %v, the peak is %d bytes: %s", err, ran.Peak, text)
	}
	lines := []string{"graphs kernel D --kernel intersection:parts=vertices -o K.npy"}
	if testgraph.Hunt {
		lines = append(lines,
			"graphs kernel D --kernel label-pair -o K.npy",
			"graphs kernel D --kernel label-sequence:weights=exponential:decay=0.01 -o K.npy",
			"graphs kernel D --kernel cyclic-patterns -o K.npy",
			"graphs kernel D --kernel cross:parts=edges -o K.npy",
			"graphs kernel D --kernel tanimoto --vertices degree -o K.npy",
			"graphs evaluate D --folds 2 --kernel label-pair --learner svm,rls",
			"graphs evaluate D --folds 2 --kernel intersection:parts=vertices --learner gp,logistic",
		)
	}
	for _, line := range lines {
		args := strings.Fields(line)
		text, err := run(append(args, "--max-memory", "64MiB")...)
		_, advice, refused := strings.Cut(text, "allow ")
		advice, _, _ = strings.Cut(advice, " or more")
		if err == nil || !refused {
			t.Errorf("%s: %v: %s", line, err, text)
			continue
		}
		limit, err := shell.ParseSize(advice)
		if err != nil {
			t.Fatal(err)
		}
		var plan costs
		if text, err = run(append(args, "--dry-run", "--max-memory", advice)...); err != nil || json.Unmarshal([]byte(text), &plan) != nil {
			t.Errorf("%s: %v: %s", line, err, text)
			continue
		}
		var ran struct {
			Peak int64 `json:"peak_memory_bytes"`
		}
		if text, err = run(append(args, "--max-memory", advice)...); err != nil || json.Unmarshal([]byte(text), &ran) != nil {
			t.Errorf("%s within %s: %v: %s", line, advice, err, text)
		} else if ran.Peak > limit || ran.Peak > plan.MemoryBytes {
			t.Errorf("%s within %s: the peak is %d bytes, the plan %d", line, advice, ran.Peak, plan.MemoryBytes)
		}
		t.Logf("%s: %s advised, plan %d, peak %d", line, advice, plan.MemoryBytes, ran.Peak)
	}
}

func writePaths(t *testing.T, dir, name string, graphs, vertices int) {
	t.Helper()
	var edges, indicator, labels, classes strings.Builder
	for g := range graphs {
		fmt.Fprintln(&classes, g%2)
		for v := range vertices {
			at := g*vertices + v + 1
			fmt.Fprintln(&indicator, g+1)
			fmt.Fprintln(&labels, v*(1+g%2)%7)
			if v > 0 {
				fmt.Fprintf(&edges, "%d, %d\n", at-1, at)
			}
		}
	}
	for ending, text := range map[string]*strings.Builder{"A": &edges, "graph_indicator": &indicator, "node_labels": &labels, "graph_labels": &classes} {
		f, err := os.Create(filepath.Join(dir, name+"_"+ending+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		w, err := gzip.NewWriterLevel(f, gzip.BestSpeed)
		if err == nil {
			_, err = w.Write([]byte(text.String()))
		}
		if err != nil || w.Close() != nil || f.Close() != nil {
			t.Fatal(err)
		}
	}
}

package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// planned are runs on a block model of 200,000 nodes: g, and ordered by degree.
var planned = []string{
	"features g --labels labels.tsv --kernel cwk:steps=10 -o F.npy",
	"features g --labels labels.tsv --max-memory 96MiB --kernel cwk:steps=10 -o F.npy",
	"kernel g --labels labels.tsv --cols few.ids --kernel cwk:steps=10 -o K.npy",
	"kernel g --cols few.ids --kernel diffusion:laplacian=normalized:beta=1 -o D.npy",
	"gram classify D.npy --labels many.tsv --learner gp -o S.npy",
	"eigen g --matrix normalized-adjacency --which largest --k 10 --tolerance 1e-3 -o E.npy",
	"classify g --labels labels.tsv --method cwk:alpha=0.9:steps=10:cost=1:features=plain -o p.tsv",
	"classify g --labels many.tsv --method cwk:alpha=0.9:steps=4:cost=1:features=plain -o p.tsv",
	"classify g --labels many.tsv --method lp --max-memory 512MiB -o p.tsv",
	"generate er --nodes 500000 --edges 3000000 -o er/ --force",
	"generate grid --rows 1000 --columns 700 -o grid/ --force",
	"info ordered --labels labels.tsv",
	"verify ordered",
	"convert g -o c.tsv.zst",
	"convert ordered -o c.npz",
	"convert ordered --max-memory 64MiB -o c.mtx",
	"convert g -o c.parquet",
	"eigen g --matrix laplacian --which smallest --k 1 -o E.npy",
	"kernel g --kernel von-neumann --cols few.ids -o D.npy",
	"kernel g --kernel pseudo-inverse --rows few.ids --cols few.ids -o D.npy",
	"kernel g --cols ten.ids --kernel pseudo-inverse:laplacian=normalized -o D.npy",
	"kernel g --kernel matern --cols ten.ids -o D.npy",
	"classify g --labels two.tsv --method cwk -o p.tsv",
}

// costs has the keys of the plan of a dry run.
type costs struct {
	MemoryBytes int64 `json:"memory_bytes"`
	LimitBytes  int64 `json:"limit_bytes"`
}

// TestPlanBoundsPeak checks that the estimate of a run is at least its peak resident memory and, above
// 256 MiB, at most twice the peak, and that limits are not exceeded. Each run is a separate process. A
// hunt runs the whole list on 200,000 nodes, otherwise a sample runs on 50,000.
func TestPlanBoundsPeak(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds and hundreds of megabytes")
	}
	if system.PeakMemory() == 0 {
		t.Skip("no resident memory is told here")
	}
	nodes, lines, classes := "40000", planned, 30
	if testgraph.Hunt {
		nodes, classes = "200000", 60
	} else {
		lines = []string{planned[7]} // the largest one
		for _, i := range testgraph.SampleOf(t, 3, len(planned)) {
			switch line := planned[i]; {
			case strings.HasPrefix(line, "gram "):
				lines = append(lines, planned[3], line) // of the kernel's values
			default:
				lines = append(lines, line)
			}
		}
	}
	dir := t.TempDir()
	run := func(args ...string) []byte {
		cmd := exec.Command(os.Args[0], append(args, "--json")...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HEATWALK_TEST_MAIN=1")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		return out
	}
	run("generate", "sbm", "--nodes", nodes, "-o", "edges.tsv", "--labels", "labels.tsv")
	run("ingest", "edges.tsv", "-o", "g")
	run("ingest", "edges.tsv", "--order", "degree", "-o", "ordered")
	writeLabels(t, dir, classes)
	run("features", "g", "--labels", "many.tsv", "--kernel", "cwk:steps=8", "-o", "X.npy")
	for _, line := range lines {
		args := strings.Fields(line)
		var plan costs
		if err := json.Unmarshal(run(append(args, "--dry-run")...), &plan); err != nil {
			t.Fatal(err)
		}
		// Not the system's count for a child: that begins with the memory of
		// this process, of which the child is a copy at first. On a busy machine
		// garbage may wait for its collector: one run of five decides.
		var ran struct {
			Peak int64 `json:"peak_memory_bytes"`
		}
		within := func() bool {
			const large = 256 << 20
			return ran.Peak <= plan.MemoryBytes && (plan.LimitBytes == 0 || ran.Peak <= plan.LimitBytes) && (plan.MemoryBytes <= large || plan.MemoryBytes <= 2*ran.Peak)
		}
		for try := 0; try == 0 || try < 5 && !within(); try++ {
			if err := json.Unmarshal(run(args...), &ran); err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: plan %d, limit %d, peak %d", line, plan.MemoryBytes, plan.LimitBytes, ran.Peak)
		}
		if !within() {
			t.Errorf("%s: the plan is %d bytes, the limit %d, the peak %d", line, plan.MemoryBytes, plan.LimitBytes, ran.Peak)
		}
	}
	// The limit in a refusal suffices, and a sixth less does not.
	for _, line := range testgraph.Sample(t, 1, []string{
		"kernel g --cols few.ids --kernel diffusion:laplacian=normalized:beta=1 -o D.npy",
		"kernel g --labels labels.tsv --cols few.ids --kernel cwk:steps=6000 -o K.npy",
		"classify g --labels two.tsv --node-features X.npy -o p.tsv", // whose attributes do not fit either
	}) {
		estimate := func(limit string) string {
			cmd := exec.Command(os.Args[0], append(strings.Fields(line), "--dry-run", "--max-memory", limit)...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "HEATWALK_TEST_MAIN=1")
			out, _ := cmd.CombinedOutput()
			return string(out)
		}
		const allow = "allow "
		_, advice, refused := strings.Cut(estimate("64MiB"), allow)
		advice, _, _ = strings.Cut(advice, " or more")
		if text := estimate(advice); !refused || strings.Contains(text, allow) {
			t.Errorf("%s: %q: %s", line, advice, text)
		}
		bytes, err := shell.ParseSize(advice)
		if err != nil {
			t.Fatal(err)
		}
		if text := estimate(strconv.FormatInt(bytes/6*5, 10)); !strings.Contains(text, allow) {
			t.Errorf("%s: five sixths of %q: %s", line, advice, text)
		}
	}
}

// writeLabels writes, of the labels in labels.tsv: 300 nodes with one of some classes
// (many.tsv) and of two (two.tsv), and lists of these nodes and of ten of them.
func writeLabels(t *testing.T, dir string, classes int) {
	t.Helper()
	labels, err := os.ReadFile(filepath.Join(dir, "labels.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var many, two, ids []string
	for line := range strings.Lines(string(labels)) {
		if id, _, ok := strings.Cut(line, "\t"); ok && len(ids) < 300 {
			ids = append(ids, id+"\n")
			many = append(many, fmt.Sprintf("%s\t%d\n", id, len(ids)%classes))
			two = append(two, fmt.Sprintf("%s\t%d\n", id, len(ids)%2))
		}
	}
	for name, lines := range map[string][]string{"many.tsv": many, "two.tsv": two, "few.ids": ids, "ten.ids": ids[:10]} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(lines, "")), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// A store whose nodes alone exceed the limit is refused before they are read, and
// the limit in the refusal suffices.
func TestManyNodesRefused(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("makes a store of millions of nodes")
	}
	dir := t.TempDir()
	run := func(args ...string) string {
		cmd := exec.Command(os.Args[0], append(args, "--json")...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HEATWALK_TEST_MAIN=1")
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	run("generate", "er", "--nodes", "4000000", "--edges", "2000000", "-o", "g/")
	for _, command := range testgraph.Sample(t, 1, []string{"verify", "info"}) {
		refusal := run(command, "g", "--max-memory", "64MiB")
		_, advice, refused := strings.Cut(refusal, "allow ")
		advice, _, _ = strings.Cut(advice, " or more")
		if !refused {
			t.Fatalf("%s: %s", command, refusal)
		}
		if out := run(command, "g", "--max-memory", advice); !strings.Contains(out, `"peak_memory_bytes"`) {
			t.Errorf("%s within %s: %s", command, advice, out)
		}
	}
}

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// planned are runs on a graph G with labels, numbers and lists of nodes.
var planned = []string{
	"ingest G.tsv -o h --force", "info G --labels G.labels", "verify G", "convert G -o c.mtx", "convert G -o c.parquet",
	"features G --labels G.labels --kernel cwk:steps=10 -o F.npy",
	"kernel G --labels G.labels --cols G.ids --kernel cwk:steps=10 -o K.npy",
	"kernel G --cols G.ids --kernel diffusion -o K.npy",
	"kernel G --cols G.ids --kernel regularized-laplacian -o K.npy",
	"kernel G --rows G.ids --cols G.ids --kernel pseudo-inverse -o K.npy",
	"kernel G --rows G.ids --cols G.ids --kernel matern -o K.npy",
	"kernel G --rows G.ids --cols G.ids --kernel modularity:rank=5 -o K.npy",
	"kernel G --rows G.ids --cols G.ids --kernel pagerank -o K.npy",
	"eigen G --matrix normalized-adjacency --which largest -k 10 --tolerance 1e-3 -o E.npy",
	"eigen G --matrix laplacian --which smallest -k 5 --tolerance 1e-3 -o E.npy",
	"rank G --seeds G.ids -o r.tsv", "rank G --seeds G.ids --kernel pagerank -o r.tsv",
	"suggest G --labels G.labels --method lp -o s.tsv", "explain G 1 2 --labels G.labels --method lp -o e.tsv",
	"regress G --values G.values --method harmonic -o v.tsv",
	"regress G --values G.values --method hops -o v.tsv",
	"regress G --values G.values --method regularized-laplacian+rls -o v.tsv",
	"regress G --values G.values --method spectral -o v.tsv",
	"evaluate G --labels G.labels --method lp,lgc --splits 2 --train 0.5 --report e.json",
	"evaluate G --labels G.labels --method cwk --splits 1 --tuning-splits 1 --train 0.5 --report e.json",
	"classify G --labels G.labels --multi-label -o p.tsv",
	"classify G --labels G.labels --effort low -o p.tsv",
	"classify G --labels G.labels --method auto -o p.tsv", "classify G --labels G.labels --method majority -o p.tsv",
	"classify G --labels G.many --method auto -o p.tsv",
	"classify G --labels G.labels --method lp -o p.tsv", "classify G --labels G.many --method lp -o p.tsv",
	"classify G --labels G.labels --method lgc -o p.tsv",
	"classify G --labels G.many --method lgc -o p.tsv", "classify G --labels G.labels --method poisson -o p.tsv",
	"classify G --labels G.labels --method beliefs -o p.tsv", "classify G --labels G.many --method beliefs -o p.tsv",
	"classify G --labels G.labels --method wvrn -o p.tsv", "classify G --labels G.labels --method cwk -o p.tsv",
	"classify G --labels G.many --method cwk:alpha=0.5:steps=5:cost=1 -o p.tsv",
	"classify G --labels G.labels --method spectral+logistic -o p.tsv",
	"classify G --labels G.labels --method diffusion:beta=1:cost=1 -o p.tsv",
	"classify G --labels G.labels --method regularized-laplacian:alpha=1+rls:lambda=1 -o p.tsv",
	"classify G --labels G.labels --node-features G.attributes -o p.tsv",
}

// testPages is what the file of a test has in memory beside that of the program.
const testPages = 7 << 20

// costs has the memory in the documents of a dry run and of a run.
type costs struct {
	RequiredBytes int64 `json:"required_bytes"`
	MemoryBytes   int64 `json:"memory_bytes"`
	Peak          int64 `json:"peak_memory_bytes"`

	Unfit []string `json:"unfit_stages"`
}

// TestPlans checks that the peak resident memory of a run does not exceed the memory in its dry run, and that
// the required memory does not exceed three times the peak, or the peak and 200 MiB. With the smallest limit,
// which an error advises, the peak must be within the limit and the output must be the same. Each run is a
// separate process.
func TestPlans(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds and hundreds of megabytes")
	}
	if system.PeakMemory() == 0 {
		t.Skip("no resident memory is told here")
	}
	dir := t.TempDir()
	run := func(line string) (c costs, err error) {
		cmd := exec.Command(os.Args[0], append(strings.Fields(line), "--json")...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HEATWALK_TEST_MAIN=1")
		out, err := cmd.Output()
		if exit := new(exec.ExitError); errors.As(err, &exit) {
			return c, fmt.Errorf("%s: %w: %s", line, err, exit.Stderr)
		}
		return c, json.Unmarshal(out, &c)
	}
	made := []string{"generate sbm --nodes 15000 -o blocks.tsv", "generate rmat --scale 13 -o hubs.tsv", "generate grid --rows 120 --columns 120 -o roads.tsv"}
	if testgraph.Hunt {
		made = []string{"generate sbm --nodes 60000 -o blocks.tsv", "generate rmat --scale 15 -o hubs.tsv", "generate grid --rows 220 --columns 220 -o roads.tsv"}
	}
	for _, made := range testgraph.Sample(t, 1, made) {
		file := made[strings.LastIndexByte(made, ' ')+1:]
		graph := strings.TrimSuffix(file, ".tsv")
		for _, line := range []string{made, "ingest " + file + " -o " + graph} {
			if _, err := run(line); err != nil {
				t.Fatal(err)
			}
		}
		writeNodes(t, filepath.Join(dir, graph))
		for _, line := range testgraph.Sample(t, 1, planned) {
			line = strings.ReplaceAll(line, "G", graph)
			plan, err := run(line + " --dry-run")
			if err != nil {
				t.Error(err)
				continue
			}
			// On a busy machine garbage may wait for its collector, so that one run of five decides, here and
			// within the limit.
			var ran costs
			for try := 0; try == 0 || try < 5 && err == nil && ran.Peak > plan.MemoryBytes; try++ {
				ran, err = run(line)
			}
			t.Logf("%s: required %d MiB, most %d, peak %d", line, plan.RequiredBytes>>20, plan.MemoryBytes>>20, ran.Peak>>20)
			if err != nil || ran.Peak > plan.MemoryBytes || plan.RequiredBytes > max(3*ran.Peak, ran.Peak+200<<20) {
				t.Errorf("%s: required %d, most %d, peak %d: %v", line, plan.RequiredBytes, plan.MemoryBytes, ran.Peak, err)
			}
			want := writtenBy(dir, line)
			limit := "64MiB"
			ran, err = run(line + " --max-memory " + limit)
			for range 2 { // a run may be refused before its start, and when the entries of a factor are counted
				if advice := regexp.MustCompile(`allow (?:--max-memory )?([\d.]+ ?[KMG]i?B)`).FindStringSubmatch(fmt.Sprint(err)); advice != nil {
					limit = strings.ReplaceAll(advice[1], " ", "")
					ran, err = run(line + " --max-memory " + limit)
				}
			}
			bytes, wrong := shell.ParseSize(limit)
			for try := 1; try < 5 && err == nil && ran.Peak > bytes; try++ {
				ran, err = run(line + " --max-memory " + limit)
			}
			if isSame := len(ran.Unfit) > 0 || writtenBy(dir, line) == want; err != nil || wrong != nil || ran.Peak > bytes+testPages || !isSame {
				t.Errorf("%s within %s: peak %d (%v)", line, limit, ran.Peak, err)
			}
			t.Logf("%s: within %s, peak %d", line, limit, ran.Peak>>20)
		}
	}
}

// writtenBy returns the output of a line, or "" for reports and stores, because they contain times.
func writtenBy(dir, line string) string {
	words := strings.Fields(line)
	text, err := os.ReadFile(filepath.Join(dir, words[len(words)-1]))
	if err != nil || strings.HasSuffix(line, ".json") {
		return ""
	}
	return string(text)
}

// writeNodes writes labels, of few and of many classes, numbers and attributes of 500 nodes of GRAPH.tsv, and
// the ids of 100 nodes.
func writeNodes(t *testing.T, graph string) {
	t.Helper()
	text, err := os.ReadFile(graph + ".tsv")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	lists := map[string]string{".attributes": "node\ta\tb\tc\n"}
	for line := range strings.Lines(string(text)) {
		id := strings.Fields(line)[0]
		if seen[id] {
			continue
		}
		seen[id] = true
		class := len(seen) / 20
		if len(seen)%20 == 1 {
			lists[".labels"] += fmt.Sprintf("%s\t%d\n", id, class%5)
			lists[".many"] += fmt.Sprintf("%s\t%d\n", id, class%50)
			lists[".values"] += fmt.Sprintf("%s\t%d\n", id, class%7)
			lists[".attributes"] += fmt.Sprintf("%s\t%d\t%d\t%d\n", id, class%2, class%3, class%11)
			if len(seen) < 2000 {
				lists[".ids"] += id + "\n"
			}
		}
		if len(seen) > 10_000 {
			break
		}
	}
	for ending, text := range lists {
		if err := os.WriteFile(graph+ending, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

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

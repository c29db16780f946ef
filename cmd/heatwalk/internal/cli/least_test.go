package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// TestLeastLimitsHold makes runs with the smallest limit that they accept, as refusals
// advise it, on blocks, on a network with hubs and on roads: the limit is not passed.
func TestLeastLimitsHold(t *testing.T) {
	if !testgraph.Hunt {
		t.Skip("takes minutes")
	}
	dir := t.TempDir()
	run := func(args ...string) (string, error) {
		cmd := exec.Command(os.Args[0], append(args, "--json")...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HEATWALK_TEST_MAIN=1")
		out, err := cmd.Output()
		if exit, ok := err.(*exec.ExitError); ok {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return string(out), err
	}
	for graph, made := range map[string]string{
		"blocks": "generate sbm --nodes 50000 -o blocks.tsv",
		"hubs":   "generate rmat --scale 15 -o hubs.tsv",
		"roads":  "generate grid --rows 300 --columns 300 -o roads.tsv",
	} {
		if _, err := run(strings.Fields(made)...); err != nil {
			t.Fatal(err)
		}
		lists := listsOf(t, filepath.Join(dir, graph+".tsv"))
		for name, text := range lists {
			if err := os.WriteFile(filepath.Join(dir, graph+name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := run("ingest", graph+".tsv", "-o", graph); err != nil {
			t.Fatal(err)
		}
		lines := []string{
			"ingest G.tsv -o h --force", "info G --labels G.labels", "verify G", "convert G -o c.mtx",
			"features G --labels G.labels --rows G.ids --kernel cwk:steps=5 -o F.npy",
			"kernel G --labels G.labels --rows G.ids --cols G.ids --kernel cwk:steps=5 -o K.npy",
			"classify G --labels G.labels -o p.tsv", "classify G --labels G.labels --method lp -o p.tsv",
			"classify G --labels G.labels --method cwk:alpha=0.5:steps=5:cost=1 -o p.tsv",
			"evaluate G --labels G.labels --method lp,diffusion+rls --grid none --splits 2 --tuning-splits 0 --train 0.1",
			"evaluate G --labels G.labels --method cwk,lgc --splits 1 --tuning-splits 1 --train 0.2",
			"eigen G --matrix normalized-adjacency --which largest --k 5 -o E.npy",
			"eigen G --matrix laplacian --which smallest --k 5 -o E.npy",
		}
		for _, kernel := range []string{
			"diffusion", "diffusion --laplacian combinatorial", "exponential", "von-neumann", "regularized-laplacian",
			"regularized-laplacian --laplacian combinatorial", "pseudo-inverse", "commute-time", "regularized-commute-time",
			"p-step", "matern", "matern --laplacian combinatorial", "modularity --rank 5", "pagerank", "heat-pagerank", "vertex",
		} {
			lines = append(lines, "kernel G --kernel "+kernel+" --rows G.ids --cols G.ids -o K.npy")
		}
		for _, method := range []string{
			"lgc", "poisson", "diffusion:beta=1:cost=1", "regularized-laplacian:alpha=1+rls:lambda=1", "pseudo-inverse+rls:lambda=1",
		} {
			lines = append(lines, "classify G --labels G.labels -o p.tsv --method "+method)
		}
		for _, line := range lines {
			args := strings.Fields(strings.ReplaceAll(line, "G", graph))
			limit := "64MiB"
			out, err := run(append(args, "--max-memory", limit)...)
			for try := 0; err != nil && try < 4; try++ {
				advice := regexp.MustCompile(`allow (?:--max-memory )?([\d.]+ ?[KMG]i?B)`).FindStringSubmatch(err.Error())
				if advice == nil {
					break
				}
				if limit = strings.ReplaceAll(advice[1], " ", ""); try > 0 {
					t.Errorf("%v: the limit that was advised is refused: %v", args, err)
				}
				out, err = run(append(args, "--max-memory", limit)...)
			}
			if err != nil && strings.Contains(err.Error(), " pairs after ") {
				continue // blocks have too many around σ for this limit of products, whatever the memory
			}
			var ran struct {
				Peak int64 `json:"peak_memory_bytes"`
			}
			if err == nil {
				err = json.Unmarshal([]byte(out), &ran)
			}
			bytes, wrong := shell.ParseSize(limit)
			if err != nil || wrong != nil || ran.Peak > bytes {
				t.Errorf("%v: limit %s, peak %d (%v)", args, limit, ran.Peak, err)
			}
			t.Logf("%v: limit %s, peak %d", args, limit, ran.Peak)
		}
	}
}

// listsOf returns labels of 500 nodes of an edge list, and the ids of 100 of them.
func listsOf(t *testing.T, edges string) map[string]string {
	text, err := os.ReadFile(edges)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	lists := map[string]string{}
	for line := range strings.Lines(string(text)) {
		id := strings.Fields(line)[0]
		if seen[id] {
			continue
		}
		if seen[id] = true; len(seen)%20 != 1 {
			continue
		}
		lists[".labels"] += fmt.Sprintf("%s\t%d\n", id, len(seen)/20%5)
		if len(seen) < 2000 {
			lists[".ids"] += id + "\n"
		}
		if len(seen) > 10_000 {
			break
		}
	}
	return lists
}

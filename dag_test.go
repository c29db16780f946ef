package heatwalk

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/heatwalk/heatwalk/"

// floors is the house from the ground up: a package imports only packages of
// lower floors, never one of its own, and a room inside a package is imported by that
// package and by rooms inside it alone. docs/architecture.md says what each is for.
var floors = map[string]int{
	"param":                             0,
	"docs":                              0,
	"file/input":                        0,
	"internal/report":                   0,
	"internal/simd":                     0,
	"internal/sched":                    0,
	"internal/durable":                  0,
	"internal/budget":                   0,
	"internal/pages":                    0,
	"internal/reorder":                  0,
	"internal/ranked":                   0,
	"internal/graphmap":                 2,
	"internal/textio":                   1,
	"internal/npy":                      2,
	"internal/market":                   2,
	"internal/unread":                   0,
	"internal/nearest":                  0,
	"internal/system":                   0,
	"internal/table":                    1,
	"internal/parquetfile":              2,
	"internal/nodetable":                3,
	"internal/symmetric":                1,
	"sparse":                            1,
	"sparse/shard":                      2,
	"sparse/petsc":                      2,
	"file/graphfile":                    3,
	"file/tablefile":                    5,
	"file/nodefile":                     4,
	"cwk":                               3,
	"lanczos":                           3,
	"internal/blocks":                   2,
	"internal/ridge":                    2,
	"internal/gram":                     2,
	"ingest/source":                     7,
	"ingest/internal/sort":              1,
	"ingest/internal/parse":             2,
	"ingest/internal/ids":               2,
	"partition":                         2,
	"ingest/source/internal/similarity": 2,
	"ingest/internal/lines":             5,
	"ingest":                            6,
	"ingest/generate":                   4,
	"graph":                             3,
	"iterative":                         4,
	"expm":                              5,
	"propagate":                         5,
	"lanczos/spectral":                  5,
	"kernel":                            6,
	"papers/closed":                     7,
	"kernel/function":                   7,
	"papers/graphs":                     7,
	"classify":                          6,
	"method/split":                      7,
	"method/problem":                    4,
	"method/explain":                    5,
	"method/internal/chunks":            2,
	"method/internal/beliefs":           8,
	"method/choose":                     8,
	"method/regress":                    12,
	"method/sides":                      3,
	"method/rank":                       8,
	"method/items":                      12,
	"papers/ongram":                     13,
	"method/internal/auto":              10,
	"method":                            11,
	"method/shift":                      12,
	"method/suggest":                    12,
	"method/multilabel":                 12,
	"file/modelfile":                    12,
	"papers/learners":                   7,
	"papers/vertex":                     7,
	"papers":                            8,
	"evaluate":                          13,
	"bench":                             14,
	"papers/experiments/uci":            15,
	"cmd/heatwalk/internal/cli":         15,
	"cmd/heatwalk/internal/parts":       6,
	"cmd/heatwalk/internal/progress":    3,
	"cmd/heatwalk/internal/fault":       14,
	"cmd/heatwalk/internal/words":       2,
	"cmd/heatwalk/internal/rlimit":      0,
	"cmd/heatwalk/command":              16,
	"cmd/heatwalk":                      16,
	"cmd/heatwalk-mpi":                  17,

	"method/internal/propagation": 9,
}

// forTests may be imported by tests of any package, and by each other.
var forTests = map[string]bool{
	"internal/testgraph":           true,
	"internal/agreetest":           true,
	"internal/durable/durabletest": true,
	"internal/report/reporttest":   true,
	"sparse/sparsetest":            true,
	"graph/graphtest":              true,
	"classify/classifytest":        true,
	"propagate/propagatetest":      true,
	"method/internal/problemtest":  true,
	"internal/graphstest":          true,
}

// graphFree packages work on plain matrices and know no graph.
var graphFree = map[string]bool{"classify": true, "sparse": true, "internal/symmetric": true, "internal/gram": true, "internal/ridge": true}

func TestImportsPointDownwards(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := map[string]bool{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		from, ours := strings.CutPrefix(p.ImportPath, module)
		if !ours || forTests[from] {
			continue
		}
		floor, known := floors[from]
		if !known {
			t.Errorf("%s stands on no floor: add it to the table and to docs/architecture.md", from)
			continue
		}
		seen[from] = true
		for _, imported := range p.Imports {
			to, ours := strings.CutPrefix(imported, module)
			owner, _, inside := strings.Cut(to, "/internal/")
			switch {
			case imported == "html/template" || imported == "text/template":
				t.Errorf("%s imports %s, with which the linker keeps every exported method of the program, a fifth of its size", from, imported)
			case !ours:
			case inside && owner != from && !strings.HasPrefix(from, owner+"/") && !forTests[to]:
				t.Errorf("%s imports %s, a room of %s", from, to, owner)
			case forTests[to]:
				t.Errorf("%s imports %s, which is for tests", from, to)
			case strings.HasPrefix(to, "papers") && !strings.HasPrefix(from, "papers") && !strings.HasPrefix(from, "cmd/"):
				t.Errorf("%s imports %s, a guest of the core", from, to)
			case floors[to] >= floor:
				t.Errorf("%s (floor %d) imports %s (floor %d)", from, floor, to, floors[to])
			case graphFree[from] && floors[to] > 0 && !graphFree[to]:
				t.Errorf("%s imports %s but is to know no graph", from, to)
			}
		}
	}
	for name := range floors {
		if !seen[name] {
			t.Errorf("%s is in the table but not in the tree", name)
		}
	}
}

package lint

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/heatwalk/heatwalk"

// helpers matches packages that only tests import.
var helpers = regexp.MustCompile(`(^|/)\w+test$|^test(/|$)|^internal/lint$`)

// graphFree packages work on plain matrices and know no graph.
var graphFree = map[string]bool{"classify": true, "sparse": true, "internal/symmetric": true, "sparse/blocks": true}

var (
	floorRow    = regexp.MustCompile("(?m)^\\| (\\d+) \\| (`[^|]+`|the root package) \\| .+ \\|$")
	packageName = regexp.MustCompile("`([^`]+)`|the root package")
)

func readFloors(t *testing.T) map[string]int {
	page, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	floors := map[string]int{}
	for _, row := range floorRow.FindAllStringSubmatch(string(page), -1) {
		floor, err := strconv.Atoi(row[1])
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range packageName.FindAllStringSubmatch(row[2], -1) {
			floors[name[1]] = floor
		}
	}
	return floors
}

// A room inside a package is imported only by this package and by rooms inside it.
func TestImportsPointDownwards(t *testing.T) {
	floors := readFloors(t)
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	nameOf := func(importPath string) (name string, isOurs bool) {
		name, isOurs = strings.CutPrefix(importPath, module)
		return strings.TrimPrefix(name, "/"), isOurs && (name == "" || name[0] == '/')
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
		from, _ := nameOf(p.ImportPath)
		if helpers.MatchString(from) {
			continue
		}
		floor, isListed := floors[from]
		if strings.HasPrefix(from, "examples/") {
			floor, isListed = math.MaxInt, true
		}
		if !isListed {
			t.Errorf("%s has no floor: add it to the table of docs/architecture.md", from)
			continue
		}
		seen[from] = true
		for _, imported := range p.Imports {
			to, isOurs := nameOf(imported)
			owner, _, isInside := strings.Cut(to, "/internal/")
			switch {
			case imported == "html/template" || imported == "text/template":
				t.Errorf("%s imports %s, with which the linker keeps every exported method of the program, a fifth of its size", from, imported)
			case to == "file/parquetfile" && !strings.HasPrefix(from, "cmd/"):
				t.Errorf("%s imports %s, which programs import if they want Parquet; import file/table", from, to)
			case !isOurs && strings.HasPrefix(imported, "github.com/parquet-go/") && from != "file/parquetfile":
				t.Errorf("%s imports %s, with eight modules that programs without Parquet do not link", from, imported)
			case !isOurs:
			case isInside && owner != from && !strings.HasPrefix(from, owner+"/") && !helpers.MatchString(to):
				t.Errorf("%s imports %s, a room of %s", from, to, owner)
			case helpers.MatchString(to):
				t.Errorf("%s imports %s, which is for tests", from, to)
			case strings.HasPrefix(to, "papers") && !strings.HasPrefix(from, "papers") && !strings.HasPrefix(from, "cmd/"):
				t.Errorf("%s imports %s, a guest of the core", from, to)
			case strings.HasPrefix(from, "internal/") && !strings.HasPrefix(to, "internal/"):
				t.Errorf("%s imports %s; internal is ground and imports nothing above", from, to)
			case floors[to] >= floor:
				t.Errorf("%s (floor %d) imports %s (floor %d)", from, floor, to, floors[to])
			case graphFree[from] && floors[to] > 0 && !graphFree[to]:
				t.Errorf("%s imports %s but must not know graphs", from, to)
			}
		}
	}
	for name := range floors {
		if !seen[name] {
			t.Errorf("%s is in the table of docs/architecture.md but not in the tree", name)
		}
	}
}

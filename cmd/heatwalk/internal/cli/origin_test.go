package cli

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// edgeSettings are flags of edges that change the graph of edges.csv. A flag of edges that is in neither list
// fails TestOriginsOfFlags.
var edgeSettings = map[string][]string{
	"directed":     {"--directed"},
	"undirected":   {"--undirected"},
	"self-loops":   {"--self-loops=keep"},
	"duplicates":   {"--duplicates=max"},
	"fields":       {"--fields=source,target"},
	"bipartite":    nil, // other ids
	"weight":       {"--weight=size"},
	"weights":      {"--weights=signed", "--weight=debt"},
	"kind":         {"--kind=kind"},
	"time":         {"--time=day"},
	"time-format":  {"--time-format=day:ymd"},
	"header":       {"--header=yes"},
	"hyperedges":   nil, // other files
	"cocitation":   {"--cocitation"},
	"coupling":     {"--coupling"},
	"kind-weights": {"--kind=kind", "--kind-weights=pays=0.1"},
	"since":        {"--time=day", "--since=2024-01-05"},
	"until":        {"--time=day", "--until=2024-01-05"},
	"half-life":    {"--time=day", "--half-life=2d"},
	"edge-weights": {"--edge-weights=none"},
}

// readingAlone are flags that change how files are read and stored, but not the edges.
var readingAlone = []string{"nodes", "order", "skip-bad-lines", "max-window", "delimiter", "decimal", "thousands", "encoding",
	"temp-dir", "unknown-ids", "missing"}

func originWorkplace(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	rng := rand.New(rand.NewPCG(3, 5))
	var edges, labels strings.Builder
	edges.WriteString("source,target,kind,day,size,debt,weight\n")
	for range 160 {
		u, v := rng.IntN(40), rng.IntN(40)
		if rng.IntN(4) > 0 {
			v = (u + 20*rng.IntN(2) + 1 + rng.IntN(9)) % 40
		}
		debt := float64(1 + rng.IntN(4))
		if rng.IntN(5) == 0 {
			debt = -debt
		}
		if u > v {
			u, v = v, u
		}
		fmt.Fprintf(&edges, "n%d,n%d,%s,2024-01-%02d,%d,%g,%d\n", u, v, []string{"pays", "calls"}[rng.IntN(2)], 1+rng.IntN(9), 1+rng.IntN(50), debt, 1+rng.IntN(5))
	}
	labels.WriteString("node,label\n")
	for v := 0; v < 40; v += 2 {
		fmt.Fprintf(&labels, "n%d,%s\n", v, []string{"a", "b"}[v/20])
	}
	for name, text := range map[string]string{"edges.csv": edges.String(), "labels.csv": labels.String()} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func runWithin(args ...string) (code int, stderr string) {
	var b bytes.Buffer
	code = Main(args, strings.NewReader(""), io.Discard, &b)
	return code, b.String()
}

// predict and explain without the flags of classify must give the same bytes, or exit code 3 with both
// values. Each run takes a half of the flags.
func TestOriginsOfFlags(t *testing.T) {
	originWorkplace(t)
	must := func(args ...string) {
		t.Helper()
		if code, stderr := runWithin(args...); code != shell.Done {
			t.Fatalf("%v: exit code %d: %s", args, code, stderr)
		}
	}
	same := func(a, b string) bool {
		x, err := os.ReadFile(a)
		y, err2 := os.ReadFile(b)
		return err == nil && err2 == nil && bytes.Equal(x, y)
	}
	var inputs shell.GraphInputs
	flags := shell.NewFlagSet(new(shell.CommandLine))
	inputs.Declare(flags)
	flags.VisitAll(func(f *pflag.Flag) {
		if _, isSetting := edgeSettings[f.Name]; !isSetting && !slices.Contains(readingAlone, f.Name) {
			t.Errorf("--%s is in neither list: is it part of the origin of a result?", f.Name)
		}
	})
	inStore := []string{"kind-weights", "since", "until", "half-life"}
	for _, name := range testgraph.Sample(t, 9, slices.Sorted(maps.Keys(edgeSettings))) {
		settings := edgeSettings[name]
		if settings == nil {
			continue
		}
		if name == "half-life" { // a script keeps a given half-life
			settings = []string{"--time=day", "--half-life=choose"}
		}
		methods := []string{"lp:alpha=1", "lgc:alpha=0.9"}
		if name == "directed" { // lgc needs an undirected graph
			methods = methods[:1]
		}
		for _, method := range testgraph.Sample(t, 1, methods) {
			learn := slices.Concat([]string{"--labels=labels.csv", "--method=" + method}, settings)
			must(append([]string{"classify", "edges.csv", "--save-model=m", "-o", "a.tsv"}, learn...)...)
			code, stderr := runWithin("predict", "edges.csv", "--model=m", "-o", "b.tsv")
			if code != shell.Done || !same("a.tsv", "b.tsv") {
				t.Errorf("--%s, %s: predict ends with %d, or differs: %s", name, method, code, stderr)
			}
			code, _ = runWithin(append([]string{"explain", "edges.csv", "n1", "-o", "e.tsv"}, learn...)...)
			again, stderr := runWithin("explain", "edges.csv", "n1", "--model=m", "-o", "f.tsv")
			if code != again || code == shell.Done && !same("e.tsv", "f.tsv") {
				t.Errorf("--%s, %s: explain ends with %d and %d, or differs: %s", name, method, code, again, stderr)
			}
		}
		if !slices.Contains(inStore, name) {
			continue
		}
		must("ingest", "edges.csv", "--force", "--kind=kind", "--time=day", "-o", "s")
		last := settings[len(settings)-1]
		must("classify", "s", "--labels=labels.csv", "--method=lp:alpha=1", "--kind-weights=calls=1", last, "--save-model=m", "-o", "a.tsv")
		if code, stderr := runWithin("predict", "s", "--model=m", "-o", "b.tsv"); code != shell.Done || !same("a.tsv", "b.tsv") {
			t.Errorf("--%s of a store: predict ends with %d, or differs: %s", name, code, stderr)
		}
	}
	must("ingest", "edges.csv", "--self-loops=keep", "-o", "loops")
	must("ingest", "edges.csv", "-o", "none")
	must("classify", "loops", "--labels=labels.csv", "--method=lp:alpha=1", "--save-model=m", "-o", "a.tsv")
	if code, stderr := runWithin("predict", "none", "--model=m", "-o", "b.tsv"); code != shell.WrongData || !strings.Contains(stderr, "--self-loops is drop here, and keep in m") {
		t.Errorf("a store without self loops ends with %d: %s", code, stderr)
	}
}

var originResults = []string{
	"classify edges.csv --labels=labels.csv --method=lp:alpha=1 --report=page.html -o a.tsv",
	"suggest edges.csv --labels=labels.csv --method=lp:alpha=1 -n 2 -o a.tsv",
	"explain edges.csv n1 --labels=labels.csv --method=lp:alpha=1 -o a.tsv",
	"evaluate edges.csv --labels=labels.csv --method=lp:alpha=1 --folds=2 --report=a.tsv.html",
	"classify edges.csv --labels=labels.csv --multi-label -o a.tsv",
	"regress edges.csv --values=values.csv --method=harmonic --report=page.html -o a.tsv",
	"rank edges.csv --seeds=seeds.ids -o a.tsv",
	"kernel edges.csv --kernel=diffusion:beta=2 -o a.npy",
	"kernel edges.csv --kernel=cwk --labels=labels.csv -o a.npz",
	"features edges.csv --labels=labels.csv -o a.svm",
	"apply edges.csv --function=transition --block=block.npy -o a.npy",
	"eigen edges.csv --matrix=adjacency --which=largest -k 2 -o a.npy",
	"convert edges.csv -o a.mtx",
	"ingest edges.csv --force -o a",
}

// The run file and the page must have another origin with each flag of edges that a command accepts. Each run
// takes a quarter of all pairs, with every result and every flag.
func TestResultsHaveOrigins(t *testing.T) {
	originWorkplace(t)
	for name, text := range map[string]string{"values.csv": "node,value\nn0,1\nn5,2\nn9,3\nn20,4\n", "seeds.ids": "n3\nn4\n"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if code, stderr := runWithin("eigen", "edges.csv", "--matrix=adjacency", "--which=largest", "-k=2", "-o", "block.npy"); code != shell.Done {
		t.Fatal(stderr)
	}
	type outcome struct {
		text string // the origin, or stderr of a failure
		code int
	}
	outcomes := map[string]outcome{}
	origin := func(args []string) (text string, code int) {
		line := strings.Join(args, " ")
		if o, isKnown := outcomes[line]; isKnown {
			return o.text, o.code
		}
		defer func() { outcomes[line] = outcome{text, code} }()
		code, stderr := runWithin(args...)
		if code != shell.Done {
			return stderr, code
		}
		out := strings.TrimPrefix(args[len(args)-1], "--report=")
		record, err := os.ReadFile(out + ".run.json")
		var run struct {
			Origin *sides.Origin
			Inputs []shell.RunInput
		}
		if err == nil {
			err = json.Unmarshal(record, &run)
		}
		if err != nil || run.Origin == nil || len(run.Inputs) == 0 {
			t.Fatalf("%v: %v, %s", args, err, record)
		}
		for _, arg := range args {
			if page, isPage := strings.CutPrefix(arg, "--report="); isPage {
				text, err := os.ReadFile(page)
				if err != nil || !bytes.Contains(text, []byte(run.Origin.String())) {
					t.Errorf("%v: the page has no origin %s, %v", args, run.Origin, err)
				}
			}
		}
		return run.Origin.String(), code
	}
	flags := slices.Sorted(maps.Keys(edgeSettings))
	turn := rand.IntN(8)
	t.Logf("turn %d", turn)
	for i, result := range originResults {
		args := strings.Fields(result)
		last := len(args) - 1
		if args[last-1] == "-o" {
			last--
		}
		accepted := 0
		for j, name := range flags {
			settings := edgeSettings[name]
			if settings == nil || !testgraph.Hunt && (i+j+turn)%8 > 0 {
				continue
			}
			dropped := slices.DeleteFunc(slices.Clone(settings), func(flag string) bool { return strings.HasPrefix(flag, "--"+name+"=") || flag == "--"+name })
			without, code := origin(slices.Concat(args[:last], dropped, args[last:]))
			if code != shell.Done {
				continue // for example, --weight of --weights is not accepted alone
			}
			with, code := origin(slices.Concat(args[:last], settings, args[last:]))
			if code == shell.Done && with == without {
				t.Errorf("--%s: %s has the origin %s with and without it", name, result, with)
			}
			if code == shell.Done {
				accepted++
			} else if code != shell.WrongUsage && code != shell.WrongData {
				t.Errorf("--%s: %s ends with %d: %s", name, result, code, with)
			}
		}
		if accepted < 2 && testgraph.Hunt {
			t.Errorf("%s accepts %d flags of edges", result, accepted)
		}
	}
}

// Two runs must have the same sums for any names of the store's files, and verify must find a changed input.
func TestRunFilesIdentifyInputs(t *testing.T) {
	originWorkplace(t)
	var before []shell.RunInput
	for i := range 2 {
		for _, args := range [][]string{{"ingest", "edges.csv", "--force", "-o", "s"}, {"classify", "s", "--labels=labels.csv", "--method=lp:alpha=1", "--truth=labels.csv", "-o", "a.tsv"}} {
			if code, stderr := runWithin(args...); code != shell.Done {
				t.Fatalf("%v: exit code %d: %s", args, code, stderr)
			}
		}
		text, err := os.ReadFile("a.tsv.run.json")
		if err != nil {
			t.Fatal(err)
		}
		var run struct {
			Inputs            []shell.RunInput
			Started, Finished string
		}
		if err := json.Unmarshal(text, &run); err != nil || len(run.Inputs) != 2 || run.Started == "" || run.Started > run.Finished {
			t.Fatalf("%v: %s", err, text)
		}
		if i == 1 && fmt.Sprint(run.Inputs[0]) != fmt.Sprint(before[0]) || run.Inputs[0].Identity == "" || run.Inputs[1].Lines != 21 {
			t.Errorf("inputs %+v, before %+v", run.Inputs, before)
		}
		before = run.Inputs
	}
	if code, stderr := runWithin("verify", "a.tsv.run.json"); code != shell.Done {
		t.Errorf("verify ends with %d: %s", code, stderr)
	}
	if err := os.WriteFile("labels.csv", []byte("node,label\nn0,a\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, stderr := runWithin("verify", "a.tsv.run.json"); code != shell.WrongData || !strings.Contains(stderr, "labels.csv") {
		t.Errorf("verify of a changed input ends with %d: %s", code, stderr)
	}
}

// The arrays of a SciPy folder are inputs of runs on the folder, and of its store.
func TestRunFilesIdentifyArrays(t *testing.T) {
	originWorkplace(t)
	must := func(args ...string) {
		t.Helper()
		if code, stderr := runWithin(args...); code != shell.Done {
			t.Fatalf("%v: exit code %d: %s", args, code, stderr)
		}
	}
	must("convert", "edges.csv", "-o", "A.npz")
	archive, err := zip.OpenReader("A.npz")
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	if err := os.CopyFS("A", archive); err != nil {
		t.Fatal(err)
	}
	must("convert", "A", "--directed", "-o", "directed.mtx")
	must("kernel", "A", "--kernel=diffusion", "-o", "a.npy")
	must("ingest", "A", "-o", "s")
	for _, array := range []string{"indptr", "indices", "data"} {
		path := filepath.Join("A", array+".npy")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"directed.mtx", "a.npy", "s"} {
			must("verify", name+".run.json")
			text[len(text)-1] ^= 1
			if err := os.WriteFile(path, text, 0o666); err != nil {
				t.Fatal(err)
			}
			if code, stderr := runWithin("verify", name+".run.json"); code != shell.WrongData || !strings.Contains(stderr, path) {
				t.Errorf("verify of %s with another %s ends with %d: %s", name, path, code, stderr)
			}
			text[len(text)-1] ^= 1
			if err := os.WriteFile(path, text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestCompressedOutputs(t *testing.T) {
	originWorkplace(t)
	if err := os.WriteFile("seeds.ids", []byte("n3\nn4\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	run := func(line, name string) []byte {
		if code, stderr := runWithin(append(strings.Fields(line), name)...); code != shell.Done {
			t.Fatalf("%s: exit code %d: %s", line, code, stderr)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for line, ending := range map[string]string{
		"classify edges.csv --labels=labels.csv --method=lp:alpha=1 -o":                      "csv",
		"suggest edges.csv --labels=labels.csv --method=lp:alpha=1 -n 2 -o":                  "tsv",
		"explain edges.csv n1 --labels=labels.csv --method=lp:alpha=1 -o":                    "tsv",
		"evaluate edges.csv --labels=labels.csv --method=lp:alpha=1 --folds=2 --save-splits": "tsv",
		"rank edges.csv --seeds=seeds.ids -o":                                                "csv",
		"kernel edges.csv --kernel=cwk --labels=labels.csv -o":                               "svm",
		"convert edges.csv -o": "tsv",
		"classify edges.csv --labels=labels.csv --multi-label -o": "jsonl",
	} {
		want := run(line, "whole."+ending)
		stored := run(line, "small."+ending+".gz")
		if again := run(line, "again."+ending+".gz"); !bytes.Equal(stored, again) {
			t.Errorf("%s: two runs have other bytes", line)
		}
		z, err := gzip.NewReader(bytes.NewReader(stored))
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if text, err := io.ReadAll(z); err != nil || !bytes.Equal(text, want) {
			t.Errorf("%s: %d bytes for %d, %v", line, len(text), len(want), err)
		}
	}
	if code, stderr := runWithin("kernel", "edges.csv", "-o", "K.npy.gz"); code != shell.WrongUsage || !strings.Contains(stderr, "without .gz") {
		t.Errorf("K.npy.gz: exit code %d: %s", code, stderr)
	}
}

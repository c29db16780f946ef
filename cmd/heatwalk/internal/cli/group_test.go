package cli

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/durable/durabletest"
)

// group holds files that belong together. Two runs write them to w/, each replacing the files of the other. A
// third run reads them.
type group struct {
	name     string
	old, new []string
	read     []string // the last argument is the output
}

var groups = []group{
	{"graph and ids", line("convert sa -o w/c.mtx"), line("convert sb -o w/c.mtx"),
		line("convert w/c.mtx --nodes w/c.mtx.ids -o w/read.tsv")},
	{"block and ids", line("kernel sa --kernel diffusion:beta=1 -o w/K.npy"), line("kernel sb --kernel diffusion:beta=2 -o w/K.npy"),
		line("convert w/K.npy -o w/read.npz")},
	{"eigenvectors and ids", line("eigen sa --matrix adjacency --which largest --k 2 -o w/E.npy"), line("eigen sb --matrix adjacency --which largest --k 2 -o w/E.npy"),
		line("convert w/E.npy -o w/read.npz")},
	{"matrix and labels", line("convert a.svm -o w/x.npy"), line("convert b.svm -o w/x.npy"),
		line("convert w/x.npy --labels w/x.labels.tsv -o w/read.svm")},
	{"edges and labels", line("generate sbm --nodes 20 --classes 2 --fraction 0.5 --seed 1 -o w/e.tsv --labels w/l.tsv"),
		line("generate sbm --nodes 20 --classes 2 --fraction 0.5 --seed 2 -o w/e.tsv --labels w/l.tsv"),
		line("classify w/e.tsv --labels w/l.tsv --method lp -o w/read.tsv")},
	{"store and labels", line("generate sbm --nodes 20 --classes 2 --fraction 0.5 --seed 1 --force -o w/g/ --labels w/l.tsv"),
		line("generate sbm --nodes 20 --classes 2 --fraction 0.5 --seed 2 --force -o w/g/ --labels w/l.tsv"),
		line("classify w/g/ --labels w/l.tsv --method lp -o w/read.tsv")},
}

func line(line string) []string { return strings.Fields(line) }

func groupPlace(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"a.tsv": "a\tb\nb\tc\nc\td\nd\ta\n", "b.tsv": "d\tc\nc\tb\nb\tx\nx\ta\n", "a.labels": "a\t1\nb\t2\nc\t1\nd\t2\n", "b.labels": "d\t1\nc\t2\nb\t1\nx\t2\n",
		"a.svm": "1 1:2 2:1\n2 1:3 2:4\n", "b.svm": "2 1:5 2:6\n1 1:7 2:8\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	succeed(t, nil, io.Discard, "ingest", "a.tsv", "-o", "sa", "--quiet")
	succeed(t, nil, io.Discard, "ingest", "b.tsv", "-o", "sb", "--quiet")
}

func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

type outcome struct {
	code          int
	text, message string
}

func runQuick(fsys durable.FS, args []string) outcome {
	var stderr bytes.Buffer
	code := -1
	durabletest.On(fsys, func() { code = Main(append(slices.Clone(args), "--quiet"), nil, io.Discard, &stderr) })
	return outcome{code: code, message: stderr.String()}
}

func lay(t *testing.T, files map[string]string) {
	t.Helper()
	if err := os.RemoveAll("w"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("w", 0o777); err != nil {
		t.Fatal(err)
	}
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func (g *group) readWith(t *testing.T, files map[string]string) outcome {
	t.Helper()
	lay(t, files)
	got := runQuick(durabletest.Unsynced(durable.OS), g.read)
	text, err := os.ReadFile(g.read[len(g.read)-1])
	if (err == nil) != (got.code == shell.Done) {
		t.Errorf("exit code %d, and the output: %v", got.code, err)
	}
	got.text = string(text)
	return got
}

func made(t *testing.T, files map[string]string, args []string, fsys durable.FS) map[string]string {
	t.Helper()
	lay(t, files)
	if got := runQuick(fsys, args); got.code != shell.Done {
		t.Fatalf("%v: %+v", args, got)
	}
	return filesOf(t, "w")
}

// A reader must get the files of one run, or an error with a remedy. After the stopped run is repeated, it
// must get the files.
func TestGroupsStopped(t *testing.T) {
	groupPlace(t)
	quick := durabletest.Unsynced(durable.OS)
	for i, g := range groups {
		if testing.Short() && i > 0 {
			break
		}
		t.Run(g.name, func(t *testing.T) {
			old := made(t, nil, g.old, quick)
			var stops []map[string]string
			done := made(t, old, g.new, durabletest.Watch(quick, func() {
				now := filesOf(t, "w")
				maps.DeleteFunc(now, func(path, _ string) bool { return durable.Final(path) != path })
				if len(stops) == 0 || !maps.Equal(now, stops[len(stops)-1]) {
					stops = append(stops, now)
				}
			}))
			for path := range done {
				if strings.HasSuffix(path, durable.Unfinished) {
					t.Errorf("%s stays", path)
				}
			}
			before, after := g.readWith(t, old), g.readWith(t, done)
			if before.code != shell.Done || after.code != shell.Done || before.text == after.text {
				t.Fatalf("the files of either run are not read as they are: %+v, %+v", before, after)
			}
			var refused map[string]string
			for i, files := range stops {
				switch got := g.readWith(t, files); {
				case got.code == shell.Done && (got.text == before.text || got.text == after.text):
				case got.code == shell.WrongData && strings.Contains(got.message, ": a run was stopped while it replaced this file and the files that belong to it; repeat that run, or remove w/"):
					refused = files
				default:
					t.Errorf("stop %d of %d: files %v are read as %+v", i, len(stops), slices.Sorted(maps.Keys(files)), got)
				}
			}
			if refused == nil {
				t.Fatalf("none of %d stops is told of", len(stops))
			}
			if again := g.readWith(t, made(t, refused, g.new, quick)); again != after {
				t.Errorf("after the run was repeated: %+v", again)
			}
		})
	}
}

// The files of different runs are detected, and the run reports the files that it leaves.
func TestGroupsFail(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	groupPlace(t)
	g, quick := groups[0], durabletest.Unsynced(durable.OS)
	old := made(t, nil, g.old, quick)
	all := durabletest.FailAt(quick, -1)
	made(t, old, g.new, all)
	before, mixed := g.readWith(t, old), 0
	for i := all.Operations() - 24; i < all.Operations(); i++ {
		lay(t, old)
		faulty := durabletest.FailAt(quick, i)
		run := runQuick(faulty, g.new)
		files := filesOf(t, "w")
		got := g.readWith(t, files)
		marked := files["w/c.mtx.ids"+durable.Unfinished] != ""
		oldIDs, oldGraph := files["w/c.mtx.ids"] == old["w/c.mtx.ids"], files["w/c.mtx"] == old["w/c.mtx"]
		told := strings.HasSuffix(run.message, "replaced already, but not the files that belong to it; repeat the run\n")
		if oldIDs != oldGraph {
			mixed++
		}
		if oldIDs != oldGraph && !told || marked != (got.code == shell.WrongData) || got.code == shell.Done && oldGraph != (got.text == before.text) {
			t.Errorf("operation %d (%s) fails: %s, and what is left is read as %+v", i, faulty.Failed(), run.message, got)
		}
	}
	if mixed == 0 {
		t.Error("no failure left files of two runs")
	}
}

// Files that were copied, edited or made elsewhere have no mark.
func TestMarkMayGo(t *testing.T) {
	groupPlace(t)
	g := groups[0]
	files := made(t, nil, g.old, durabletest.Unsynced(durable.OS))
	mark := "w/c.mtx.ids" + durable.Unfinished
	files[mark] = ""
	if got := g.readWith(t, files); got.code != shell.WrongData || !strings.HasSuffix(got.message, fmt.Sprintf("; repeat that run, or remove %s if you know that all files are of the same run\n", mark)) {
		t.Errorf("a mark: %+v", got)
	}
	delete(files, mark)
	files["w/c.mtx.ids"] = strings.Replace(files["w/c.mtx.ids"], "a\n", "edited\n", 1)
	delete(files, "w/c.mtx.run.json")
	if got := g.readWith(t, files); got.code != shell.Done || !strings.Contains(got.text, "edited") {
		t.Errorf("ids that were edited: %+v", got)
	}
}

package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
)

// serving is heatwalk serve in this process.
type serving struct {
	t       *testing.T
	stdin   *io.PipeWriter
	answers *bufio.Scanner
	code    chan int
}

// startServing starts heatwalk serve, which the end of the test ends.
func startServing(t *testing.T, args ...string) *serving {
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	s := &serving{t: t, stdin: stdin, answers: bufio.NewScanner(stdout), code: make(chan int, 1)}
	s.answers.Buffer(nil, 1<<24)
	go func() {
		s.code <- Main(append([]string{"serve"}, args...), in, out, io.Discard)
		out.Close()
	}()
	t.Cleanup(func() { stdin.Close() })
	return s
}

// send writes a request.
func (s *serving) send(request any) {
	text, err := json.Marshal(request)
	if err != nil {
		s.t.Fatal(err)
	}
	fmt.Fprintf(s.stdin, "%s\n", text)
}

// served is the answer of heatwalk serve.
type served struct {
	ID       any
	Progress map[string]any
	Exit     *int
	Result   map[string]any
	Output   string
	Errors   []map[string]any
}

// answer reads the next answer.
func (s *serving) answer() *served {
	s.t.Helper()
	if !s.answers.Scan() {
		s.t.Fatal("serve has ended", s.answers.Err())
	}
	a := new(served)
	if err := json.Unmarshal(s.answers.Bytes(), a); err != nil {
		s.t.Fatal(err)
	}
	return a
}

// call runs a command and returns its answer.
func (s *serving) call(args ...string) *served {
	s.t.Helper()
	s.send(map[string]any{"id": "call", "args": args})
	return s.answer()
}

// comparable returns a document without what may differ between two runs.
func comparable(document map[string]any) map[string]any {
	for _, key := range []string{"seconds", "peak_memory_bytes", "seconds_by_phase"} {
		delete(document, key)
	}
	return document
}

// TestServe compares calls of a server, with and without an open graph, all at the same time, with commands of their own: the same
// documents, exit codes and errors, and the same bytes in their files.
func TestServe(t *testing.T) {
	workplace(t)
	succeed(t, nil, io.Discard, strings.Fields("generate sbm --nodes 300 --classes 3 --fraction 0.2 -o p.tsv --labels known.tsv --quiet")...)
	commands := []string{
		"classify p.tsv --labels known.tsv -o OUT.tsv", "classify p.tsv --labels known.tsv --method lp --threads 1 -o OUT.npz",
		"classify p.tsv --labels known.tsv --method nothing -o OUT.tsv", "kernel p.tsv --kernel diffusion -o OUT.npy",
		"eigen p.tsv -k 4 -o OUT.npy", "eigen p.tsv -k 4 -o OUT.npy --max-memory 1GiB", "info p.tsv --labels known.tsv", "info p.tsv --directed",
		"suggest p.tsv --labels known.tsv --method lp -n 3 -o OUT.tsv", "convert p.tsv -o OUT.mtx", "info nothing.tsv", "apply p.tsv",
	}
	s := startServing(t)
	for range 2 { // the second one takes the place of the first
		if a := s.call("open", "p.tsv", "--as", "@p"); *a.Exit != 0 || a.Result["graphs"] == nil {
			t.Fatalf("open: %+v", a)
		}
	}
	folder := func(name string) {
		if err := os.Mkdir(name, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	argsOf := func(dir string, i int, graph string) []string {
		line := strings.ReplaceAll(commands[i], "OUT", fmt.Sprintf("%s/%d", dir, i))
		return strings.Fields(strings.Replace(line, "p.tsv", graph, 1))
	}
	want := make([]*served, len(commands))
	folder("own")
	for i := range commands {
		var stdout, stderr bytes.Buffer
		code := Main(append(argsOf("own", i, "p.tsv"), "--json", "--progress", "none"), nil, &stdout, &stderr)
		want[i] = &served{Exit: &code}
		_ = json.Unmarshal(stdout.Bytes(), &want[i].Result) // none after an error
		for line := range bytes.Lines(stderr.Bytes()) {
			fields := map[string]any{}
			if json.Unmarshal(line, &fields) == nil {
				want[i].Errors = append(want[i].Errors, fields)
			}
		}
	}
	for dir, graph := range map[string]string{"file": "p.tsv", "open": "@p"} {
		folder(dir)
		for i := range commands {
			s.send(map[string]any{"id": i, "args": argsOf(dir, i, graph)})
		}
		for range commands {
			got := s.answer()
			i := int(got.ID.(float64))
			got.ID = nil
			for _, document := range []*served{got, want[i]} {
				comparable(document.Result)
				delete(document.Result, "output") // other names
				delete(document.Result, "ids")
				for _, fields := range document.Errors {
					delete(fields, "time")
				}
			}
			if diff := cmp.Diff(want[i], got); diff != "" {
				t.Errorf("%s of %s (-own +served):\n%s", commands[i], dir, diff)
			}
		}
		compareFolders(t, "own", dir)
	}
	if err := os.Remove("p.tsv"); err != nil {
		t.Fatal(err)
	}
	if a := s.call("info", "@p"); *a.Exit != 0 {
		t.Errorf("an open graph without its file: %+v", a)
	}
	if a := s.call("memory"); a.Result["graphs"].(map[string]any)["@p"].(float64) <= 0 {
		t.Errorf("memory: %v", a.Result)
	}
	for _, exit := range []int{0, fault.WrongUsage} {
		if a := s.call("close", "@p"); *a.Exit != exit {
			t.Errorf("close: %+v", a)
		}
	}
	if a := s.call("info", "@p"); *a.Exit != fault.WrongUsage {
		t.Errorf("a closed graph: %+v", a)
	}
}

// compareFolders compares the files of two folders, and the run files among them but for times and names.
func compareFolders(t *testing.T, want, got string) {
	read := func(dir string) map[string]string {
		files := map[string]string{}
		paths, err := filepath.Glob(dir + "/*")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(path, ".run.json") {
				document := map[string]any{}
				if err := json.Unmarshal(text, &document); err != nil {
					t.Fatal(err)
				}
				comparable(document)
				maps.DeleteFunc(document, func(key string, _ any) bool {
					return slices.Contains([]string{"started", "finished", "command", "arguments"}, key)
				})
				text, _ = json.Marshal(document)
			}
			files[filepath.Base(path)] = string(text)
		}
		return files
	}
	if diff := cmp.Diff(read(want), read(got)); diff != "" {
		t.Errorf("files of %s and %s differ: %.2000s", want, got, diff)
	}
}

// TestServeCancels cancels a call, which leaves the server alone, and ends the server with a call in work by closing its stdin.
func TestServeCancels(t *testing.T) {
	workplace(t)
	s := startServing(t)
	begin := func(id int) {
		s.send(map[string]any{"id": id, "args": []string{"generate", "rmat", "--scale", "24", "-o", "large.tsv", "--progress", "json"}})
		if a := s.answer(); a.Progress == nil {
			t.Fatalf("%+v in place of progress", a)
		}
	}
	until := func(id int) *served {
		for {
			if a := s.answer(); a.Exit != nil && a.ID == float64(id) {
				return a
			}
		}
	}
	begin(1)
	s.send(map[string]any{"cancel": 1})
	if a := until(1); *a.Exit != fault.Interrupted {
		t.Errorf("cancelled: %+v", a)
	}
	s.send(map[string]any{"cancel": 1})
	if a := s.call("open", "g"); *a.Exit != fault.WrongUsage || len(a.Errors) == 0 {
		t.Errorf("open without a name: %+v", a)
	}
	begin(4)
	started := time.Now()
	s.stdin.Close()
	for s.answers.Scan() {
	}
	if code := <-s.code; code != 0 || time.Since(started) > 10*time.Second {
		t.Errorf("serve ended with %d %v after its stdin", code, time.Since(started))
	}
	s = startServing(t)
	fmt.Fprintln(s.stdin, "text")
	if code := <-s.code; code != fault.WrongUsage {
		t.Errorf("serve ended with %d after a line that is no request", code)
	}
	if left, _ := filepath.Glob("*large*"); left != nil {
		t.Errorf("left %v", left)
	}
}

// TestServeClients runs the clients of docs/serve.md in the languages that are installed.
func TestServeClients(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("scripts start no link there")
	}
	page, err := os.ReadFile("../../../../docs/serve.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	bin := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "heatwalk")); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"edges.tsv": "a\tb\nb\tc\nc\td\nd\te\n", "known.tsv": "a\tleft\ne\tright\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for language, command := range map[string][]string{"python": {"python3", "-c"}, "js": {"node", "-e"}, "r": {"Rscript", "-e"}} {
		_, code, _ := strings.Cut(string(page), "```"+language+"\n")
		code, _, _ = strings.Cut(code, "```")
		if code == "" {
			t.Errorf("no client in %s", language)
		}
		if _, err := exec.LookPath(command[0]); err != nil || language == "r" && exec.Command("Rscript", "-e", "library(processx); library(jsonlite)").Run() != nil {
			t.Logf("%s is not installed", language)
			continue
		}
		run := exec.CommandContext(t.Context(), command[0], command[1], code)
		run.Dir = dir
		run.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "HEATWALK_TEST_MAIN=1")
		if out, err := run.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "3" {
			t.Errorf("%s: %v\n%s", language, err, out)
		}
	}
}

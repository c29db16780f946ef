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

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
)

type serving struct {
	t       *testing.T
	stdin   *io.PipeWriter
	stdout  *os.File
	answers *bufio.Scanner
	code    chan int
}

// startServing starts heatwalk serve, which the end of the test ends.
func startServing(t *testing.T, args ...string) *serving {
	in, stdin := io.Pipe()
	stdout, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := &serving{t: t, stdin: stdin, stdout: stdout, answers: bufio.NewScanner(stdout), code: make(chan int, 1)}
	s.answers.Buffer(nil, 1<<24)
	go func() {
		s.code <- Main(append([]string{"serve"}, args...), in, out, io.Discard)
		out.Close()
	}()
	t.Cleanup(func() { stdin.Close() })
	return s
}

func (s *serving) send(request any) {
	text, err := json.Marshal(request)
	if err != nil {
		s.t.Fatal(err)
	}
	fmt.Fprintf(s.stdin, "%s\n", text)
}

type served struct {
	ID       any
	Progress map[string]any
	Exit     *int
	Result   map[string]any
	Output   string
	Errors   []map[string]any
}

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

func (s *serving) call(args ...string) *served {
	s.t.Helper()
	s.send(map[string]any{"id": "call", "args": args})
	return s.answer()
}

// comparable removes the keys that may differ between two runs.
func comparable(document map[string]any) map[string]any {
	for _, key := range []string{"seconds", "peak_memory_bytes", "seconds_by_phase"} {
		delete(document, key)
	}
	return document
}

// Concurrent calls of a server and separate commands must agree in documents, exit codes, errors and the
// bytes of files.
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
	for range 2 { // the second graph replaces the first
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
				delete(document.Result, "command") // other flags
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
	for _, exit := range []int{0, shell.WrongUsage} {
		if a := s.call("close", "@p"); *a.Exit != exit {
			t.Errorf("close: %+v", a)
		}
	}
	if a := s.call("info", "@p"); *a.Exit != shell.WrongUsage {
		t.Errorf("a closed graph: %+v", a)
	}
}

// compareFolders ignores times and names in run files.
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

// Cancelling a call leaves the server alone. A server whose answers nobody reads must end.
func TestServeCancels(t *testing.T) {
	workplace(t)
	s := startServing(t)
	begin := func(id int) {
		s.send(map[string]any{"id": id, "args": []string{"generate", "rmat", "--scale", "24", "-o", "large.tsv", "--progress", "json"}})
		if a := s.answer(); a.Progress == nil {
			t.Fatalf("%+v in place of progress", a)
		}
	}
	begin(1)
	s.send(map[string]any{"cancel": 1})
	for {
		if a := s.answer(); a.Exit != nil {
			if *a.Exit != shell.Interrupted {
				t.Errorf("cancelled: %+v", a)
			}
			break
		}
	}
	s.send(map[string]any{"cancel": 1})
	begin(2)
	started := time.Now()
	s.stdin.Close()
	s.stdout.Close()
	if code := <-s.code; code != 0 || time.Since(started) > 10*time.Second {
		t.Errorf("serve ended with %d %v after its client", code, time.Since(started))
	}
	if left, _ := filepath.Glob("*large*"); left != nil {
		t.Errorf("left %v", left)
	}
}

// answersOf maps the text of ids to the answers of heatwalk serve to the lines of stdin.
func answersOf(t *testing.T, stdin string) map[string]*served {
	t.Helper()
	var stdout bytes.Buffer
	if code := Main([]string{"serve"}, strings.NewReader(stdin), &stdout, io.Discard); code != 0 {
		t.Errorf("serve ended with %d", code)
	}
	answers := map[string]*served{}
	for line := range bytes.Lines(stdout.Bytes()) {
		a := new(served)
		if err := json.Unmarshal(line, a); err != nil {
			t.Fatal(err)
		}
		id, _ := json.Marshal(a.ID)
		answers[string(id)] = a
	}
	return answers
}

// Each wrong request is sent together with a right request. The answer to the wrong request must have its id
// and name the wrong field.
func TestServeRequests(t *testing.T) {
	const right = `{"id":"right","args":["version"],"cancel":null}`
	for _, test := range []struct{ line, id, field string }{
		{`{}`, "null", "id args"}, {`null`, "null", "stdin"}, {`[{"id":1,"args":["version"]}]`, "null", "stdin"}, {`text`, "null", "stdin"},
		{`{"id":1}`, "1", "args"}, {`{"id":1,"args":[]}`, "1", "args"}, {`{"id":1,"args":null}`, "1", "args"}, {`{"id":1,"args":"version"}`, "1", "args"},
		{`{"id":1,"args":["-k",5]}`, "1", "args"}, {`{"id":1,"args":["version",null]}`, "1", "args"}, {`{"args":["version"]}`, "null", "id"},
		{`{"id":{"a":[1]},"args":["version"]}`, `{"a":[1]}`, "id"}, {`{"id":true,"args":["version"]}`, "true", "id"},
		{`{"id":1,"arg":["version"]}`, "1", "arg args"}, {`{"id":1,"Args":["version"]}`, "1", "Args args"},
		{`{"jsonrpc":"2.0","id":1,"method":"version"}`, "1", "jsonrpc method args"}, {`{"id":1,"args":["version"],"more":null}`, "1", "more"},
		{`{"cancel":null}`, "null", "id args"}, {`{"cancel":[1]}`, "null", "cancel"}, {`{"id":1,"cancel":1}`, "1", "cancel"},
		{`{"id":1,"args":["version"]`, "1", "stdin"}, {`{"id":1,"args":["version"]}{"id":2,"args":["version"]}`, "1", "stdin"},
		{`{"id":1,"id":2,"args":["version"]}`, "1", "stdin"}, {"{\"id\":1,\"args\":[\"\xff\"]}", "1", "stdin"},
	} {
		answers := answersOf(t, "\ufeff"+test.line+"\r\n \n\ufeff\n"+right) // without a newline
		if a := answers[`"right"`]; a == nil || *a.Exit != 0 || a.Result["version"] == nil || len(answers) != 2 {
			t.Errorf("the request behind %s: %+v", test.line, a)
		}
		a := answers[test.id]
		if a == nil || *a.Exit != shell.WrongUsage {
			t.Errorf("%s: %+v", test.line, a)
			continue
		}
		var fields []string
		for _, e := range a.Errors {
			fields = append(fields, e["flag"].(string))
			if text := e["message"].(string); strings.Contains(text, "unmarshal") || e["hint"] == nil {
				t.Errorf("%s: %v", test.line, e)
			}
		}
		if got := strings.Join(fields, " "); got != test.field {
			t.Errorf("%s: errors about %s, want %s", test.line, got, test.field)
		}
	}
}

// Only the argument GRAPH is a name; a file with such a name is still a file.
func TestServeNames(t *testing.T) {
	workplace(t)
	for name, text := range map[string]string{"three.tsv": "a\tb\nb\tc\n", "@four.tsv": "a\tb\nb\tc\nc\td\n"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	lines := [][]string{
		{"open", "three.tsv", "--as", "@three"},
		{"info", "@three"},
		{"info", "--labels", "@three", "./@four.tsv"}, // no such file
		{"open", "three.tsv", "--as=@five.tsv"},
		{"generate", "er", "--nodes", "5", "--edges", "4", "-o", "@five.tsv"},
		{"convert", "-o", "@three.mtx", "--", "@five.tsv"},
		{"open", "./@four.tsv", "--as=@four"},
		{"info", "@four"},
		{"close", "@four"},
		{"info", "@four"},
		{"info", "@four.tsv"},
		{"open", "@four.tsv", "--as", "@four"},
		{"open", "three.tsv", "--as", "three"},
		{"open", "three.tsv", "--as", "@"},
		{"open", "three.tsv"},
	}
	var stdin strings.Builder
	for i, args := range lines {
		text, _ := json.Marshal(map[string]any{"id": i, "args": args})
		fmt.Fprintf(&stdin, "%s\n", text)
	}
	answers := answersOf(t, stdin.String())
	hints := map[int]string{
		2: "no such file", 9: "call open GRAPH --as @four first, or write ./@four for a file of this name",
		10: "call open GRAPH --as @four.tsv first, or write ./@four.tsv for a file of this name",
		11: "write ./@four.tsv for a file of this name", 12: "write --as @three", 13: "write --as @g", 14: "give a @NAME",
	}
	for i, args := range lines {
		a := answers[fmt.Sprint(i)]
		if hints[i] == "" {
			if *a.Exit != 0 {
				t.Errorf("%q: %+v", args, a)
			}
		} else if *a.Exit != shell.WrongUsage || !strings.Contains(fmt.Sprint(a.Errors[0]["message"], "; ", a.Errors[0]["hint"]), hints[i]) {
			t.Errorf("%q: %v, want %q", args, a.Errors, hints[i])
		}
	}
	if n := answers["1"].Result["nodes"]; n != 3.0 {
		t.Errorf("@three has %v nodes", n)
	}
	if n := answers["7"].Result["nodes"]; n != 4.0 {
		t.Errorf("@four has %v nodes", n)
	}
	for _, name := range []string{"@five.tsv", "@three.mtx"} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
}

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

// Columns stay open under a name. Requests that are wrong say which field.
func TestServeColumns(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"e.csv": "source,target\na,b\nb,c\nc,d\n", "l.csv": "node,label\na,x\nd,y\n"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s := startServing(t)
	call := func(exit int, request map[string]any) *served {
		t.Helper()
		request["id"] = 1
		s.send(request)
		a := s.answer()
		if a.Exit == nil || *a.Exit != exit {
			t.Fatalf("%v: %+v", request, a)
		}
		return a
	}
	call(0, map[string]any{"args": []string{"classify", "e.csv", "--labels", "l.csv", "--method", "lp", "--save-model", "m", "--save-columns", "m.columns", "-o", "p.csv"}})
	call(0, map[string]any{"args": []string{"open", "m.columns", "--model", "m", "--as", "@c"}})
	args := []string{"predict", "--columns", "@c"}
	edge := func(id string) []any {
		return []any{map[string]any{"edges": []any{map[string]any{"id": id, "weight": 2}}}}
	}
	a := call(0, map[string]any{"args": args, "new": edge("a")})
	want := []any{map[string]any{"label": "x", "scores": []any{1.0, 0.0}, "links": 1.0, "steps": 1.0, "reached": true}}
	if diff := cmp.Diff(want, a.Result["predictions"]); diff != "" {
		t.Error(diff)
	}
	for _, wrong := range []map[string]any{
		{"args": args, "new": edge("nobody")}, {"args": args, "new": []any{map[string]any{"edge": 1}}},
		{"args": []string{"info", "e.csv"}, "new": edge("a")}, {"args": []string{"info", "@c"}},
		{"args": []string{"predict", "--columns", "@d"}, "new": edge("a")}, {"args": []string{"open", "m.columns", "--model", "e.csv", "--as", "@c"}},
	} {
		exit := 2
		if slices.Contains(wrong["args"].([]string), "e.csv") && wrong["new"] == nil {
			exit = 3
		}
		call(exit, wrong)
	}
	call(0, map[string]any{"args": []string{"close", "@c"}})
	call(2, map[string]any{"args": args, "new": edge("a")})
}

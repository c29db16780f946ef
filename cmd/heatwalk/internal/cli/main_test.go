package cli

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/compute"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/durable/durabletest"
	"github.com/heatwalk/heatwalk/internal/system"
	_ "github.com/heatwalk/heatwalk/papers"
	_ "github.com/heatwalk/heatwalk/papers/ongram"
	"github.com/heatwalk/heatwalk/test/contract"
)

// TestMain turns off syncing, so that no run waits for a disk. Tests that count the operations of their own
// file system check that files are synced.
func TestMain(m *testing.M) {
	durable.OS = durabletest.Unsynced(durable.OS)
	shell.FollowerPause = 100 * time.Millisecond
	if os.Getenv("HEATWALK_TEST_LIMITS") == "" {
		shell.LeastLimit = 1 // small inputs reach small limits, which users may not set
	}
	system.Strict = true // a workspace that declares too little is a panic
	if ready := os.Getenv(readyFile); ready != "" {
		cobra.OnInitialize(func() { _ = os.WriteFile(ready, nil, 0o666) }) // when a command begins, after the handler of signals
	}
	if os.Getenv("HEATWALK_TEST_MAIN") != "" {
		code := Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
		if path := os.Getenv("HEATWALK_TEST_PEAK"); path != "" {
			_ = os.WriteFile(path, []byte(strconv.FormatInt(system.PeakMemory(), 10)), 0o666)
		}
		os.Exit(code)
	}
	compute.Program = func() (string, error) { return exec.LookPath("heatwalk") } // testscript.Main sets the path
	shell.LimitRuntime = func(int64, int64, string) {}
	debug.SetGCPercent(400) // not in the programs that tests start, whose memory is measured
	testscript.Main(m, map[string]func(){
		"heatwalk": func() {
			debug.SetGCPercent(100)
			shell.LimitRuntime = system.Within
			os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
	})
}

// otherHalf is set in the process that runs every second script.
const otherHalf = "HEATWALK_TEST_OTHER_HALF"

// TestScripts runs commands in this process, which saves the start of a thousand processes; see inThisProcess
// for exceptions. Another process runs every second script at the same time, except if -run selects tests.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	every := func(first int) (list []string) {
		for i := first; i < len(files); i += 2 {
			list = append(list, files[i])
		}
		return list
	}
	switch {
	case os.Getenv(otherHalf) != "":
		files = every(1)
	case flag.Lookup("test.run").Value.String() == "":
		files = every(0)
		other := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestScripts$",
			"-test.short="+strconv.FormatBool(testing.Short()))
		other.Env = append(os.Environ(), otherHalf+"=1")
		var messages bytes.Buffer
		other.Stdout = &messages
		other.Stderr = &messages
		if err := other.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := other.Wait(); err != nil {
				t.Errorf("%v\n%s", err, &messages)
			}
		}()
	}
	dir := t.TempDir()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if name := filepath.Base(file); name != "limits.txt" { // limits.txt sees the memory of the process
			text = inThisProcess(text)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder) // the end of the test restores the folder and TMPDIR
	t.Setenv("TMPDIR", os.TempDir())
	testscript.RunT(serial{t}, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"run": func(ts *testscript.TestScript, neg bool, args []string) {
				if code := mainIn(ts, args); (code != 0) != neg {
					ts.Fatalf("exit code %d", code)
				}
			},
			"exits":     exits,
			"molecules": molecules,
			"compress":  compress,
			"flip":      flip,
			"cut":       cut,
			"format":    format,
			"replace":   replace,
			"lose":      lose,
			"alone":     alone,
			"cora":      cora,
			"unpack":    unpack,
		},
	})
}

// inThisProcess replaces "exec heatwalk" by "run", and "exits N heatwalk" by "exits N run". It does not do so
// after a line "stdin", and for estimates, which include the memory of the process.
func inThisProcess(text []byte) []byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	for i, line := range lines {
		if (i == 0 || !bytes.HasPrefix(lines[i-1], []byte("stdin "))) && !bytes.Contains(line, []byte(" --dry-run")) {
			lines[i] = ofHeatwalk.ReplaceAll(line, []byte("${1}${2}run "))
		}
	}
	return bytes.Join(lines, nil)
}

var ofHeatwalk = regexp.MustCompile(`^(! )?(?:exec |(exits \d+ ))heatwalk `)

// serial runs scripts one after another, because each changes the working directory of the process.
type serial struct{ *testing.T }

func (serial) Parallel() {}

func (s serial) Run(name string, f func(testscript.T)) {
	s.T.Run(name, func(t *testing.T) { f(serial{t}) })
}

func (serial) Verbose() bool { return testing.Verbose() }

func mainIn(ts *testscript.TestScript, args []string) int {
	ts.Check(os.Chdir(ts.MkAbs(".")))
	ts.Check(os.Setenv("TMPDIR", ts.Getenv("TMPDIR")))
	return Main(args, strings.NewReader(""), ts.Stdout(), ts.Stderr())
}

// exits CODE COMMAND... runs a command that must end with the exit code and must not show a stack trace.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if args[1] == "run" {
		got = mainIn(ts, args[2:])
	} else if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// molecules PREFIX GRAPHS VERTICES writes a collection of labelled graphs of two classes.
func molecules(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: molecules PREFIX GRAPHS VERTICES")
	}
	graphs, err := strconv.Atoi(args[1])
	ts.Check(err)
	vertices, err := strconv.Atoi(args[2])
	ts.Check(err)
	ts.Check(contract.WriteTU(ts.MkAbs(args[0]), contract.Molecules(graphs, vertices, 2, 0.4, 1)))
}

// compress FROM TO compresses by the extension of TO, .gz or .zst.
func compress(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: compress FROM TO")
	}
	to, err := os.Create(ts.MkAbs(args[1]))
	ts.Check(err)
	var w io.WriteCloser = gzip.NewWriter(to)
	if filepath.Ext(args[1]) == ".zst" {
		w, err = zstd.NewWriter(to)
		ts.Check(err)
	}
	_, err = io.WriteString(w, ts.ReadFile(args[0]))
	ts.Check(err)
	ts.Check(w.Close())
	ts.Check(to.Close())
}

func one(ts *testscript.TestScript, pattern string) string {
	files, err := filepath.Glob(ts.MkAbs(pattern))
	ts.Check(err)
	if len(files) == 0 {
		ts.Fatalf("no file matches %s", pattern)
	}
	return files[0]
}

// flip PATTERN flips a bit near the end of the first file that matches the pattern.
func flip(ts *testscript.TestScript, neg bool, args []string) {
	path := one(ts, args[0])
	content, err := os.ReadFile(path)
	ts.Check(err)
	content[len(content)-12] ^= 8
	ts.Check(os.WriteFile(path, content, 0o666))
}

// cut PATTERN BYTES removes bytes at the end of the first file that matches the pattern. If BYTES is negative,
// it adds bytes.
func cut(ts *testscript.TestScript, neg bool, args []string) {
	path := one(ts, args[0])
	bytes, err := strconv.Atoi(args[1])
	ts.Check(err)
	content, err := os.ReadFile(path)
	ts.Check(err)
	if bytes < 0 {
		content = append(content, make([]byte, -bytes)...)
		bytes = 0
	}
	ts.Check(os.WriteFile(path, content[:len(content)-bytes], 0o666))
}

// format DIR N changes the format in the manifest of the store DIR to N, with the right checksum.
func format(ts *testscript.TestScript, neg bool, args []string) {
	path := ts.MkAbs(filepath.Join(args[0], "manifest"))
	content, err := os.ReadFile(path)
	ts.Check(err)
	text := strings.Replace(string(content), `"format": 1,`, `"format": `+args[1]+`,`, 1)
	const key, none = `"checksum": "`, "00000000"
	at := strings.LastIndex(text, key) + len(key)
	sum := crc32.Checksum([]byte(text[:at]+none+text[at+len(none):]), crc32.MakeTable(crc32.Castagnoli))
	ts.Check(os.WriteFile(path, fmt.Appendf(nil, "%s%08x%s", text[:at], sum, text[at+len(none):]), 0o666))
}

// lose PATTERN removes the first file that matches the pattern.
func lose(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(os.Remove(one(ts, args[0])))
}

// replace PATTERN OTHER replaces the content of the first file that matches PATTERN by the content of the
// first file that matches OTHER.
func replace(ts *testscript.TestScript, neg bool, args []string) {
	content, err := os.ReadFile(one(ts, args[1]))
	ts.Check(err)
	ts.Check(os.WriteFile(one(ts, args[0]), content, 0o666))
}

// alone DIR NAMES... checks that a directory contains exactly these names, hidden names included.
func alone(ts *testscript.TestScript, neg bool, args []string) {
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got, want := strings.Join(names, " "), strings.Join(args[1:], " "); got != want {
		ts.Fatalf("%s holds %s, want %s", args[0], got, want)
	}
}

// coraFolder is absolute because tests change the folder of the process.
var coraFolder, _ = filepath.Abs("../learn/cora")

// cora writes edges.tsv.gz and labels.tsv.gz of the built-in graph.
func cora(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range []string{"edges.tsv.gz", "labels.tsv.gz"} {
		content, err := os.ReadFile(filepath.Join(coraFolder, name))
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(name), content, 0o666))
	}
}

// unpack ZIP DIR unpacks a zip archive into a new directory.
func unpack(ts *testscript.TestScript, neg bool, args []string) {
	archive, err := zip.OpenReader(ts.MkAbs(args[0]))
	ts.Check(err)
	defer archive.Close()
	ts.Check(os.CopyFS(ts.MkAbs(args[1]), archive))
}

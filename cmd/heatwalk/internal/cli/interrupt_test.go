package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
)

// program runs the command in a separate process, which a signal can reach.
func program(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no process can send an interrupt there")
	}
	path := filepath.Join(t.TempDir(), "heatwalk")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Args[0] = "heatwalk"
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), readyFile+"="+filepath.Join(filepath.Dir(path), "ready"))
	return cmd
}

// readyFile names a file that a program creates when it handles signals.
const readyFile = "HEATWALK_TEST_READY"

func handlesSignals(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	_, ready, _ := strings.Cut(cmd.Env[len(cmd.Env)-1], "=")
	for range 6000 {
		if _, err := os.Stat(ready); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%s does not begin", strings.Join(cmd.Args, " "))
}

// computes waits until a process has used ticks hundredths of a second of processor time.
func computes(p *os.Process, ticks int) {
	for range 6000 {
		time.Sleep(20 * time.Millisecond)
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Pid))
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if err != nil || len(fields) < 13 { // not Linux
			time.Sleep(300 * time.Millisecond)
			return
		}
		user, _ := strconv.Atoi(fields[11])
		system, _ := strconv.Atoi(fields[12])
		if user+system >= ticks {
			return
		}
	}
}

// interrupted starts the program, and interrupts it after it has computed for ticks. The program must exit
// with 130. interrupted returns its stderr.
func interrupted(t *testing.T, cmd *exec.Cmd, ticks int) string {
	t.Helper()
	return ended(t, cmd, os.Interrupt, func() { computes(cmd.Process, ticks) })
}

// ended is interrupted for any signal. It sends the signal twice, as timeout(1) does, after wait returns.
func ended(t *testing.T, cmd *exec.Cmd, by os.Signal, wait func()) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	handlesSignals(t, cmd)
	wait()
	began := time.Now()
	if err := cmd.Process.Signal(by); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Millisecond)
	_ = cmd.Process.Signal(by) // may have ended
	_ = cmd.Wait()             // the exit code is checked below
	if took := time.Since(began); took > 5*time.Minute {
		t.Errorf("%v after the interrupt", took)
	}
	if code := cmd.ProcessState.ExitCode(); code != shell.Interrupted {
		t.Errorf("exit code %d, want %d; stderr: %s", code, shell.Interrupted, stderr.String())
	}
	return stderr.String()
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

type endless struct{}

func (e *endless) Read(p []byte) (int, error) {
	const line = "1234567\t7654321\n"
	n := 0
	for n+len(line) <= len(p) {
		n += copy(p[n:], line)
	}
	return n, nil
}

func TestInterruptIngest(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	dir := t.TempDir()
	if code := Main([]string{"generate", "grid", "-o", filepath.Join(dir, "e.tsv"), "--quiet"}, nil, io.Discard, os.Stderr); code != 0 {
		t.Fatal(code)
	}
	if code := Main([]string{"ingest", filepath.Join(dir, "e.tsv"), "-o", filepath.Join(dir, "g"), "--quiet"}, nil, io.Discard, os.Stderr); code != 0 {
		t.Fatal(code)
	}
	before, inside := names(t, dir), names(t, filepath.Join(dir, "g"))
	cmd := program(t, dir, "ingest", "-", "-o", "g", "--force")
	cmd.Stdin = new(endless)
	message := interrupted(t, cmd, 15)
	if !strings.HasPrefix(message, "heatwalk: interrupted after ") || !strings.HasSuffix(message, " s; g is unchanged\n") {
		t.Errorf("stderr: %s", message)
	}
	if after := names(t, dir); after != before {
		t.Errorf("left %s, want %s", after, before)
	}
	if after := names(t, filepath.Join(dir, "g")); after != inside {
		t.Errorf("the store holds %s, want %s", after, inside)
	}

	// Waiting for input is interrupted too.
	for _, by := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(by) { // ignored under nohup, also by the program
			continue
		}
		cmd = program(t, dir, "ingest", "-", "-o", "new")
		pipe, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer pipe.Close()
		reads := func() { // a pipe holds 64 KiB that are not read
			if _, err := io.CopyN(pipe, new(endless), 1<<20); err != nil {
				t.Error(err)
			}
		}
		if message := ended(t, cmd, by, reads); !strings.HasSuffix(message, "; new was not made\n") {
			t.Errorf("%v: stderr: %s", by, message)
		}
		if after := names(t, dir); after != before {
			t.Errorf("%v left %s, want %s", by, after, before)
		}
	}
}

func TestInterruptWalks(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	if code := Main([]string{"generate", "sbm", "--nodes", "50000", "-o", filepath.Join(dir, "e.tsv"), "--labels", filepath.Join(dir, "l.tsv"), "--quiet"},
		nil, io.Discard, os.Stderr); code != 0 {
		t.Fatal(code)
	}
	before := names(t, dir)
	for _, args := range [][]string{
		{"classify", "e.tsv", "--labels", "l.tsv", "--method", "cwk:steps=2000:alpha=0.5:cost=1:features=plain", "-o", "out.tsv"},
		{"classify", "e.tsv", "--labels", "l.tsv", "-o", "out.parquet"},
		{"kernel", "e.tsv", "--labels", "l.tsv", "--rows", "rows", "--cols", "rows", "--kernel", "cwk:steps=5000", "-o", "K.npy"},
		{"evaluate", "e.tsv", "--labels", "l.tsv", "--report", "r.json"},
	} {
		t.Run(args[0]+" "+args[5], func(t *testing.T) {
			if args[0] == "kernel" {
				rows := filepath.Join(dir, "rows")
				if err := os.WriteFile(rows, []byte("1\n2\n3\n"), 0o666); err != nil {
					t.Fatal(err)
				}
				defer os.Remove(rows)
			}
			message := errorLines(interrupted(t, program(t, dir, args...), 30))
			if !strings.HasPrefix(message, "heatwalk: interrupted after ") {
				t.Errorf("stderr: %s", message)
			}
			os.Remove(filepath.Join(dir, "rows"))
			if after := names(t, dir); after != before {
				t.Errorf("left %s, want %s", after, before)
			}
		})
	}
}

func TestSecondWriter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := program(t, dir, "ingest", "-", "-o", "g")
	first.Stdin = new(endless)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = first.Process.Kill() // the test has ended
		_ = first.Wait()
	}()
	lock := filepath.Join(dir, "g", "heatwalk.lock")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(lock); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no lock appears")
		}
	}
	second := program(t, dir, "ingest", "-", "-o", "g", "--force")
	second.Stdin = strings.NewReader("a\tb\n")
	var stderr bytes.Buffer
	second.Stderr = &stderr
	_ = second.Run() // the exit code is checked below
	if code := second.ProcessState.ExitCode(); code != shell.MachineFailed || !strings.Contains(stderr.String(), "g is locked by another heatwalk") {
		t.Errorf("exit code %d, stderr: %s", code, stderr.String())
	}
}

func TestReaderGone(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r.Close()
	var stderr bytes.Buffer
	if code := Main([]string{"generate", "grid", "--rows", "300", "--columns", "300"}, nil, w, &stderr); code != shell.Done {
		t.Errorf("exit code %d", code)
	}
	if stderr.Len() > 0 {
		t.Errorf("stderr: %s", stderr.String())
	}
	if code := Main([]string{"version"}, nil, w, &stderr); code != shell.Done || stderr.Len() > 0 {
		t.Errorf("exit code %d, stderr: %s", code, stderr.String())
	}
}

func TestPanicIsReported(t *testing.T) {
	var stderr bytes.Buffer
	run := shell.NewSession(context.Background(), nil, nil, nil, io.Discard, &stderr)
	code := run.Guard(func() error { panic("cwk: dimension mismatch") })
	if code != shell.MachineFailed {
		t.Errorf("exit code %d", code)
	}
	if want := "heatwalk: internal error: cwk: dimension mismatch; please report it with this command line and the output of --debug\n"; stderr.String() != want {
		t.Errorf("got %q, want %q", stderr.String(), want)
	}
}

// Files in use and files with similar names must stay.
func TestKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start := func() *exec.Cmd {
		cmd := program(t, dir, "classify", "-", "--labels", "l.tsv", "-o", "out.tsv")
		cmd.Stdin = new(endless)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill() // may have ended
			_ = cmd.Wait()
		})
		return cmd
	}
	const mine = ".heatwalk-0123456789abcdef"
	files := map[string]string{"l.tsv": "a\tx\nc\ty\n", "e.tsv": "a\tb\nb\tc\n", ".out.tsv.heatwalk-tmp": "mine", filepath.Join(mine, "notes"): "mine"}
	if err := os.Mkdir(filepath.Join(dir, mine), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	before := names(t, dir)
	temporary := func() []string {
		locks, err := filepath.Glob(filepath.Join(dir, ".heatwalk-*", "graph"))
		if err != nil {
			t.Fatal(err)
		}
		return locks
	}
	wait := func(done func(now []string) bool) {
		for deadline := time.Now().Add(time.Minute); !done(temporary()); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("temporary stores: %v", temporary())
			}
		}
	}
	killed := start()
	wait(func(now []string) bool { return len(now) == 1 })
	_ = killed.Process.Kill() // its exit code does not matter
	_ = killed.Wait()
	left := temporary()[0]
	alive := start()
	wait(func(now []string) bool { return len(now) == 1 && now[0] != left })
	if output, err := program(t, dir, "classify", "e.tsv", "--labels", "l.tsv", "--method", "lp", "-o", "out.tsv").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	if now := temporary(); len(now) != 1 {
		t.Errorf("temporary stores: %v, want that of the run that goes on", now)
	}
	if err := alive.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = alive.Wait()
	if after, want := names(t, dir), before+" out.tsv out.tsv.run.json"; after != want {
		t.Errorf("left %s, want %s", after, want)
	}
}

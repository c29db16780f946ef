package cli

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/durable/durabletest"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func tree(t *testing.T, dir string) string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		list = append(list, strings.TrimPrefix(path, dir))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, "\n")
}

// jobs are runs that write something, in the directory that workplace makes.
var jobs = [][]string{
	{"ingest", "e.tsv", "-o", "new"},
	{"ingest", "e.tsv", "-o", "g", "--force"},
	{"classify", "e.tsv", "--labels", "l.tsv", "--method", "lp", "-o", "out.tsv"},
	{"kernel", "g", "--kernel", "diffusion:beta=1", "-o", "K.npy"},
	{"generate", "grid", "--rows", "3", "--columns", "3", "-o", "grid/"},
	{"convert", "f.npy.gz", "--labels", "l.tsv", "--nodes", "f.ids", "-o", "f.svm"}, // its input is copied first
	{"convert", "x.svm", "-o", "x.npy"},
}

func workplace(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"e.tsv": "a\tb\nb\tc\nc\td\nd\te\n", "l.tsv": "a\tx\ne\ty\n",
		"f.npy.gz": packed(t, "\x93NUMPY\x01\x00\x3c\x00{'descr': '|u1', 'fortran_order': False, 'shape': (2, 1), }\n\x01\x02"), "f.ids": "a\ne\n", "x.svm": "1 1:2\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	succeed(t, nil, io.Discard, "ingest", "e.tsv", "-o", "g", "--quiet")
}

// errorLines returns the lines of stderr without warnings and without notes about columns and classes.
func errorLines(stderr string) string {
	var kept strings.Builder
	for line := range strings.Lines(stderr) {
		if !strings.HasPrefix(line, "heatwalk: warning: ") && !strings.Contains(line, " classes: ") && !strings.Contains(line, " → ") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

func TestEveryDiskFailure(t *testing.T) {
	workplace(t)
	step := 3
	switch {
	case testgraph.Hunt:
		step = 1
	case testing.Short():
		step = 17
	}
	for _, args := range jobs {
		for i := 0; ; i += step {
			before := tree(t, ".")
			faulty := durabletest.FailAt(durable.OS, i)
			var stderr bytes.Buffer
			code := -1
			durabletest.On(faulty, func() { code = Main(args, nil, io.Discard, &stderr) })
			failed := faulty.Failed()
			if failed == "" {
				break
			}
			line := errorLines(stderr.String())
			switch {
			case code == shell.Done && (line == "" || strings.Contains(line, " could not be removed: injected fault")):
				// A temporary file was not removed, or the operation was not needed.
			case code != shell.MachineFailed || strings.Count(line, "\n") != 1 || !strings.HasPrefix(line, "heatwalk: ") || strings.Contains(line, "internal error"):
				t.Errorf("%s, operation %d (%s) fails: exit code %d, stderr: %s", strings.Join(args, " "), i, failed, code, line)
			case args[len(args)-1] != "--force" && (failed == "create" || failed == "write" || failed == "rename") && tree(t, ".") != before:
				t.Errorf("%s, operation %d (%s) fails and leaves of\n%s\nthis:\n%s", strings.Join(args, " "), i, failed, before, tree(t, "."))
			}
			if args[len(args)-1] != "--force" {
				removeNew(t, before)
			}
		}
	}
}

func removeNew(t *testing.T, before string) {
	t.Helper()
	had := strings.Split(before, "\n")
	for _, path := range strings.Split(tree(t, "."), "\n") {
		if !slices.Contains(had, path) {
			_ = os.RemoveAll(filepath.Join(".", path)) // it may be gone with its directory
		}
	}
}

var rowsOfError = regexp.MustCompile(`error in rows \d+–\d+:`)

func TestPanicTellsRows(t *testing.T) {
	workplace(t)
	for _, extra := range [][]string{nil, {"--debug"}, {"--debug", "--json"}, {"--json"}} {
		var stderr bytes.Buffer
		durabletest.On(unsweepable{durable.OS}, func() {
			if code := Main(append([]string{"info", "g"}, extra...), nil, io.Discard, &stderr); code != shell.MachineFailed {
				t.Errorf("%v: exit code %d", extra, code)
			}
		})
		debug, asJSON := slices.Contains(extra, "--debug"), slices.Contains(extra, "--json")
		if !strings.Contains(stderr.String(), "internal error in rows 0–4: out of order; please report it with this command line and the output of --debug") && !asJSON ||
			strings.Contains(stderr.String(), "fault_test.go:") != debug ||
			asJSON && (strings.Count(stderr.String(), "\n") != 1 || !strings.HasPrefix(stderr.String(), `{"code":1,"message":"internal error in rows 0–4: out of order","hint":"please report`)) {
			t.Errorf("%v: stderr: %s", extra, stderr.String())
		}
	}
}

// unsweepable is a file system on which reading a shard panics after its first frame has been checked.
type unsweepable struct{ durable.FS }

func (u unsweepable) Open(name string) (durable.File, error) {
	f, err := u.FS.Open(name)
	if filepath.Ext(name) == ".shard" && err == nil {
		f = &readOnce{File: f}
	}
	return f, err
}

type readOnce struct {
	durable.File
	read bool
}

func (r *readOnce) ReadAt(p []byte, at int64) (int, error) {
	if r.read {
		panic("out of order")
	}
	r.read = true
	return r.File.ReadAt(p, at)
}

func TestPanicAnywhere(t *testing.T) {
	workplace(t)
	step := int64(3)
	switch {
	case testgraph.Hunt:
		step = 1
	case testing.Short():
		step = 23
	}
	for _, args := range jobs {
		before := tree(t, ".")
		for i := int64(1); ; i += step {
			var operations atomic.Int64
			faulty := durabletest.Watch(durable.OS, func() {
				if operations.Add(1) == i {
					panic("out of order")
				}
			})
			var stderr bytes.Buffer
			code := -1
			durabletest.On(faulty, func() { code = Main(args, nil, io.Discard, &stderr) })
			if operations.Load() < i {
				break
			}
			const want = "heatwalk: internal error: out of order; please report it with this command line and the output of --debug\n"
			line := rowsOfError.ReplaceAllString(errorLines(stderr.String()), "error:")
			if code != shell.MachineFailed || line != want {
				t.Errorf("%s, operation %d panics: exit code %d, stderr: %s", strings.Join(args, " "), i, code, stderr.String())
			}
		}
		removeNew(t, before) // an output, or files left by a panic between two steps
	}
}

type unreadable struct{ durable.FS }

func (u unreadable) Open(name string) (durable.File, error) {
	if filepath.Ext(name) == ".shard" {
		panic("out of order")
	}
	return u.FS.Open(name)
}

func TestPanicLeavesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	workplace(t)
	before := tree(t, ".")
	for _, graph := range []string{"g", "e.tsv"} {
		for _, args := range [][]string{
			{"classify", graph, "--labels", "l.tsv", "--method", "lp", "-o", "out.tsv"},
			{"kernel", graph, "--kernel", "diffusion:beta=1", "-o", "K.npy"},
			{"features", graph, "--labels", "l.tsv", "-o", "F.npy"},
			{"convert", graph, "-o", "x.mtx"},
			{"eigen", graph, "--matrix", "adjacency", "--which", "largest", "--k", "1", "-o", "E.npy"},
			{"evaluate", graph, "--labels", "l.tsv", "--method", "lp", "--report", "r.html"},
		} {
			var stderr bytes.Buffer
			code := -1
			durabletest.On(unreadable{durable.OS}, func() { code = Main(args, nil, io.Discard, &stderr) })
			const want = "heatwalk: internal error: out of order; please report it with this command line and the output of --debug\n"
			if code != shell.MachineFailed || stderr.String() != want {
				t.Errorf("%s: exit code %d, stderr: %s", strings.Join(args, " "), code, stderr.String())
			}
			if after := tree(t, "."); after != before {
				t.Errorf("%s leaves of\n%s\nthis:\n%s", strings.Join(args, " "), before, after)
			}
		}
	}
}

type broken struct {
	durable.FS
	room  *atomic.Int64 // bytes that may still be written; nil: no limit
	sync  error
	syncs *atomic.Int64
}

func (b *broken) Create(name string) (durable.File, error) {
	return b.wrap(name, b.FS.Create)
}

func (b *broken) CreateTemp(name string) (durable.File, error) {
	return b.wrap(name, b.FS.CreateTemp)
}

func (b *broken) wrap(name string, create func(string) (durable.File, error)) (durable.File, error) {
	f, err := create(name)
	if err != nil {
		return nil, err
	}
	return &brokenFile{f, b, name}, nil
}

type brokenFile struct {
	durable.File
	b    *broken
	name string
}

// fullError is the error that package durable returns for ENOSPC.
type fullError struct{ error }

func (e fullError) Unwrap() []error { return []error{e.error, durable.ErrFull} }

func (f *brokenFile) Write(p []byte) (int, error) {
	if f.b.room != nil && f.b.room.Add(-int64(len(p))) < 0 {
		return 0, fullError{&fs.PathError{Op: "write", Path: f.name, Err: syscall.ENOSPC}}
	}
	return f.File.Write(p)
}

func (f *brokenFile) Sync() error {
	if f.b.sync != nil {
		f.b.syncs.Add(1)
		return &fs.PathError{Op: "sync", Path: f.name, Err: f.b.sync}
	}
	return f.File.Sync()
}

func TestDiskFull(t *testing.T) {
	workplace(t)
	before := tree(t, ".")
	for _, args := range jobs {
		for _, room := range []int64{0, 100} {
			full := &broken{FS: durable.OS, room: new(atomic.Int64)}
			full.room.Store(room)
			var stderr bytes.Buffer
			code := -1
			durabletest.On(full, func() { code = Main(args, nil, io.Discard, &stderr) })
			line := stderr.String()
			advice := "write to another disk"
			if args[0] == "classify" || args[1] == "f.npy.gz" && room == 0 { // a store of the edges, or a copy, is made first
				advice = "name another disk with --temp-dir"
			}
			if code != shell.MachineFailed || !strings.HasPrefix(line, "heatwalk: write ") ||
				!strings.Contains(line, ": no space left on device (") || strings.Contains(line, "tmp") ||
				!strings.HasSuffix(line, " are free); make room, or "+advice+"\n") {
				t.Errorf("%s, %d bytes of room: exit code %d, stderr: %s", strings.Join(args, " "), room, code, line)
			}
			if after := tree(t, "."); after != before {
				t.Errorf("%s, %d bytes of room: left\n%s\nwant\n%s", strings.Join(args, " "), room, after, before)
			}
		}
	}
}

type readOnly struct{ durable.FS }

func (readOnly) Create(name string) (durable.File, error) { return nil, denied("open", name) }

func (readOnly) CreateTemp(name string) (durable.File, error) { return nil, denied("open", name) }

func (readOnly) Mkdir(name string) error { return denied("mkdir", name) }

func (readOnly) Lock(name string) (io.Closer, error) { return nil, denied("open", name) }

func denied(op, name string) error { return &fs.PathError{Op: op, Path: name, Err: fs.ErrPermission} }

type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the input is read")
	return 0, io.EOF
}

func TestReadOnly(t *testing.T) {
	workplace(t)
	before := tree(t, ".")
	for _, job := range []struct {
		args []string
		want string
	}{
		{[]string{"ingest", "-", "-o", "new"}, "create new: permission denied; choose another place for it"},
		{[]string{"ingest", "-", "-o", "g", "--force"}, "create g: permission denied; choose another place for it"},
		{[]string{"classify", "-", "--labels", "l.tsv", "-o", "out.tsv"}, "create out.tsv: permission denied; choose another place for it"},
		{[]string{"kernel", "g", "--kernel", "diffusion:beta=1", "-o", "K.npy"}, "create K.npy: permission denied; choose another place for it"},
		{[]string{"info", "-", "--temp-dir", "."}, "create a temporary directory in .: permission denied; choose another with --temp-dir"},
		{[]string{"generate", "grid", "-o", "new/"}, "create new: permission denied; choose another place for it"},
	} {
		var stderr bytes.Buffer
		code := -1
		durabletest.On(readOnly{durable.OS}, func() { code = Main(job.args, unread{t}, io.Discard, &stderr) })
		if want := "heatwalk: " + job.want + "\n"; code != shell.MachineFailed || stderr.String() != want {
			t.Errorf("%s: exit code %d, stderr: %s, want %s", strings.Join(job.args, " "), code, stderr.String(), want)
		}
	}
	if after := tree(t, "."); after != before {
		t.Errorf("left\n%s\nwant\n%s", after, before)
	}
}

func TestFailedSync(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	workplace(t)
	before := tree(t, ".")
	for _, args := range jobs {
		lossy := &broken{FS: durable.OS, sync: syscall.EIO, syncs: new(atomic.Int64)}
		var stderr bytes.Buffer
		code := -1
		durabletest.On(lossy, func() { code = Main(args, nil, io.Discard, &stderr) })
		line := stderr.String()
		if code != shell.MachineFailed || !strings.HasPrefix(line, "heatwalk: sync ") || !strings.HasSuffix(line, ": input/output error; the disk may have lost data\n") {
			t.Errorf("%s: exit code %d, stderr: %s", strings.Join(args, " "), code, line)
		}
		if n := lossy.syncs.Load(); n != 1 {
			t.Errorf("%s: %d syncs after the one that failed", strings.Join(args, " "), n-1)
		}
		if after := tree(t, "."); after != before {
			t.Errorf("%s: left\n%s\nwant\n%s", strings.Join(args, " "), after, before)
		}
	}
}

type small struct {
	durable.FS
	free int64
}

func (s small) Free(string) (int64, error) { return s.free, nil }

func TestDiskTooSmall(t *testing.T) {
	workplace(t)
	before := tree(t, ".")
	for _, args := range [][]string{
		{"ingest", "e.tsv", "-o", "new"},
		{"ingest", "e.tsv", "-o", "g", "--force"},
		{"ingest", "-", "-o", "new"},
		{"classify", "e.tsv", "--labels", "l.tsv", "--method", "lp", "-o", "out.tsv"},
		{"info", "-", "--temp-dir", "."},
	} {
		var stderr bytes.Buffer
		code := -1
		durabletest.On(small{durable.OS, 3}, func() {
			code = Main(args, strings.NewReader("a\tb\nb\tc\n"), io.Discard, &stderr)
		})
		line := stderr.String()
		begin, end := ": the store may need ", ", 3 B are free; make room, or write to another disk\n"
		if args[0] != "ingest" {
			begin, end = "heatwalk: .: temporary files may need ", ", 3 B are free; make room, or name another disk with --temp-dir\n"
		}
		if code != shell.OverLimit || !strings.Contains(line, begin) || !strings.HasSuffix(line, end) {
			t.Errorf("%s: exit code %d, stderr: %s", strings.Join(args, " "), code, line)
		}
		if after := tree(t, "."); after != before {
			t.Errorf("%s: left\n%s\nwant\n%s", strings.Join(args, " "), after, before)
		}
	}
}

package shard

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/heatwalk/heatwalk/internal/durable"
)

// cached returns how many pages of a file are in the system's memory.
func cached(t *testing.T, f *os.File, size int) (pages int) {
	t.Helper()
	memory, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(memory)
	resident := make([]byte, (size+os.Getpagesize()-1)/os.Getpagesize())
	if _, _, failed := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&memory[0])), uintptr(size), uintptr(unsafe.Pointer(&resident[0]))); failed != 0 {
		t.Fatal(failed)
	}
	for _, b := range resident {
		pages += int(b & 1)
	}
	return pages
}

func TestDropCached(t *testing.T) {
	const size = 1 << 20
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, size), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var disk unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &disk); err != nil || disk.Type == unix.TMPFS_MAGIC {
		t.Skip("files of this directory are nowhere but in memory")
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	before := cached(t, f, size)
	dropCached(f, 0, 0)
	if after := cached(t, f, size); before == 0 || after > 0 {
		t.Errorf("%d pages are in memory before, %d after", before, after)
	}
}

// watchedFS records when files are synced, dropped from memory and read.
type watchedFS struct {
	durable.FS
	mu   *sync.Mutex
	seen map[string]*bytes.Buffer
}

type watchedFile struct {
	durable.File
	seen *bytes.Buffer
}

func (w watchedFS) watch(path string, f durable.File, err error) (durable.File, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen[path] == nil {
		w.seen[path] = new(bytes.Buffer)
	}
	return watchedFile{f, w.seen[path]}, err
}

func (w watchedFS) Create(path string) (durable.File, error) {
	f, err := w.FS.Create(path)
	return w.watch(path, f, err)
}

func (w watchedFS) Open(path string) (durable.File, error) {
	f, err := w.FS.Open(path)
	return w.watch(path, f, err)
}

func (f watchedFile) Sync() error {
	f.seen.WriteByte('s')
	return f.File.Sync()
}

func (f watchedFile) Fd() uintptr {
	f.seen.WriteByte('d')
	return f.File.(interface{ Fd() uintptr }).Fd()
}

func (f watchedFile) ReadAt(b []byte, off int64) (int, error) {
	f.seen.WriteByte('r')
	return f.File.ReadAt(b, off)
}

// TestReadBackAsksTheDisk holds that every shard, or piece of one, leaves the system's
// memory between its sync and its reading.
func TestReadBackAsksTheDisk(t *testing.T) {
	inPieces(t, 4096, testReadBackAsksTheDisk)
}

func testReadBackAsksTheDisk(t *testing.T, piece int64) {
	want := regexp.MustCompile("^sddr$") // the second to read in order
	if piece > 0 {
		want = regexp.MustCompile("^(sddr){2,}$")
	}
	fs := watchedFS{durable.OS, new(sync.Mutex), map[string]*bytes.Buffer{}}
	w, err := Create(filepath.Join(t.TempDir(), "store"), &WriteOptions{fs: fs, ShardBytes: 1, piece: piece})
	if err != nil {
		t.Fatal(err)
	}
	for range 1 << 16 {
		if err := w.Append(nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	shards := 0
	for path, seen := range fs.seen {
		if filepath.Ext(path) == ".shard" {
			shards++
			if got := seen.String(); !want.MatchString(got) {
				t.Errorf("%s: %s", filepath.Base(path), got)
			}
		}
	}
	if shards < 2 {
		t.Errorf("%d shards", shards)
	}
}

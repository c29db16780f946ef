package durabletest

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/heatwalk/heatwalk/internal/durable"
)

// Mem is a file system in memory. It remembers the synced state of every file and directory, so that Crash can simulate
// a crash. The directory "." exists and is durable. A Mem is safe for concurrent use.
type Mem struct {
	mu    sync.Mutex
	tree  tree
	locks map[string]bool
}

type tree struct {
	root  *node
	clock int64
}

// node is a file or a directory.
type node struct {
	data, synced       []byte           // a file: now, and after a crash
	names, syncedNames map[string]*node // a directory: now, and after a crash
	modified           time.Time
	used               bool // CreateTemp made the file, and it is not closed yet
}

func (n *node) isDir() bool { return n.names != nil }

func NewMem() *Mem {
	return &Mem{tree: tree{root: newDir()}, locks: map[string]bool{}}
}

func newDir() *node { return &node{names: map[string]*node{}, syncedNames: map[string]*node{}} }

// Crash returns the file system as it may be after a crash. Synced state remains. A name or a block of 512 bytes that
// was changed after the sync is new with a probability of percent/100, and otherwise old. Locks are gone.
func (m *Mem) Crash(rng *rand.Rand, percent int) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := NewMem()
	c.tree = tree{m.tree.root.crashed(rng, percent, map[*node]*node{}), m.tree.clock}
	return c
}

// crashed returns a copy of n as it may be after a crash. done maps nodes to their copies, because a node may have
// several names.
func (n *node) crashed(rng *rand.Rand, percent int, done map[*node]*node) *node {
	if d := done[n]; d != nil {
		return d
	}
	lucky := func() bool { return rng.IntN(100) < percent }
	if !n.isDir() {
		data := slices.Clone(n.synced)
		const block = 512
		for offset := 0; offset < len(n.data); offset += block {
			if end := min(offset+block, len(n.data)); lucky() {
				if len(data) < end {
					data = append(data, make([]byte, end-len(data))...)
				}
				copy(data[offset:end], n.data[offset:end])
			}
		}
		d := &node{data: data, synced: slices.Clone(data), modified: n.modified}
		done[n] = d
		return d
	}
	d := newDir()
	done[n] = d
	both := maps.Clone(n.names)
	maps.Copy(both, n.syncedNames)
	for _, name := range slices.Sorted(maps.Keys(both)) {
		old, now := n.syncedNames[name], n.names[name]
		if old != now && lucky() {
			old = now
		}
		if old != nil {
			d.names[name] = old.crashed(rng, percent, done)
		}
	}
	d.syncedNames = maps.Clone(d.names)
	return d
}

// Clone returns a copy of m in which everything is durable.
func Clone(m *Mem) *Mem {
	return m.Crash(rand.New(rand.NewPCG(0, 0)), 100)
}

// Change replaces the content of a file by the result of change, and syncs it. It ignores locks and open files.
func (m *Mem) Change(name string, change func([]byte) []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.tree.find("change", name)
	if err != nil {
		panic(err)
	}
	n.data = change(slices.Clone(n.data))
	n.synced = slices.Clone(n.data)
	m.tree.touch(n)
}

func (t *tree) touch(n *node) {
	t.clock++
	n.modified = time.Unix(t.clock, 0)
}

func (t *tree) find(op, name string) (*node, error) {
	n := t.root
	if clean := filepath.Clean(name); clean != "." {
		dir, base := filepath.Split(clean)
		parent, err := t.find(op, filepath.Clean(dir+"."))
		if err != nil {
			return nil, err
		}
		n = parent.names[base]
	}
	if n == nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return n, nil
}

func (t *tree) parent(op, name string) (*node, string, error) {
	dir, base := filepath.Split(filepath.Clean(name))
	n, err := t.find(op, filepath.Clean(dir+"."))
	if err == nil && !n.isDir() {
		err = &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return n, base, err
}

func of[T any](m *Mem, op, name string, do func(n *node) (T, error)) (result T, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.tree.find(op, name)
	if err != nil {
		return result, err
	}
	return do(n)
}

func (m *Mem) Create(name string) (durable.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, base, err := m.tree.parent("create", name)
	if err != nil {
		return nil, err
	}
	n := dir.names[base]
	if n == nil {
		n = new(node)
		dir.names[base] = n
	}
	n.data = nil
	m.tree.touch(n)
	return &memFile{m: m, n: n, name: name, writable: true}, nil
}

func (m *Mem) CreateTemp(name string) (durable.File, error) {
	n := &node{used: true}
	if err := m.add("create", name, n); err != nil {
		return nil, err
	}
	return &memFile{m: m, n: n, name: name, writable: true, temp: true}, nil
}

// add gives a new node its name. If the name is taken, the error of op wraps [fs.ErrExist].
func (m *Mem) add(op, name string, n *node) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, base, err := m.tree.parent(op, name)
	if err == nil && dir.names[base] != nil {
		err = &fs.PathError{Op: op, Path: name, Err: fs.ErrExist}
	}
	if err != nil {
		return err
	}
	dir.names[base] = n
	m.tree.touch(n)
	return nil
}

func (m *Mem) RemoveTemp(name string) error {
	m.mu.Lock()
	n, err := m.tree.find("remove", name)
	used := err == nil && (n.used || m.locks[name])
	m.mu.Unlock()
	if used {
		return fmt.Errorf("%s: %w", name, durable.ErrLocked)
	}
	return m.Remove(name)
}

func (m *Mem) Open(name string) (durable.File, error) {
	return of(m, "open", name, func(n *node) (durable.File, error) { return &memFile{m: m, n: n, name: name}, nil })
}

func (m *Mem) Stat(name string) (fs.FileInfo, error) {
	return of(m, "stat", name, func(n *node) (fs.FileInfo, error) { return n.info(name), nil })
}

func (m *Mem) Follow(name string) (string, error) { return name, nil }

func (m *Mem) Rename(oldName, newName string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.tree.find("rename", oldName)
	if err != nil {
		return err
	}
	old, oldBase, _ := m.tree.parent("rename", oldName)
	dir, base, err := m.tree.parent("rename", newName)
	if err != nil {
		return err
	}
	delete(old.names, oldBase)
	dir.names[base] = n
	return nil
}

func (m *Mem) Free(string) (int64, error) { return math.MaxInt64, nil }

func (m *Mem) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.tree.find("remove", name)
	if err != nil {
		return err
	}
	if len(n.names) > 0 {
		return &fs.PathError{Op: "remove", Path: name, Err: fmt.Errorf("directory not empty: %v", slices.Sorted(maps.Keys(n.names)))}
	}
	dir, base, _ := m.tree.parent("remove", name)
	delete(dir.names, base)
	return nil
}

func (m *Mem) Mkdir(name string) error { return m.add("mkdir", name, newDir()) }

func (m *Mem) List(dir string) ([]string, error) {
	return of(m, "list", dir, func(n *node) ([]string, error) {
		if !n.isDir() {
			return nil, &fs.PathError{Op: "list", Path: dir, Err: fs.ErrInvalid}
		}
		return slices.Sorted(maps.Keys(n.names)), nil
	})
}

func (m *Mem) SyncDir(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.tree.find("sync", dir)
	if err != nil {
		return err
	}
	n.syncedNames = maps.Clone(n.names)
	return nil
}

func (m *Mem) Lock(name string) (io.Closer, error) {
	m.mu.Lock()
	held := m.locks[name]
	m.locks[name] = true
	m.mu.Unlock()
	if held {
		return nil, fmt.Errorf("%s: %w", name, durable.ErrLocked)
	}
	f, err := m.Create(name)
	if err != nil {
		m.mu.Lock()
		delete(m.locks, name)
		m.mu.Unlock()
		return nil, err
	}
	return &memLock{m, name}, f.Close()
}

type memLock struct {
	m    *Mem
	name string
}

func (l *memLock) Close() error {
	err := l.m.Remove(l.name)
	l.m.mu.Lock()
	delete(l.m.locks, l.name)
	l.m.mu.Unlock()
	return err
}

// memFile is an open file of a [Mem].
type memFile struct {
	m        *Mem
	n        *node
	name     string
	writable bool
	closed   bool
	temp     bool // CreateTemp made the file: Close ends its use
}

func (f *memFile) check(op string, write bool) error {
	if f.closed || write && !f.writable {
		return &fs.PathError{Op: op, Path: f.name, Err: fs.ErrClosed}
	}
	return nil
}

// Write appends p to the file.
func (f *memFile) Write(p []byte) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	return f.writeAt(p, int64(len(f.n.data)))
}

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	return f.writeAt(p, off)
}

// writeAt writes p at off. The caller must hold the lock.
func (f *memFile) writeAt(p []byte, off int64) (int, error) {
	if err := f.check("write", true); err != nil {
		return 0, err
	}
	if grow := int(off) + len(p) - len(f.n.data); grow > 0 {
		f.n.data = append(f.n.data, make([]byte, grow)...)
	}
	f.m.tree.touch(f.n)
	return copy(f.n.data[off:], p), nil
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.check("read", false); err != nil {
		return 0, err
	}
	n := 0
	if off < int64(len(f.n.data)) {
		n = copy(p, f.n.data[off:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) Sync() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.check("sync", true); err != nil {
		return err
	}
	f.n.synced = slices.Clone(f.n.data)
	return nil
}

// Chmod does nothing: all files have the same bits.
func (f *memFile) Chmod(fs.FileMode) error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	return f.check("chmod", true)
}

func (f *memFile) Stat() (fs.FileInfo, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	return f.n.info(f.name), f.check("stat", false)
}

func (f *memFile) Close() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	err := f.check("close", false)
	f.closed = true
	if f.temp {
		f.n.used = false
	}
	return err
}

func (n *node) info(name string) fs.FileInfo {
	return memInfo{filepath.Base(name), int64(len(n.data)), n.isDir(), n.modified}
}

type memInfo struct {
	name     string
	size     int64
	dir      bool
	modified time.Time
}

func (i memInfo) Name() string       { return i.name }
func (i memInfo) Size() int64        { return i.size }
func (i memInfo) IsDir() bool        { return i.dir }
func (i memInfo) ModTime() time.Time { return i.modified }
func (i memInfo) Sys() any           { return nil }
func (i memInfo) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o777
	}
	return 0o666
}

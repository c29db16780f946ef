package durabletest

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"sync/atomic"

	"github.com/heatwalk/heatwalk/internal/durable"
)

// On calls f, during which fsys replaces [durable.OS] in the whole program.
func On(fsys durable.FS, f func()) {
	real := durable.OS
	durable.OS = fsys
	defer func() { durable.OS = real }()
	f()
}

var ErrInjected = errors.New("injected fault")

// Failing forwards operations to another file system. One operation, on the file system or on one of its files, fails
// and does nothing.
type Failing struct {
	fs      durable.FS
	trigger trigger
}

// trigger counts operations and makes one of them fail.
type trigger struct {
	target int64  // number of the operation that fails
	hook   func() // called before every operation; may be nil
	count  atomic.Int64
	failed atomic.Value // name of the operation that failed
}

// FailAt returns a file system whose operation i, counted from 0, fails. If i is negative, no operation fails.
func FailAt(fsys durable.FS, i int) *Failing {
	return &Failing{fs: fsys, trigger: trigger{target: int64(i)}}
}

func Watch(fsys durable.FS, hook func()) *Failing {
	return &Failing{fs: fsys, trigger: trigger{target: -1, hook: hook}}
}

func (f *Failing) Operations() int { return int(f.trigger.count.Load()) }

// Failed returns the name of the operation that failed, for example "write" or "sync". It returns "" if none has
// failed.
func (f *Failing) Failed() string {
	op, _ := f.trigger.failed.Load().(string)
	return op
}

func (t *trigger) step(op, name string) error {
	if t.hook != nil {
		t.hook()
	}
	if t.count.Add(1)-1 == t.target {
		t.failed.Store(op)
		return &fs.PathError{Op: op, Path: name, Err: ErrInjected}
	}
	return nil
}

func try[T any](f *Failing, op, name string, do func() (T, error)) (result T, err error) {
	if err = f.trigger.step(op, name); err == nil {
		result, err = do()
	}
	return result, err
}

func (t *trigger) do(op, name string, do func() error) error {
	if err := t.step(op, name); err != nil {
		return err
	}
	return do()
}

func (f *Failing) Create(name string) (durable.File, error) {
	return f.openIn("create", name, f.fs.Create)
}

func (f *Failing) CreateTemp(name string) (durable.File, error) {
	return f.openIn("create", name, f.fs.CreateTemp)
}

func (f *Failing) RemoveTemp(name string) error {
	return f.trigger.do("remove", name, func() error { return f.fs.RemoveTemp(name) })
}

func (f *Failing) Open(name string) (durable.File, error) { return f.openIn("open", name, f.fs.Open) }

func (f *Failing) openIn(op, name string, open func(string) (durable.File, error)) (durable.File, error) {
	return try(f, op, name, func() (durable.File, error) {
		file, err := open(name)
		if err != nil {
			return nil, err
		}
		return &failingFile{f, name, file}, nil
	})
}

func (f *Failing) Stat(name string) (fs.FileInfo, error) {
	return try(f, "stat", name, func() (fs.FileInfo, error) { return f.fs.Stat(name) })
}

func (f *Failing) Follow(name string) (string, error) {
	return try(f, "follow", name, func() (string, error) { return f.fs.Follow(name) })
}

func (f *Failing) Rename(oldName, newName string) error {
	return f.trigger.do("rename", oldName, func() error { return f.fs.Rename(oldName, newName) })
}

// Free is not counted as an operation and never fails, because it does not use the disk.
func (f *Failing) Free(name string) (int64, error) { return f.fs.Free(name) }

func (f *Failing) Remove(name string) error {
	return f.trigger.do("remove", name, func() error { return f.fs.Remove(name) })
}

func (f *Failing) Mkdir(name string) error {
	return f.trigger.do("mkdir", name, func() error { return f.fs.Mkdir(name) })
}

func (f *Failing) List(dir string) ([]string, error) {
	return try(f, "list", dir, func() ([]string, error) { return f.fs.List(dir) })
}

func (f *Failing) SyncDir(dir string) error {
	return f.trigger.do("sync", dir, func() error { return f.fs.SyncDir(dir) })
}

func (f *Failing) Lock(name string) (io.Closer, error) {
	return try(f, "lock", name, func() (io.Closer, error) { return f.fs.Lock(name) })
}

type failingFile struct {
	fs   *Failing
	name string
	durable.File
}

func (f *failingFile) Write(p []byte) (int, error) {
	return try(f.fs, "write", f.name, func() (int, error) { return f.File.Write(p) })
}

func (f *failingFile) WriteAt(p []byte, off int64) (int, error) {
	return try(f.fs, "write", f.name, func() (int, error) { return f.File.WriteAt(p, off) })
}

func (f *failingFile) ReadAt(p []byte, off int64) (int, error) {
	return try(f.fs, "read", f.name, func() (int, error) { return f.File.ReadAt(p, off) })
}

func (f *failingFile) Sync() error {
	return f.fs.trigger.do("sync", f.name, func() error { return f.File.Sync() })
}

func (f *failingFile) Chmod(mode fs.FileMode) error {
	return f.fs.trigger.do("chmod", f.name, func() error { return f.File.Chmod(mode) })
}

func (f *failingFile) Stat() (fs.FileInfo, error) {
	return try(f.fs, "stat", f.name, func() (fs.FileInfo, error) { return f.File.Stat() })
}

// Close closes the file even if the operation fails, as systems do.
func (f *failingFile) Close() error {
	injected := f.fs.trigger.step("close", f.name)
	return errors.Join(injected, f.File.Close())
}

type Flipping struct {
	durable.FS
	suffix string
	offset int64
	mask   byte
}

// Flip returns a file system in which reads see one changed byte: in every file whose name ends with suffix, the byte
// at the offset has the bits of mask flipped.
func Flip(fsys durable.FS, suffix string, offset int64, mask byte) *Flipping {
	return &Flipping{fsys, suffix, offset, mask}
}

func (f *Flipping) Create(name string) (durable.File, error) {
	file, err := f.FS.Create(name)
	return f.flip(name, file, err)
}

func (f *Flipping) Open(name string) (durable.File, error) {
	file, err := f.FS.Open(name)
	return f.flip(name, file, err)
}

func (f *Flipping) flip(name string, file durable.File, err error) (durable.File, error) {
	if err != nil || !strings.HasSuffix(name, f.suffix) {
		return file, err
	}
	return &flippingFile{file, f.offset, f.mask}, nil
}

type flippingFile struct {
	durable.File
	offset int64
	mask   byte
}

func (f *flippingFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	if index := f.offset - off; index >= 0 && index < int64(n) {
		p[index] ^= f.mask
	}
	return n, err
}

var (
	_ durable.FS = (*Mem)(nil)
	_ durable.FS = (*Failing)(nil)
	_ durable.FS = (*Flipping)(nil)
)

package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// OS is the file system of the operating system. Tests replace it.
var OS FS = system{}

type system struct{}

func (system) Create(name string) (File, error) {
	mode := os.O_RDWR
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		mode = os.O_WRONLY // a pipe that its writer could read would wait for no other reader
	}
	return fileOf(os.OpenFile(name, mode|os.O_CREATE|os.O_TRUNC, 0o666))
}

func (system) CreateTemp(name string) (File, error) {
	f, unlocked, err := createTemp(name)
	if unlocked {
		return unlockedFile{f}, nil
	}
	return fileOf(f, err)
}

type unlockedFile struct{ *os.File }

func (unlockedFile) IsUnlocked() bool { return true }

func (system) RemoveTemp(name string) error {
	// A link or a pipe of such a name was not made by CreateTemp.
	info, err := os.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = &os.PathError{Op: "remove", Path: name, Err: fs.ErrInvalid}
	}
	if err != nil {
		return err
	}
	return removeTemp(name)
}

func (system) Open(name string) (File, error) {
	return fileOf(os.Open(name))
}

// fileOf returns f as a [File]. If err is not nil, it returns a nil interface.
func fileOf(f *os.File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return file{f}, nil
}

func (system) Stat(name string) (fs.FileInfo, error) {
	return os.Stat(name)
}

func (system) Rename(oldName, newName string) error {
	return os.Rename(oldName, newName)
}

func (system) Remove(name string) error {
	return os.Remove(name)
}

func (system) Mkdir(name string) error {
	return os.Mkdir(name, 0o777)
}

func (system) Lock(name string) (io.Closer, error) {
	return lock(name)
}

// Follow implements [FS]. It reads the links one by one, because the last target need not exist.
func (system) Follow(name string) (string, error) {
	const limit = 40 // links, as for Linux
	path := name
	for range limit {
		target, err := os.Readlink(path)
		if err != nil { // no link, or nothing at all
			return leadsTo(name, path), nil
		}
		if !filepath.IsAbs(target) {
			dir, _ := filepath.Split(path)
			target = dir + target // not cleaned: dir may be a link itself
		}
		path = target
	}
	return "", &os.PathError{Op: "follow", Path: name,
		Err: errors.New("too many links")}
}

// leadsTo returns path, the end of the links of name. If opening name gives another file, it returns name; the link of
// an open file in /proc may be so.
func leadsTo(name, path string) string {
	opened, err := os.Stat(name)
	if err != nil {
		return path
	}
	if named, err := os.Stat(path); err == nil && os.SameFile(opened, named) {
		return path
	}
	return name
}

func (system) List(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

// file is an open file. Its errors of a full device wrap [ErrFull].
type file struct{ *os.File }

func (f file) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, markFull(err)
}

func (f file) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(p, off)
	return n, markFull(err)
}

// ReadFrom implements [io.ReaderFrom], which [io.Copy] uses instead of Write.
func (f file) ReadFrom(r io.Reader) (int64, error) {
	n, err := f.File.ReadFrom(r)
	return n, markFull(err)
}

func (f file) WriteString(s string) (int, error) {
	n, err := f.File.WriteString(s)
	return n, markFull(err)
}

func (f file) Sync() error { return markFull(f.File.Sync()) }

func (f file) Chmod(mode fs.FileMode) error {
	err := f.File.Chmod(mode)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported) {
		return nil // the file is ours, and the file system keeps no permission bits
	}
	return err
}

type fullError struct{ error }

func (e fullError) Unwrap() []error {
	return []error{e.error, ErrFull}
}

// markFull returns err. If err is the error of the system for a full device, the result also wraps [ErrFull].
func markFull(err error) error {
	if err != nil && errors.Is(err, errFull) {
		return fullError{err}
	}
	return err
}

//go:build linux || darwin

package durable

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// On a file system without flock, for example Lustre or FUSE, nothing that another process may use is removed.
func TestWithoutLocks(t *testing.T) {
	defer func() { flockCall = unix.Flock }()
	for _, errno := range []error{unix.ENOSYS, unix.EOPNOTSUPP, unix.ENOLCK, unix.EINVAL} {
		flockCall = func(int, int) error { return errno }
		dir := t.TempDir()
		lock, err := OS.Lock(filepath.Join(dir, "lock"))
		if err != nil || !IsUnlocked(lock) {
			t.Fatalf("%v: lock: %v", errno, err)
		}
		if err := lock.Close(); err != nil {
			t.Error(err)
		}
		first, err := NewTempDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		second, err := NewTempDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(first.Path); err != nil {
			t.Errorf("%v: a directory in use was removed: %v", errno, err)
		}
		for _, create := range []func(FS, string) (*Pending, error){NewFile, NewBeside} {
			p, err := create(OS, filepath.Join(dir, "out"))
			if err == nil {
				if !p.IsUnlocked() {
					t.Errorf("%v: the file counts as locked", errno)
				}
				err = Commit(nil, p)
			}
			if err != nil {
				t.Error(err)
			}
		}
		for _, d := range []*TempDir{first, second} {
			if err := d.Remove(); err != nil {
				t.Error(err)
			}
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 1 || left[0].Name() != "out" {
			t.Errorf("%v: %v is left (%v)", errno, left, err)
		}
	}
	flockCall = func(int, int) error { return unix.EIO }
	if _, err := OS.Lock(filepath.Join(t.TempDir(), "lock")); err == nil {
		t.Error("a failing disk: locked")
	}
}

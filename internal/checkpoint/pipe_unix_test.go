//go:build unix

package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestPipe reads a pipe that has the name of a journal: it is an error, without waiting for a
// writer, and the pipe stays.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "K.npy.journal")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	err := Read(path, ofOne, new(string))
	if wrong := new(Error); !errors.As(err, &wrong) || !wrong.Damaged {
		t.Errorf("error %v, want one of a damaged journal", err)
	}
	if err := Remove(path); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

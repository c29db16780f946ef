//go:build unix

package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestPipe resumes a run beside a pipe that has the name of its journal: nobody waits for a
// writer, and the pipe stays.
func TestPipe(t *testing.T) {
	output := filepath.Join(t.TempDir(), "K.npy")
	if err := syscall.Mkfifo(output+".journal", 0o600); err != nil {
		t.Skip(err)
	}
	l, err := Open(output, 0, Warmup, true, func() (Run, error) { return ofOne, nil })
	if wrong := new(Error); !errors.As(err, &wrong) || !wrong.Damaged {
		t.Errorf("error %v, want one of a damaged journal", err)
	}
	if err := l.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(output + ".journal"); err != nil {
		t.Error(err)
	}
}

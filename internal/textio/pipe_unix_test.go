//go:build unix

package textio

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestPipe opens a pipe that nobody writes to, which ends with the context, and then reads
// what somebody does write.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	stopped := errors.New("stopped")
	ctx, stop := context.WithCancelCause(t.Context())
	stop(stopped)
	if _, err := Open(ctx, path, nil); err != stopped {
		t.Errorf("error %v, want that of the context", err)
	}
	w, err := os.OpenFile(path, os.O_RDWR, 0) // ends the goroutine that still opens it
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	other := path + "2"
	if err := syscall.Mkfifo(other, 0o600); err != nil {
		t.Fatal(err)
	}
	const text = "a\tb\n"
	go os.WriteFile(other, []byte(text), 0) // the reading tells whether it worked
	in, err := Open(t.Context(), other, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if got, err := io.ReadAll(in.Content()); err != nil || string(got) != text {
		t.Errorf("%q, error %v", got, err)
	}
}

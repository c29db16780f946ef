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
	"time"
)

func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	stopped := errors.New("stopped")
	ctx, stop := context.WithCancelCause(t.Context())
	stop(stopped)
	if _, err := Open(ctx, path, nil); !errors.Is(err, stopped) || !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	w, err := os.OpenFile(path, os.O_WRONLY, 0) // ends the goroutine that still opens the pipe
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for end := time.Now().Add(time.Minute); !errors.Is(err, syscall.EPIPE); _, err = w.Write([]byte{0}) {
		if time.Sleep(time.Millisecond); time.Now().After(end) {
			t.Fatalf("the pipe is still open for reading: %v", err)
		}
	}
	other := path + "2"
	if err := syscall.Mkfifo(other, 0o600); err != nil {
		t.Fatal(err)
	}
	const text = "a\tb\n"
	go os.WriteFile(other, []byte(text), 0) // the reader reports a failure
	in, err := Open(t.Context(), other, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if got, err := io.ReadAll(in.Content()); err != nil || string(got) != text {
		t.Errorf("%q, error %v", got, err)
	}
}

// At a silent pipe, ReadFile stops with the context.
func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	w, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	stopped := errors.New("stopped")
	ctx, stop := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { stop(stopped) })
	if text, err := ReadFile(ctx, path, 1<<20); !errors.Is(err, stopped) || !errors.Is(err, context.Canceled) {
		t.Errorf("%q, %v, want the error of the context", text, err)
	}
}

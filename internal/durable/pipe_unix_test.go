//go:build unix

package durable_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/heatwalk/heatwalk/internal/durable"
)

// A reader that opens the pipe after the context has ended finds its end, because no descriptor is left open.
func TestUntil(t *testing.T) {
	stopped := errors.New("stopped")
	for _, full := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "pipe")
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skip(err)
		}
		ctx, stop := context.WithCancelCause(t.Context())
		var reader *os.File
		if full {
			var err error
			if reader, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0); err != nil {
				t.Fatal(err)
			}
		}
		time.AfterFunc(20*time.Millisecond, func() { stop(stopped) })
		f, err := durable.Until(ctx, durable.OS).Create(path)
		if full {
			if err != nil {
				t.Fatal(err)
			}
			for err == nil { // the loop fills the pipe
				_, err = f.Write(make([]byte, 1<<16))
			}
			f.Close()
		}
		if err != stopped {
			t.Errorf("full %v: error %v, want that of the context", full, err)
		}
		if !full {
			if reader, err = os.Open(path); err != nil {
				t.Fatal(err)
			}
		}
		ended := make(chan error, 1)
		go func() {
			_, err := io.Copy(io.Discard, reader)
			ended <- err
		}()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Errorf("full %v: the pipe is still open for writing", full)
		}
		reader.Close()
	}
}

func TestUntilRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	read := make(chan string, 1)
	go func() {
		b, _ := os.ReadFile(path) // the text shows whether it worked
		read <- string(b)
	}()
	f, err := durable.Until(ctx, durable.OS).Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, "text"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	stop()
	if got := <-read; got != "text" {
		t.Errorf("read %q", got)
	}
}

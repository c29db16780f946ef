package cli

import (
	"io"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// The progress of verify ends where it says it will, but for what is read
// twice to open the store.
func TestVerifyProgress(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "g")
	succeed(t, nil, io.Discard, "generate", "rmat", "--scale", "14", "-o", dir+"/")
	total, err := verifyBytes(dir)
	if err != nil {
		t.Fatal(err)
	}
	var read atomic.Int64
	_, err = shard.Verify(t.Context(), dir, &shard.Options{FS: readFS{durable.OS, func(n int) { read.Add(int64(n)) }}})
	if err != nil {
		t.Fatal(err)
	}
	if n := read.Load(); n < total*95/100 || n > total*105/100 {
		t.Errorf("%d bytes read, %d announced", n, total)
	}
}

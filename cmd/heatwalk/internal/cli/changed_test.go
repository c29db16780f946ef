package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
)

// onRead calls do at the first read. For example, labels are read when the store is open and its entries have
// not been read yet.
type onRead struct {
	io.Reader
	do func()
}

func (r *onRead) Read(p []byte) (int, error) {
	if r.do != nil {
		r.do()
		r.do = nil
	}
	return r.Reader.Read(p)
}

// If the bytes of a shard in use change, the command must report the change, exit with 4 and leave no files.
// A change of its name alone must have no effect.
func TestStoreChangedMeanwhile(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	if runtime.GOOS == "windows" {
		t.Skip("open files cannot be removed there")
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	rewrite := func(path string, change func(b []byte) []byte) {
		b, err := os.ReadFile(path)
		must(err)
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
		must(err)
		_, err = f.Write(change(b))
		must(err)
		must(f.Close())
	}
	for _, test := range []struct {
		name    string
		change  func(shard string)
		harmful bool
	}{
		{"a byte", func(shard string) { rewrite(shard, func(b []byte) []byte { b[len(b)/2] ^= 4; return b }) }, true},
		{"zeros", func(shard string) { rewrite(shard, func(b []byte) []byte { clear(b); return b }) }, true},
		{"cut", func(shard string) { must(os.Truncate(shard, 10)) }, true},
		{"emptied", func(shard string) { must(os.Truncate(shard, 0)) }, true},
		{"longer", func(shard string) { rewrite(shard, func(b []byte) []byte { return append(b, 0) }) }, true},
		{"removed", func(shard string) { must(os.Remove(shard)) }, false},
		{"renamed", func(shard string) { must(os.Rename(shard, shard+".away")) }, false},
		{"forbidden", func(shard string) { must(os.Chmod(shard, 0)) }, false},
		{"replaced by a file", func(shard string) { must(os.Remove(shard)); must(os.WriteFile(shard, []byte("no shard"), 0o666)) }, false},
		{"replaced by a directory", func(shard string) { must(os.Remove(shard)); must(os.Mkdir(shard, 0o777)) }, false},
		{"replaced by a link", func(shard string) { must(os.Remove(shard)); must(os.Symlink("nowhere", shard)) }, false},
		{"store removed", func(shard string) { must(os.RemoveAll(filepath.Dir(shard))) }, false},
		{"store renamed", func(shard string) { must(os.Rename(filepath.Dir(shard), "h")) }, false},
		{"ingested again", func(string) { succeed(t, nil, io.Discard, "ingest", "l.tsv", "-o", "g", "--force", "--quiet") }, false},
	} {
		workplace(t)
		succeed(t, nil, io.Discard, "features", "g", "--labels", "l.tsv", "-o", "want.npy", "--quiet")
		want, err := os.ReadFile("want.npy")
		must(err)
		shards, err := filepath.Glob("g/*.shard")
		must(err)
		changed := false
		stdin := &onRead{strings.NewReader("a\tx\ne\ty\n"), func() { changed = true; test.change(shards[0]) }}
		var stderr bytes.Buffer
		code := Main([]string{"features", "g", "--labels", "-", "-o", "F.npy", "--quiet"}, stdin, io.Discard, &stderr)
		got, _ := os.ReadFile("F.npy")
		switch {
		case !changed:
			t.Errorf("%s: labels were not read", test.name)
		case test.harmful && (code != shell.DamagedStore || strings.Count(stderr.String(), "\n") != 1 || !strings.HasPrefix(stderr.String(), "heatwalk: "+shards[0])):
			t.Errorf("%s: exit code %d, %s", test.name, code, stderr.String())
		case test.harmful && strings.Contains(tree(t, "."), "F."):
			t.Errorf("%s: left\n%s", test.name, tree(t, "."))
		case !test.harmful && (code != shell.Done || !bytes.Equal(got, want)):
			t.Errorf("%s: exit code %d, other features or %s", test.name, code, stderr.String())
		}
	}
}

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

// The targets of links must be replaced or created, and the links must stay.
func TestOutputLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	workplace(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll("deep/er", 0o777))
	must(os.WriteFile("deep/old.mtx", []byte("old"), 0o666))
	must(os.Symlink("deep/er", "dir"))
	for name, target := range map[string]string{
		"plain.mtx": "deep/old.mtx", "chain.mtx": "plain.mtx", "deep/er/up.mtx": "../made.mtx", "absent.mtx": "deep/er/new.mtx",
		"nowhere.mtx": "none/x.mtx", "loop.mtx": "loop.mtx", "store.mtx": "g/x.mtx", "manifest.mtx": "g/manifest", "todir.mtx": "deep",
	} {
		must(os.Symlink(target, name))
	}
	succeed(t, nil, io.Discard, "convert", "g", "-o", "want.mtx", "--quiet")
	want, err := os.ReadFile("want.mtx")
	must(err)
	for _, c := range []struct{ link, lands string }{
		{"plain.mtx", "deep/old.mtx"}, {"chain.mtx", "deep/old.mtx"}, {"absent.mtx", "deep/er/new.mtx"}, {"absent.mtx", "deep/er/new.mtx"},
		{"dir/up.mtx", "deep/made.mtx"},
	} {
		succeed(t, nil, io.Discard, "convert", "g", "-o", c.link, "--quiet")
		if info, err := os.Lstat(c.link); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v", c.link, err)
		}
		for _, name := range []string{c.link, c.lands} {
			if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
				t.Errorf("-o %s: %s holds %q, error %v", c.link, name, got, err)
			}
		}
		must(os.WriteFile(c.lands, []byte("old"), 0o666))
		if _, err := os.Stat(c.link + ".ids"); err != nil {
			t.Errorf("-o %s: %v", c.link, err)
		}
	}
	if left, _ := filepath.Glob("deep/.*tmp*"); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	for _, c := range []struct {
		link string
		code int
		want string
	}{
		{"nowhere.mtx", shell.WrongUsage, "create nowhere.mtx: there is no directory none; make it first"},
		{"loop.mtx", shell.MachineFailed, "create loop.mtx: too many levels of symbolic links; choose another place for it"},
		{"store.mtx", shell.WrongUsage, "-o: store.mtx lies in the store g, which never changes; name another place"},
		{"manifest.mtx", shell.WrongUsage, "-o: manifest.mtx lies in the store g, which never changes; name another place"},
		{"todir.mtx", shell.WrongUsage, "-o: todir.mtx is a directory; name a file"},
	} {
		for _, input := range []string{"g", "e.tsv"} {
			var stderr bytes.Buffer
			if code := Main([]string{"convert", input, "-o", c.link}, nil, io.Discard, &stderr); code != c.code || stderr.String() != "heatwalk: "+c.want+"\n" {
				t.Errorf("convert %s -o %s: exit code %d, stderr: %s", input, c.link, code, stderr.String())
			}
		}
	}
	succeed(t, nil, io.Discard, "verify", "g", "--quiet")
}

// The target must be created, the links must stay, and a run that fails must leave no target.
func TestStoreLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	workplace(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll("deep", 0o777))
	must(os.WriteFile("bad.tsv", []byte("a b x\n"), 0o666))
	for name, target := range map[string]string{
		"plain": "deep/one", "chain": "second", "second": "deep/two", "slash": "deep/three", "made": "deep/four", "failed": "deep/five", "nowhere": "none/x",
	} {
		must(os.Symlink(target, name))
	}
	for _, c := range []struct {
		lands string
		args  []string
	}{
		{"deep/one", []string{"ingest", "e.tsv", "-o", "plain"}},
		{"deep/two", []string{"ingest", "e.tsv", "-o", "chain"}},
		{"deep/three", []string{"ingest", "e.tsv", "-o", "slash/"}},
		{"deep/four", []string{"generate", "grid", "--rows", "3", "--columns", "3", "-o", "made/"}},
	} {
		succeed(t, nil, io.Discard, append(c.args, "--quiet")...)
		link := strings.TrimSuffix(c.args[len(c.args)-1], "/")
		if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v", link, err)
		}
		if info, err := os.Lstat(c.lands); err != nil || !info.IsDir() {
			t.Errorf("%s is no directory: %v", c.lands, err)
		}
		succeed(t, nil, io.Discard, "verify", link, "--quiet")
		succeed(t, nil, io.Discard, append(c.args, "--quiet", "--force")...)
		succeed(t, nil, io.Discard, "verify", c.lands, "--quiet")
	}
	for _, c := range []struct {
		input, link string
		code        int
		want        string
	}{
		{"bad.tsv", "failed", shell.WrongData, "bad.tsv:1:"},
		{"e.tsv", "nowhere", shell.WrongUsage, "create none/x: there is no directory none; make it first\n"},
	} {
		var stderr bytes.Buffer
		if code := Main([]string{"ingest", c.input, "-o", c.link}, nil, io.Discard, &stderr); code != c.code || !strings.HasPrefix(stderr.String(), "heatwalk: "+c.want) {
			t.Errorf("ingest %s -o %s: exit code %d, stderr: %s", c.input, c.link, code, stderr.String())
		}
		if _, err := os.Lstat(c.link); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Lstat("deep/five"); err == nil {
		t.Error("a run that failed left what its link leads to")
	}
}

// Other names of stdout must get the data and no run file.
func TestOutputStdout(t *testing.T) {
	workplace(t)
	before := tree(t, ".")
	var want, got, stderr bytes.Buffer
	succeed(t, nil, &want, "convert", "g", "-o", "-", "--to", "mtx")
	for _, name := range []string{"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"} {
		got.Reset()
		if code := Main([]string{"convert", "g", "-o", name, "--to", "mtx"}, nil, &got, &stderr); code != shell.Done || got.String() != want.String() {
			t.Errorf("-o %s: exit code %d, stdout %q", name, code, got.String())
		}
		stderr.Reset()
		if code := Main([]string{"convert", "g", "-o", name, "--to", "mtx", "--json"}, nil, &got, &stderr); code != shell.WrongUsage || !strings.Contains(stderr.String(), "- and --json both want stdout") {
			t.Errorf("-o %s --json: exit code %d, stderr: %s", name, code, stderr.String())
		}
	}
	if after := tree(t, "."); after != before {
		t.Errorf("left\n%s\nwant\n%s", after, before)
	}
}

package cli

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/durable/durabletest"
)

// lockless is a file system whose new files are not locked, for example Lustre without flock.
type lockless struct{ durable.FS }

type unlockedFile struct{ durable.File }

func (unlockedFile) IsUnlocked() bool { return true }

func (l lockless) CreateTemp(name string) (durable.File, error) {
	f, err := l.FS.CreateTemp(name)
	return unlockedFile{f}, err
}

// Every command that writes files must warn once. Info writes none and must not warn.
func TestWithoutLocks(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"e.tsv": "a\tb\nb\tc\nc\td\nd\ta\n", "l.tsv": "a\tx\nb\tx\nc\ty\nd\ty\n"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]int{
		"ingest e.tsv -o g": 1,
		"classify e.tsv --labels l.tsv --method lp -o p.tsv":     1,
		"kernel e.tsv --kernel diffusion -o K.npy":               1,
		"features e.tsv --labels l.tsv -o F.npy":                 1,
		"convert e.tsv -o e.mtx":                                 1,
		"generate grid -o grid.tsv":                              1,
		"evaluate e.tsv --labels l.tsv --folds 2 --report r.txt": 1,
		"info e.tsv": 0,
	} {
		var stderr bytes.Buffer
		code := -1
		durabletest.On(lockless{durable.OS}, func() { code = Main(strings.Fields(line), nil, io.Discard, &stderr) })
		if got := strings.Count(stderr.String(), "this file system has no locks; let no other heatwalk write there at the same time"); code != 0 || got != want {
			t.Errorf("%s: exit code %d, %d warnings, want %d: %s", line, code, got, want, stderr.String())
		}
	}
}

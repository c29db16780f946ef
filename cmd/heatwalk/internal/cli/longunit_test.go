package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/internal/system"
)

// A file of a few kilobytes has a single unit (a line, word, tag, page …) of 100 MB. Each command must need
// less than 64 MiB of resident memory, and refuse a unit that it would have to keep.
func TestLongUnits(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	if system.PeakMemory() == 0 {
		t.Skip("no resident memory is told here")
	}
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	pack := func(text string) []byte { return packer.EncodeAll([]byte(text), nil) }
	units := map[string][]byte{}
	for _, piece := range []string{"a", "1 ", "\x00"} {
		units[piece] = bytes.Repeat(pack(strings.Repeat(piece, 10_000_000/len(piece))), 10) // frames of 10 MB
	}
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(filepath.Join(dir, "g.tsv"), []byte("a\tb\nb\tc\n"), 0o666))
	const (
		tag  = ": a tag, comment or text longer than 1 MiB; shorten it; is a quote or a bracket missing?"
		line = ": line longer than 1 MiB; is this a line-based format?"
		row  = ": a line longer than 8 MiB; is this LIBSVM text?"
		word = ": a word longer than 1 MiB; is this the format that its name says?"
		full = "--max-memory: 67.1 MB is too little for the edges; allow "
	)
	for _, u := range []struct {
		name, head, unit, tail string
		exit                   int
		want                   string // beginning of the message, after the name of the program
	}{
		{"e.tsv", "a\tb\n", "a", "\tb\n", shell.WrongData, "e.tsv.zst:2" + line},
		{"e.csv", "a,b\n\"", "a", "\",b\n", shell.WrongData, "e.csv.zst:2" + line},
		{"e.mtx", "%%MatrixMarket matrix coordinate real general\n%", "a", "\n2 2 1\n1 2 1\n", shell.WrongData, "e.mtx.zst:2" + line},
		{"e.txt", "% asym ", "a", "\n1 2\n", shell.WrongData, "e.txt.zst:1" + line},
		{"e.content", "a\t", "1 ", "\n", shell.WrongData, "e.content.zst:1" + line},
		{"e.graphml", "<graphml><graph>\n<node id=\"", "a", "\"/></graph></graphml>", shell.WrongData, "e.graphml.zst:2" + tag},
		{"e.npz", "PK\x03\x04", "\x00", "", shell.OverLimit, full},
		{"e.parquet", "PAR1", "\x00", "", shell.OverLimit, full},
		{"e.svm", "1 1:", "1 ", "\n", shell.WrongData, "e.svm.zst:1" + row},
		{"word.svm", "1 1:", "a", "\n", shell.WrongData, "word.svm.zst:1" + row},
		{"labels.tsv", "a\t", "a", "\n", shell.WrongData, "labels.tsv.zst:1" + line},
	} {
		name := u.name + ".zst"
		must(os.WriteFile(filepath.Join(dir, name), bytes.Join([][]byte{pack(u.head), units[u.unit], pack(u.tail)}, nil), 0o666))
		args := []string{"ingest", name, "-o", "g", "--force"}
		switch {
		case strings.HasSuffix(u.name, ".svm"):
			args = []string{"convert", name, "-o", "x.npy"}
		case u.name == "labels.tsv":
			args = []string{"classify", "g.tsv", "--labels", name, "-o", "out.tsv"}
		case u.name == "e.content":
			args = []string{"ingest", "g.tsv", "--nodes", name, "-o", "g", "--force"}
		}
		var stderr bytes.Buffer
		cmd := exec.Command(os.Args[0], append(args, "--max-memory", "64MiB", "--quiet")...)
		cmd.Env = append(os.Environ(), "HEATWALK_TEST_MAIN=1", "HEATWALK_TEST_PEAK=peak")
		cmd.Dir, cmd.Stderr = dir, &stderr
		_ = cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != u.exit || !strings.HasPrefix(stderr.String(), strings.TrimSuffix("heatwalk: "+u.want, "heatwalk: ")) {
			t.Errorf("%s: exit code %d, %.300s", u.name, code, stderr.String())
		}
		text, err := os.ReadFile(filepath.Join(dir, "peak"))
		must(err)
		peak, err := strconv.Atoi(string(text))
		must(err)
		if peak > 64<<20 || peak == 0 {
			t.Errorf("%s: %d bytes were resident", u.name, peak)
		}
	}
}

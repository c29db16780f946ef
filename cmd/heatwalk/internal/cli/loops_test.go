package cli

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestDroppedLoops(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"e.tsv": "a\tb\nb\tc\na\ta\nc\tc\n", "s.ids": "a\n", "l.tsv": "a\tA\nc\tC\n", "v.tsv": "a\t1\nc\t2\n"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range []string{
		"rank e.tsv --seeds s.ids --kernel pagerank -o out.tsv", "classify e.tsv --labels l.tsv --method lp -o out.tsv", "regress e.tsv --values v.tsv --method harmonic -o out.tsv",
		"kernel e.tsv --kernel vertex:beta=1 -o out.npy", "eigen e.tsv --matrix laplacian --which smallest -k 1 -o out.npy", "convert e.tsv -o out.mtx",
	} {
		for loops, want := range map[string]bool{"drop": true, "keep": false} {
			var notes bytes.Buffer
			args := append(strings.Fields(command), "--self-loops", loops)
			if code := Main(args, strings.NewReader(""), io.Discard, &notes); code != 0 {
				t.Fatalf("%s: exit code %d: %s", command, code, &notes)
			}
			record, err := os.ReadFile(args[slices.Index(args, "-o")+1] + ".run.json")
			if err != nil {
				t.Fatal(err)
			}
			isNoted := strings.Contains(notes.String(), "e.tsv: 2 self loops dropped; --self-loops=keep keeps them")
			if isRecorded := strings.Contains(string(record), `"dropped_self_loops": 2`); isNoted != want || isRecorded != want {
				t.Errorf("%s, %s: %s", command, loops, &notes)
			}
		}
	}
}
